/**
 * The tools of a blueprint against its author's allow-list. A pinned sub-workflow runs with the authority of whoever pins it,
 * so its tools, and those of what it pins itself, are looked at as well. One that floats runs with the run's own, and a tool
 * without a server is bound when it runs: those are looked at then, at each call.
 */
import { quoteValue } from '../../blueprint/diagnostics.ts';
import { TOOL_NAME } from '../../blueprint/limits.ts';
import { splitToolName } from '../../blueprint/names.ts';
import { listNames } from '../../blueprint/suggest.ts';
import { allowsTool, refusedTools } from '../../blueprint/tool-allow-list.ts';
import type { ToolBinding } from '../../blueprint/types.ts';
import type { ValidationEnvironment } from './environment.ts';
import type { Outline, OutlineStep } from './outline.ts';
import type { Report } from './report.ts';
import { calledBy } from './subworkflows.ts';
import { type Catalog, toolOf } from './tools.ts';

export function checkAllowed(
  outline: Outline,
  env: ValidationEnvironment,
  catalog: Catalog | undefined,
  report: Report,
): void {
  const list = env.allowed;
  if (list === undefined) return;
  const expected = list.length === 0 ? 'no tool: your list is empty' : `one of ${listNames(list)}`;
  for (const step of outline.all) {
    const tool = boundTool(step, catalog);
    if (tool !== undefined && !allowsTool(list, tool)) {
      const message = `the tool "${tool.server}/${tool.tool}" is not among those that you may use`;
      report.add('BP608', `${step.pointer}/tool`, { message, got: quoteValue(step.raw.tool), expected });
    }
    const called = calledBy(step);
    if (called === undefined || called.floating) continue;
    const refused = refusedTools(list, env.workflows?.(called.workflow)?.tools ?? []);
    if (refused.length > 0) {
      const message = `the workflow "${called.workflow}" uses ${listNames(refused)}, which you may not use`;
      report.add('BP608', `${step.pointer}/workflow`, {
        message,
        got: quoteValue(called.workflow),
        expected,
      });
    }
  }
}

/** What the step would be bound to now; undefined where that is decided when it runs. */
function boundTool(step: OutlineStep, catalog: Catalog | undefined): ToolBinding | undefined {
  const name = step.raw.tool;
  if (step.type !== 'call' || typeof name !== 'string' || !TOOL_NAME.test(name)) return undefined;
  const { server, tool } = splitToolName(name);
  const found = server ?? toolOf(step, catalog)?.server;
  return found === undefined ? undefined : { server: found, tool };
}
