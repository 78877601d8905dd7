/**
 * Walks a `while` loop inside a task: pass after pass, each a window of the journal with one item. Whether another pass
 * follows is known only when one has ended, so nothing is claimed ahead.
 */
import { StepFailure } from '../../blueprint/errors.ts';
import type { Json } from '../../blueprint/json.ts';
import type { LoopNode } from '../../compile/program.ts';
import { finishWindow, listWindows, readResults } from '../../store/journal.ts';
import type { ItemResult, WindowRecord } from '../../store/records.ts';
import { LeaseLost } from '../../store/steps.ts';
import type { Frame } from '../frame.ts';
import { itemFrame, newProgress, type Progress, withoutFailures } from '../walk/progress.ts';
import { walkItem } from '../walk/walk.ts';
import { Suspended, throwIfStopped, type Work } from '../work.ts';
import { callsPerIteration, toolCallsIn } from './calls.ts';
import { countItem, newCounts } from './outcome.ts';
import { partialItem, progressOf, readPartial, writePartial } from './partial.ts';
import { goesOn } from './passes.ts';
import { unknownItem } from './recover.ts';
import { bodyMayRepeat, mayRunAnew } from './repeat.ts';
import type { ItemsEnd } from './run-items.ts';
import { own } from './write-results.ts';

export interface PassesRequest {
  at: string;
  fence: number;
  entered: boolean;
  look(): Promise<void>;
}

/** Throws LeaseLost, and faults of ours. */
export async function runPasses(
  work: Work,
  node: LoopNode,
  frame: Frame,
  request: PassesRequest,
): Promise<ItemsEnd> {
  const { store } = work.env;
  const counts = newCounts();
  const journal = request.entered ? await readJournal(work, request.at) : { windows: [], results: [] };
  const partial = request.entered ? await readPartial(store, work.run.run, request.at) : undefined;
  let input: Json = null;
  try {
    for (let pass = 0; ; pass += 1) {
      const window = journal.windows.find((each) => each.window === pass);
      const recorded = journal.results.find((each) => each.index === pass);
      let result: ItemResult;
      if (window?.state === 'done' && recorded !== undefined && !runsAnew(work, node, window, recorded)) {
        result = recorded;
      } else {
        await request.look();
        throwIfStopped(work);
        await work.budget.reserve(callsPerIteration(node));
        const claimed = await own(work, request.at, window, pass, pass, pass + 1);
        const left =
          partial !== undefined && partial.owner === window?.owner
            ? partial.windows.find((each) => each.window === pass)
            : undefined;
        const broken = window?.state === 'claimed' && left === undefined;
        const ended = window?.state === 'claimed' ? left?.done[0] : undefined;
        if (ended !== undefined && !runsAnew(work, node, window, ended)) {
          result = ended;
        } else if (broken && !(await bodyMayRepeat(work, node))) {
          result = unknownItem(node, frame, pass, null);
        } else {
          const halfway = left?.suspended.find((item) => item.index === pass);
          const progress = halfway === undefined ? newProgress() : progressOf(halfway);
          result = await runPass(work, node, frame, request, claimed, input, progress);
        }
        if (!(await finishWindow(store, claimed, [result]))) throw new LeaseLost(work.run.run, request.at);
      }
      countItem(counts, result);
      // Stopped by the loop's own time limit, or with the run: then it is more than a pass that failed.
      if (result.status === 'failed') throwIfStopped(work);
      if (!goesOn(node, frame, result)) return { kind: 'ended', counts, complete: true };
      input = result.value;
    }
  } catch (error) {
    if (error instanceof Suspended) {
      const { notBefore } = error;
      return {
        kind: 'suspended',
        waiting: notBefore !== undefined,
        ...(notBefore === undefined ? {} : { notBefore }),
      };
    }
    if (error instanceof StepFailure) return { kind: 'ended', counts, complete: false, failure: error };
    throw error;
  }
}

async function runPass(
  work: Work,
  node: LoopNode,
  frame: Frame,
  request: PassesRequest,
  window: WindowRecord,
  input: Json,
  progress: Progress,
): Promise<ItemResult> {
  const pass = window.from;
  const leave = (left: Progress, done: ItemResult[]): Promise<void> => {
    const windows = [{ window: pass, done, suspended: [partialItem(pass, left)] }];
    const partial = { owner: work.owner, windows };
    return writePartial(work.env.store, work.run.run, request.at, partial, request.fence);
  };
  try {
    const result = await walkItem(work, node, itemFrame(frame, node, pass, { input }), null, progress);
    // What such a pass has done is not done again where a redrive runs it anew.
    const keeps = result.status === 'failed' && toolCallsIn(node).length > 1;
    if (keeps) await leave(withoutFailures(progress), [result]);
    return result;
  } catch (error) {
    if (error instanceof Suspended) await leave(progress, []);
    throw error;
  }
}

function runsAnew(work: Work, node: LoopNode, window: WindowRecord | undefined, result: ItemResult): boolean {
  return (
    result.status === 'failed' &&
    window !== undefined &&
    window.epoch < work.epoch &&
    mayRunAnew(node, work, result)
  );
}

async function readJournal(
  work: Work,
  at: string,
): Promise<{ windows: WindowRecord[]; results: ItemResult[] }> {
  const [windows, results] = await Promise.all([
    listWindows(work.env.store, work.run.run, at),
    readResults(work.env.store, work.run.run, at),
  ]);
  return { windows, results };
}
