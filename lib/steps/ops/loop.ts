/**
 * `loop`: a whole batch loop in one task, whatever its body. It answers `more` before its function's time runs out, or `wait`
 * where all that is left waits for its next attempt.
 */
import type { StepFailure } from '../../blueprint/errors.ts';
import type { Json } from '../../blueprint/json.ts';
import type { LoopNode } from '../../compile/program.ts';
import type { LoopTask, TaskAnswer } from '../../compile/protocol.ts';
import { getItemsIndex, putItems, readItems } from '../../store/items.ts';
import { readResults } from '../../store/journal.ts';
import type { StepRecord } from '../../store/records.ts';
import { shaped } from '../container.ts';
import { entered, planOf } from '../entry.ts';
import type { StepsEnvironment } from '../environment.ts';
import { type Outcome, scopeFor } from '../frame.ts';
import { evaluateItems } from '../loop/evaluate-items.ts';
import type { LoopCounts } from '../loop/outcome.ts';
import { type ItemsEnd, runItems } from '../loop/run-items.ts';
import { runPasses } from '../loop/run-passes.ts';
import { nodeOf, openTask } from '../open-task.ts';
import { failedOutcome, onStep, type StepEnd, type StepWork } from '../step-work.ts';
import type { Work } from '../work.ts';
import { waitAnswer } from './call.ts';

export async function loop(task: LoopTask, env: StepsEnvironment): Promise<TaskAnswer> {
  const opened = await openTask(task, env);
  const node = loopNodeOf(nodeOf(opened.loaded, task.step));
  return onStep(task, opened, node, planOf(opened, node, true), (step) =>
    entered(step, node, () => run(step, node)),
  );
}

async function run(step: StepWork, node: LoopNode): Promise<StepEnd> {
  const end = await walk(step, node);
  if (end.kind === 'suspended') return { kind: 'released', answer: goOn(step.work.env, end) };
  return endLoop(step, node, end.counts, end.failure);
}

async function walk(step: StepWork, node: LoopNode): Promise<ItemsEnd> {
  const { frame, opened, record, watch, work } = step;
  const entered = opened.outcome !== 'claimed' || opened.resumed;
  const common = { at: record.at, fence: record.fence, entered, look: watch.look };
  if (node.kind === 'while') return runPasses(work, node, frame, common);
  const items = await itemsOf(step, node, entered);
  return runItems(work, node, frame, {
    ...common,
    itemAt: (index) => items[index] ?? null,
    from: 0,
    to: items.length,
    firstWindow: 0,
    endWindow: Number.POSITIVE_INFINITY,
    concurrency: node.concurrency,
    halted: () => false,
    onHalt: async () => undefined,
  });
}

/** The items: evaluated and stored at the first entry, read at every other. */
export async function itemsOf(step: StepWork, node: LoopNode, entered: boolean): Promise<readonly Json[]> {
  const { frame, record, work } = step;
  const { store } = work.env;
  if (entered) {
    const known = await getItemsIndex(store, record.run, record.at);
    if (known !== undefined) return readItems(store, known);
  }
  const items = evaluateItems(node, scopeFor(frame, node.uses));
  const stored = await putItems(store, record.run, record.at, items);
  // The first writer's stand; it evaluated the same template over the same values.
  return stored.count === items.length ? items : readItems(store, stored);
}

/** Every item has ended, or the loop ended before: what the loop came to. */
export async function endLoop(
  step: { work: Work; frame: StepWork['frame']; record: StepWork['record'] },
  node: LoopNode,
  counts: LoopCounts,
  failure: StepFailure | undefined,
): Promise<StepEnd> {
  const { frame, record, work } = step;
  const changes = countsOf(counts);
  const base = { attempts: counts.attempts, ms: 0, value: null };
  if (failure !== undefined) {
    return { kind: 'ended', outcome: failedOutcome(node, frame.at, failure, counts.attempts), changes };
  }
  if (counts.firstError !== undefined && node.strategy.onStepFailure === 'abort') {
    return { kind: 'ended', outcome: { ...base, status: 'failed', error: counts.firstError }, changes };
  }
  if (node.failWhen === undefined)
    return { kind: 'ended', outcome: { ...base, status: 'succeeded' }, changes };
  const results = await readResults(work.env.store, record.run, record.at);
  try {
    const outcome: Outcome = { ...base, status: 'succeeded', value: results.map((result) => result.value) };
    return { kind: 'ended', outcome: shaped(frame, node, outcome), changes };
  } catch (error) {
    return { kind: 'ended', outcome: failedOutcome(node, frame.at, error, counts.attempts), changes };
  }
}

export function countsOf({ count, failed, skipped, passed }: LoopCounts): Partial<StepRecord> {
  return { count, failed, skipped, ...(passed === 0 ? {} : { passed }) };
}

export function goOn(env: StepsEnvironment, end: Extract<ItemsEnd, { kind: 'suspended' }>): TaskAnswer {
  return end.waiting ? waitAnswer(env, end.notBefore) : { status: 'more', ms: 0 };
}

export function loopNodeOf(node: ReturnType<typeof nodeOf>): LoopNode {
  if (node.type !== 'loop') throw new Error(`the step "${node.id}" is no loop`);
  return node;
}
