/**
 * Walks the items of a batch loop, or a lane's part of them, `concurrency` at a time, in windows of the journal.
 *
 * It ends in one of three ways: every item has ended; the loop was halted (a failure under `abort`, the run stopped, a limit
 * reached), then those in flight have ended and the rest was never sent; or it is suspended, and what it leaves is written so
 * that another task goes on.
 */
import { StepFailure } from '../../blueprint/errors.ts';
import type { Json } from '../../blueprint/json.ts';
import type { LoopNode } from '../../compile/program.ts';
import type { ItemResult } from '../../store/records.ts';
import type { Frame } from '../frame.ts';
import { itemFrame, madeBefore, newProgress, type Progress } from '../walk/progress.ts';
import { walkItem } from '../walk/walk.ts';
import { Suspended, throwIfStopped, type Work } from '../work.ts';
import { callsPerIteration, callsRepeatedly } from './calls.ts';
import { createFeed, type FedItem } from './feed.ts';
import { countItem, type LoopCounts, newCounts } from './outcome.ts';
import { type PartialWindow, partialItem, writePartial } from './partial.ts';
import { type JournalEnd, type Recovered, recover } from './recover.ts';
import { createWindowSizer } from './window-size.ts';

export interface ItemsRequest {
  /** Path of the loop. */
  at: string;
  itemAt(index: number): Json;
  from: number;
  to: number;
  firstWindow: number;
  endWindow: number;
  concurrency: number;
  fence: number;
  /** The step's record was there before: the journal may have something. */
  entered: boolean;
  /** True once no new item may start. */
  halted(): boolean;
  /** A failed item under `abort`. */
  onHalt(): Promise<void>;
  /** Looks at the run now. */
  look(): Promise<void>;
}

export type ItemsEnd =
  /** `complete`: every item has a result. */
  | { kind: 'ended'; counts: LoopCounts; complete: boolean; failure?: StepFailure }
  | { kind: 'suspended'; notBefore?: number; waiting: boolean };

/** Throws LeaseLost, and faults of ours. */
export async function runItems(
  work: Work,
  node: LoopNode,
  frame: Frame,
  request: ItemsRequest,
): Promise<ItemsEnd> {
  const { clock, limits } = work.env;
  const counts = newCounts();
  // A lane has its own beside those of the others.
  const partialAt = request.firstWindow === 0 ? request.at : `${request.at}#${request.firstWindow}`;
  const recovery = { ...request, partialAt, onKept: (result: ItemResult) => countItem(counts, result) };
  const recoverFrom = (end: JournalEnd): Promise<Recovered> => recover(work, node, frame, recovery, end);
  const begin = { next: request.from, nextWindow: request.firstWindow };
  const recovered = request.entered ? await recoverFrom(begin) : { windows: [], ...begin };
  const keepsMade = callsRepeatedly(node);
  const abort = node.strategy.onStepFailure === 'abort';
  const sizer = createWindowSizer(limits.windowMs, request.concurrency);
  const attemptsEach = callsPerIteration(node);
  const feed = createFeed(work, { ...request, attemptsEach, sizer, recoverFrom }, recovered);
  const suspended = new Map<number, { progress: Progress; fed: FedItem }>();
  const state: {
    failure?: StepFailure;
    halted: boolean;
    notBefore?: number;
    short: boolean;
    open: number;
    halting?: () => Promise<void>;
  } = {
    halted: false,
    short: false,
    open: 0,
  };
  function halt(): void {
    if (!state.halted) state.halting = settledLater(request.onHalt());
    state.halted = true;
    feed.stop();
  }

  async function runOne(fed: FedItem): Promise<void> {
    const { window, index, item } = fed;
    const progress = fed.resume ?? newProgress();
    const began = clock.now();
    let result: ItemResult;
    try {
      result = await walkItem(work, node, itemFrame(frame, node, index, { [node.as]: item }), item, progress);
    } catch (error) {
      if (!(error instanceof Suspended)) throw error;
      suspended.set(index, { progress, fed });
      state.open += 1;
      if (error.notBefore === undefined) state.short = true;
      else state.notBefore = Math.min(state.notBefore ?? error.notBefore, error.notBefore);
      if (state.short) feed.stop();
      return;
    }
    sizer.ended(clock.now() - began);
    countItem(counts, result);
    const failed = result.status === 'failed';
    if (result.error !== null) work.env.telemetry.failure(result.error.kind);
    const made = failed && keepsMade ? madeBefore(progress) : undefined;
    feed.ended(window, made === undefined ? result : { ...result, made });
    if (failed && abort) halt();
  }

  async function worker(): Promise<void> {
    for (;;) {
      // What an earlier delivery saw fail stands.
      if (request.halted() || (abort && counts.failed > 0)) halt();
      if (work.signal.aborted) throwIfStopped(work);
      const taken = feed.take();
      const fed = taken instanceof Promise ? await taken : taken;
      if (fed === undefined) return;
      await runOne(fed);
    }
  }

  /** A failure here is the loop's own: the run stopped, or a limit was reached. No worker starts another item after it. */
  async function guarded(): Promise<void> {
    try {
      await worker();
    } catch (error) {
      feed.stop();
      if (!(error instanceof StepFailure)) throw error;
      state.failure ??= error;
    }
  }

  /** What kept the feed from claiming more (a budget, a stop) is the loop's failure too, however often it says so. */
  async function noted(ending: Promise<void>): Promise<void> {
    try {
      await ending;
    } catch (error) {
      if (!(error instanceof StepFailure)) throw error;
      state.failure ??= error;
    }
  }

  const workers = Array.from({ length: Math.min(request.concurrency, request.to - request.from) }, guarded);
  const ends = await Promise.allSettled(workers);
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
  await noted(feed.settled());

  const early = state.failure !== undefined || state.halted;
  if (!early && state.open === 0 && feed.exhausted()) return { kind: 'ended', counts, complete: true };
  if (early) {
    // An item between two attempts is not gone on with: it has no result, and a redrive runs it.
    if (suspended.size > 0) await leave();
    await noted(feed.closeUnfinished());
    await state.halting?.();
    return {
      kind: 'ended',
      counts,
      complete: false,
      ...(state.failure === undefined ? {} : { failure: state.failure }),
    };
  }
  await leave();
  const waiting = !state.short && feed.exhausted();
  return {
    kind: 'suspended',
    waiting,
    ...(state.notBefore === undefined ? {} : { notBefore: state.notBefore }),
  };

  async function leave(): Promise<void> {
    const windows = new Map<number, PartialWindow>();
    for (const { record, results } of feed.unfinished()) {
      windows.set(record.window, { window: record.window, done: results, suspended: [] });
    }
    for (const [index, { progress, fed }] of suspended) {
      const { window } = fed.window.record;
      const known = windows.get(window) ?? { window, done: [], suspended: [] };
      known.suspended.push(partialItem(index, progress));
      windows.set(window, known);
    }
    const partial = { owner: work.owner, windows: [...windows.values()] };
    await writePartial(work.env.store, work.run.run, partialAt, partial, request.fence);
  }
}

/** A promise that is awaited later: until then its rejection is kept. */
function settledLater(promise: Promise<void>): () => Promise<void> {
  const kept = promise.then(
    () => undefined,
    (error: unknown) => ({ error }),
  );
  return async () => {
    const rejected = await kept;
    if (rejected !== undefined) throw rejected.error;
  };
}
