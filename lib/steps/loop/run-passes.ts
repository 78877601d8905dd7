/**
 * Walks a `while` loop inside a task: pass after pass, each a window of the journal with one item. Whether another pass
 * follows is known only when one has ended, so nothing is claimed ahead.
 */
import { StepFailure } from '../../blueprint/errors.ts';
import type { Json } from '../../blueprint/json.ts';
import type { LoopNode } from '../../compile/program.ts';
import { finishWindow, type JournalWindow, readJournal } from '../../store/journal.ts';
import type { ItemResult, JournalItem, WindowRecord } from '../../store/records.ts';
import { LeaseLost } from '../../store/steps.ts';
import type { Frame } from '../frame.ts';
import { itemFrame, madeBefore, newProgress, type Progress, progressAfter } from '../walk/progress.ts';
import { walkItem } from '../walk/walk.ts';
import { Suspended, throwIfStopped, type Work } from '../work.ts';
import { callsPerIteration } from './calls.ts';
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
  const journal = new Map<number, JournalWindow>();
  if (request.entered) {
    for await (const found of readJournal(store, work.run.run, request.at))
      journal.set(found.window.window, found);
  }
  const partial = request.entered ? await readPartial(store, work.run.run, request.at) : undefined;
  let input: Json = null;
  try {
    for (let pass = 0; ; pass += 1) {
      const { window, items } = journal.get(pass) ?? {};
      const recorded = items?.[0];
      let result: JournalItem;
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
        if (broken && !(await bodyMayRepeat(work, node))) {
          result = unknownItem(node, frame, pass, null);
        } else {
          const halfway = left?.suspended.find((item) => item.index === pass);
          const made = recorded?.made;
          const progress =
            halfway !== undefined
              ? progressOf(halfway)
              : made !== undefined
                ? progressAfter(made)
                : newProgress();
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
): Promise<JournalItem> {
  const pass = window.from;
  try {
    const result = await walkItem(work, node, itemFrame(frame, node, pass, { input }), null, progress);
    const made = result.status === 'failed' ? madeBefore(progress) : undefined;
    return made === undefined ? result : { ...result, made };
  } catch (error) {
    if (error instanceof Suspended) {
      const windows = [{ window: pass, done: [], suspended: [partialItem(pass, progress)] }];
      const partial = { owner: work.owner, windows };
      await writePartial(work.env.store, work.run.run, request.at, partial, request.fence);
    }
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
