/** What a state's Comment says: which tool on which server, in the author's words where there are some. */
import type { BlueprintDocument, WorkflowBinding } from '../../blueprint/types.ts';
import type { ToolCallNode, WorkflowCallNode } from '../program.ts';

/** The author's text is quoted up to here; the whole of it is in the document. */
const MAX_DESCRIPTION = 160;

/** "list_pods on k8s: every pod of the namespace". */
export function callComment(node: ToolCallNode, document: BlueprintDocument): string {
  const binding = document.tools[node.id];
  const server = binding?.server ?? node.server;
  const tool = binding?.tool ?? node.tool;
  return described(
    server === undefined ? `${tool}, its server found at run time` : `${tool} on ${server}`,
    node,
  );
}

/** "workflow sync, revision 3"; in what the stack owns "workflow sync, document 9f86d081". */
export function workflowComment(node: WorkflowCallNode, document: BlueprintDocument): string {
  const bound = Object.hasOwn(document.workflows, node.id) ? document.workflows[node.id] : undefined;
  const which = bound === undefined ? 'the revision current when it runs' : pinnedTo(bound);
  return described(`workflow ${node.workflow}, ${which}`, node);
}

function pinnedTo({ revision, hash }: WorkflowBinding): string {
  return revision === undefined ? `document ${hash.slice(0, 8)}` : `revision ${revision}`;
}

/** A sentence of ours and, after a colon, the author's. */
export function described(what: string, node: { description?: string }): string {
  if (node.description === undefined || node.description === '') return what;
  return `${what}: ${shortened(node.description)}`;
}

export function shortened(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length <= MAX_DESCRIPTION ? line : `${[...line].slice(0, MAX_DESCRIPTION).join('')}…`;
}
