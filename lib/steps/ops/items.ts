/**
 * `items`: the beginning of a loop that runs in lanes or as a map of states: whether it runs, and over what. The items stay in
 * the store; the machine is told how many there are.
 */
import type { LoopNode } from '../../compile/program.ts';
import type { ItemsTask, TaskAnswer } from '../../compile/protocol.ts';
import { entered, planOf } from '../entry.ts';
import type { StepsEnvironment } from '../environment.ts';
import { nodeOf, openTask } from '../open-task.ts';
import { onStep, type StepEnd, type StepWork } from '../step-work.ts';
import { itemsOf, loopNodeOf } from './loop.ts';

export async function items(task: ItemsTask, env: StepsEnvironment): Promise<TaskAnswer> {
  const opened = await openTask(task, env);
  const node = loopNodeOf(nodeOf(opened.loaded, task.step));
  return onStep(task, opened, node, planOf(opened, node), (step) =>
    entered(step, node, () => evaluated(step, node)),
  );
}

async function evaluated(step: StepWork, node: LoopNode): Promise<StepEnd> {
  const { length: count } = await itemsOf(step, node, true);
  return { kind: 'released', answer: { status: 'done', ms: 0, count }, changes: { count } };
}
