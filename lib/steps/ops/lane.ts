/**
 * `lane`: a part of a batch loop that runs more than ten items at once. A failed item never fails the lane; its record says
 * how it went, and the loop's settle task judges.
 */
import type { LoopNode } from '../../compile/program.ts';
import type { LaneTask, TaskAnswer } from '../../compile/protocol.ts';
import { getItemsIndex, readItems } from '../../store/items.ts';
import { getStep, haltStep } from '../../store/steps.ts';
import type { StepsEnvironment } from '../environment.ts';
import { type Outcome, skippedOutcome } from '../frame.ts';
import { laneAt, laneOf } from '../loop/lanes.ts';
import { type ItemsEnd, runItems } from '../loop/run-items.ts';
import { nodeOf, openTask } from '../open-task.ts';
import { readsOf } from '../reading.ts';
import { failedOutcome, HALTED, onStep, type StepEnd, type StepWork } from '../step-work.ts';
import { countsOf, goOn, loopNodeOf } from './loop.ts';

export async function lane(task: LaneTask, env: StepsEnvironment): Promise<TaskAnswer> {
  const opened = await openTask(task, env);
  const node = loopNodeOf(nodeOf(opened.loaded, task.step));
  const at = task.at + node.id;
  const flag = { halted: false };
  const reads = readsOf(opened.loaded.index, node, true);
  // The loop's own time limit, and its stop flag, stand in the loop's record. It has begun, so its lanes may.
  reads.around.add(node.id);
  reads.halts.clear();
  const plan = {
    reads,
    at: laneAt(at, task.lane),
    quiet: true,
    onLook: async () => {
      const loop = await getStep(env.store, task.run, at);
      if (loop?.halt === true) flag.halted = true;
    },
  };
  return onStep(task, opened, node, plan, (step) => run(step, node, task.lane, at, flag));
}

async function run(
  step: StepWork,
  node: LoopNode,
  lane: number,
  at: string,
  flag: { halted: boolean },
): Promise<StepEnd> {
  const { frame, opened, record, watch, work } = step;
  const { store } = work.env;
  const index = await getItemsIndex(store, record.run, at);
  const loop = index === undefined ? await getStep(store, record.run, at) : undefined;
  // A loop behind a skipped step of its pipe is skipped with it, and the machine comes through its lanes all the same.
  if (loop?.status === 'skipped') {
    return { kind: 'ended', outcome: skippedOutcome(loop.reason ?? 'when') };
  }
  if (index === undefined) throw new Error(`the loop "${at}" has no items`);
  const part = laneOf(node.concurrency, index.count, lane);
  const items = await readItems(store, index, part.from, part.to);
  const end = await runItems(work, node, frame, {
    ...part,
    at,
    itemAt: (position) => items[position - part.from] ?? null,
    fence: record.fence,
    entered: opened.outcome !== 'claimed' || opened.resumed,
    look: watch.look,
    halted: () => flag.halted,
    onHalt: () => haltStep(store, record.run, at, work.epoch),
  });
  if (end.kind === 'suspended') return { kind: 'released', answer: goOn(work.env, end) };
  return { kind: 'ended', outcome: outcomeOfLane(node, frame.at, end), changes: countsOf(end.counts) };
}

/** A lane that did not do all of its part is no success, or a redrive would not come back to it. */
function outcomeOfLane(node: LoopNode, at: string, end: Extract<ItemsEnd, { kind: 'ended' }>): Outcome {
  const { counts, failure } = end;
  const base = { value: null, attempts: counts.attempts, ms: 0 };
  if (failure !== undefined) return failedOutcome(node, at, failure, counts.attempts);
  if (counts.firstError !== undefined && node.strategy.onStepFailure === 'abort') {
    return { ...base, status: 'failed', error: counts.firstError };
  }
  return end.complete ? { ...base, status: 'succeeded' } : { ...base, status: 'skipped', reason: HALTED };
}
