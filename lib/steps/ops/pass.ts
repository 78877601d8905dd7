/**
 * `pass`: between the passes of a `while` loop of states, and before its first and after its last. It answers with the `at` of
 * the pass that is to run, or, done, with that of the loop itself.
 *
 *     rows/00002/                  the loop is entered            → pass at rows/00002/pages/00000/
 *     rows/00002/pages/00000/      its first pass has ended       → pass at rows/00002/pages/00001/, or done at rows/00002/
 */
import { StepFailure } from '../../blueprint/errors.ts';
import type { Json } from '../../blueprint/json.ts';
import type { LoopNode } from '../../compile/program.ts';
import type { PassTask, TaskAnswer } from '../../compile/protocol.ts';
import { finishWindow, getWindow, readResults } from '../../store/journal.ts';
import type { ItemResult } from '../../store/records.ts';
import { getSteps, LeaseLost } from '../../store/steps.ts';
import { getValue } from '../../store/values.ts';
import { entered, planOf } from '../entry.ts';
import type { StepsEnvironment } from '../environment.ts';
import { countResults } from '../loop/outcome.ts';
import { goesOn } from '../loop/passes.ts';
import { own } from '../loop/write-results.ts';
import { iterationOf, iterationsOf, prefixAtDepth } from '../occurrence.ts';
import { nodeOf, openTask } from '../open-task.ts';
import { lastOf } from '../program-index.ts';
import { onStep, type StepEnd, type StepWork } from '../step-work.ts';
import { endLoop, loopNodeOf } from './loop.ts';
import { isStale, iterationResult } from './settle.ts';
import { endedByLimit, timeIsUp } from './time-limit.ts';

export async function pass(task: PassTask, env: StepsEnvironment): Promise<TaskAnswer> {
  const opened = await openTask(task, env);
  const node = loopNodeOf(nodeOf(opened.loaded, task.step));
  const depth = opened.loaded.index.loops.get(node.id)?.length ?? 0;
  const outer = prefixAtDepth(task.at, depth);
  const ended = iterationsOf(task.at)[depth]?.index;
  const plan = planOf(opened, node);
  const answer = await onStep({ ...task, at: outer }, opened, node, plan, (step) => run(step, node, ended));
  return { at: outer, ...answer };
}

function run(step: StepWork, node: LoopNode, ended: number | undefined): Promise<StepEnd> {
  if (ended === undefined) return entered(step, node, () => passAt(step, node, 0));
  return afterPass(step, node, ended);
}

/** Writes down how the pass ended, and says whether another follows. */
async function afterPass(step: StepWork, node: LoopNode, index: number): Promise<StepEnd> {
  const { frame, record, work } = step;
  const { store } = work.env;
  const prefix = frame.at + iterationOf(node.id, index);
  const last = prefix + lastOf(node.body).id;
  const [records, value] = await Promise.all([
    getSteps(
      store,
      record.run,
      node.body.map(({ id }) => prefix + id),
    ),
    lastOf(node.body).type === 'loop'
      ? readResults(store, record.run, last).then((results): Json => results.map((result) => result.value))
      : getValue(store, record.run, last),
  ]);
  // A redrive comes back to the pass that failed.
  if (records.some((each) => isStale(step, each))) return passAt(step, node, index);
  const result: ItemResult | undefined = iterationResult(frame, node, index, null, records, value ?? null);
  if (result === undefined) throw new Error(`the pass "${prefix}" has not run`);
  const known = await getWindow(store, record.run, record.at, index);
  const window = await own(work, record.at, known, index, index, index + 1);
  if (!(await finishWindow(store, window, [result]))) throw new LeaseLost(record.run, record.at);
  let failure: StepFailure | undefined;
  try {
    if (goesOn(node, frame, result)) return passAt(step, node, index + 1);
    if (endedByLimit(step, result.error)) failure = timeIsUp(node);
  } catch (error) {
    if (!(error instanceof StepFailure)) throw error;
    failure = error;
  }
  return endLoop(step, node, await countResults(store, record.run, record.at), failure);
}

function passAt(step: StepWork, node: LoopNode, index: number): StepEnd {
  const at = step.frame.at + iterationOf(node.id, index);
  return { kind: 'released', answer: { status: 'pass', ms: 0, at } };
}
