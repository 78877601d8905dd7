/** Whether a step is run at all: what it reads, then its condition. The same for every type of step, and where it stands. */
import type { StepNode } from '../compile/program.ts';
import { type Frame, type Outcome, scopeFor, skippedBy, skippedOutcome } from './frame.ts';
import type { OpenedTask } from './open-task.ts';
import { readsOf } from './reading.ts';
import { failedOutcome, type StepEnd, type StepPlan, type StepWork } from './step-work.ts';
import { holds } from './templates.ts';

/** The outcome of a step that is not run: a step that it reads failed, or `when` is false. Throws the failure of `when`. */
function skipAtEntry(frame: Frame, node: StepNode): Outcome | undefined {
  const reason = skippedBy(frame, node);
  if (reason !== undefined) return skippedOutcome(reason);
  if (node.when === undefined || holds(node.when, scopeFor(frame, node.uses), node.id, 'when'))
    return undefined;
  return skippedOutcome('when');
}

/** What a task on the step reads and is bound by; with `inner` it runs the steps inside as well. */
export function planOf(opened: OpenedTask, node: StepNode, inner = false): StepPlan {
  const reads = readsOf(opened.loaded.index, node, inner);
  return node.timeoutMs === undefined ? { reads } : { reads, timeoutMs: node.timeoutMs };
}

/** Does the step's work where it is not skipped; a StepFailure that it throws is how the step ended. */
export async function entered(
  step: StepWork,
  node: StepNode,
  work: () => Promise<StepEnd> | StepEnd,
): Promise<StepEnd> {
  try {
    const outcome = skipAtEntry(step.frame, node);
    if (outcome === undefined) return await work();
    return { kind: 'ended', outcome, ...(node.type === 'loop' ? { changes: { count: 0 } } : {}) };
  } catch (error) {
    return { kind: 'ended', outcome: failedOutcome(node, step.frame.at, error) };
  }
}
