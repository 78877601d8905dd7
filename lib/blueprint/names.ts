/** How the two references that a call can hold are written: a tool, perhaps with its server, and a workflow. */
import { SERVER_NAME } from './limits.ts';

/** The suffix that lets a sub-workflow float: its revision is looked up when the step runs. */
const LATEST = '@latest';

/**
 * `k8s/list_pods` → server `k8s`, tool `list_pods`; `list_pods` → the tool alone. The first slash divides, and only
 * where a server name stands before it: any other slash belongs to the tool's name.
 */
export function splitToolName(name: string): { server?: string; tool: string } {
  const slash = name.indexOf('/');
  if (slash > 0 && SERVER_NAME.test(name.slice(0, slash)) && slash < name.length - 1) {
    return { server: name.slice(0, slash), tool: name.slice(slash + 1) };
  }
  return { tool: name };
}

/** `other@latest` → workflow `other`, floating; `other` → pinned at saving. */
export function splitWorkflowName(name: string): { workflow: string; floating: boolean } {
  const floating = name.endsWith(LATEST);
  return { workflow: floating ? name.slice(0, -LATEST.length) : name, floating };
}
