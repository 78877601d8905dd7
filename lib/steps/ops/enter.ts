/** `enter`: a parallel, pipe or collect with a condition or a time limit begins. Its deadline stands from here on. */
import type { StepsEnvironment } from '../environment.ts';
import { scopeFor, skippedBy } from '../frame.ts';
import { nodeOf, openTask } from '../open-task.ts';
import type { EnterTask, TaskAnswer } from '../protocol.ts';
import { readsOf } from '../reading.ts';
import { failedOutcome, onStep } from '../step-work.ts';
import { holds } from '../templates.ts';

export async function enter(task: EnterTask, env: StepsEnvironment): Promise<TaskAnswer> {
  const opened = await openTask(task, env);
  const node = nodeOf(opened.loaded, task.step);
  const plan = {
    reads: readsOf(opened.loaded.index, node, false),
    ...(node.timeoutMs === undefined ? {} : { timeoutMs: node.timeoutMs }),
  };
  return onStep(task, opened, node, plan, async ({ frame }) => {
    const skip = (reason: string) => ({
      status: 'skipped' as const,
      reason,
      value: null,
      attempts: 0,
      ms: 0,
    });
    const reason = skippedBy(frame, node);
    if (reason !== undefined) return { kind: 'ended', outcome: skip(reason) };
    try {
      if (node.when !== undefined && !holds(node.when, scopeFor(frame, node.uses), node.id, 'when')) {
        return { kind: 'ended', outcome: skip('when') };
      }
    } catch (error) {
      return { kind: 'ended', outcome: failedOutcome(node, frame.at, error) };
    }
    return { kind: 'released', answer: { status: 'done', ms: 0 } };
  });
}
