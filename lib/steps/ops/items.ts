/**
 * `items`: the beginning of a loop that runs in lanes or as a map of states: whether it runs, and over what. The items stay in
 * the store; the machine is told how many there are.
 */
import type { LoopNode } from '../../compile/program.ts';
import type { StepsEnvironment } from '../environment.ts';
import { scopeFor, skippedBy } from '../frame.ts';
import { nodeOf, openTask } from '../open-task.ts';
import type { ItemsTask, TaskAnswer } from '../protocol.ts';
import { readsOf } from '../reading.ts';
import { failedOutcome, onStep, type StepEnd, type StepWork } from '../step-work.ts';
import { holds } from '../templates.ts';
import { itemsOf, loopNodeOf } from './loop.ts';

export async function items(task: ItemsTask, env: StepsEnvironment): Promise<TaskAnswer> {
  const opened = await openTask(task, env);
  const node = loopNodeOf(nodeOf(opened.loaded, task.step));
  const plan = {
    reads: readsOf(opened.loaded.index, node, false),
    ...(node.timeoutMs === undefined ? {} : { timeoutMs: node.timeoutMs }),
  };
  return onStep(task, opened, node, plan, (step) => run(step, node));
}

async function run(step: StepWork, node: LoopNode): Promise<StepEnd> {
  const { frame } = step;
  const skip = (reason: string) => ({ status: 'skipped' as const, reason, value: null, attempts: 0, ms: 0 });
  const reason = skippedBy(frame, node);
  if (reason !== undefined) return { kind: 'ended', outcome: skip(reason), changes: { count: 0 } };
  try {
    if (node.when !== undefined && !holds(node.when, scopeFor(frame, node.uses), node.id, 'when')) {
      return { kind: 'ended', outcome: skip('when'), changes: { count: 0 } };
    }
    const list = await itemsOf(step, node, true);
    return {
      kind: 'released',
      answer: { status: 'done', ms: 0, count: list.length },
      changes: { count: list.length },
    };
  } catch (error) {
    return { kind: 'ended', outcome: failedOutcome(node, frame.at, error) };
  }
}
