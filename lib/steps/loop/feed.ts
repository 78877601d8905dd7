/**
 * Gives a loop's workers their items. Windows are claimed ahead of need, so nobody waits for a write between two calls; an
 * item is never given before its window is claimed, its attempts are counted and the run was looked at.
 */
import type { Json } from '../../blueprint/json.ts';
import { claimWindow, finishWindow } from '../../store/journal.ts';
import type { JournalItem, WindowRecord } from '../../store/records.ts';
import { LeaseLost } from '../../store/steps.ts';
import type { Progress } from '../walk/progress.ts';
import { throwIfStopped, type Work } from '../work.ts';
import type { JournalEnd, OpenWindow, Recovered } from './recover.ts';
import type { WindowSizer } from './window-size.ts';

/** A window whose items are being run. */
export interface ActiveWindow extends OpenWindow {
  /** Items of `todo` that have not ended. */
  open: number;
}

export interface FedItem {
  window: ActiveWindow;
  index: number;
  item: Json;
  resume: Progress | undefined;
}

export interface Feed {
  /** The next item; undefined where none is left, or the feed was stopped. */
  take(): FedItem | undefined | Promise<FedItem | undefined>;
  /** An item ended: with the last of its window the results are written. */
  ended(window: ActiveWindow, result: JournalItem): void;
  /** No item is given any more. */
  stop(): void;
  /** Waits for what is being written; windows that have open or unsent items are left as they are. */
  settled(): Promise<void>;
  /** Writes what unfinished windows have; items that were never sent stay without a result. For a loop that ends early. */
  closeUnfinished(): Promise<void>;
  unfinished(): ActiveWindow[];
  /** True where every item has been given. */
  exhausted(): boolean;
}

export interface FeedRequest {
  at: string;
  itemAt(index: number): Json;
  to: number;
  /** Attempts to count for each item. */
  attemptsEach: number;
  sizer: WindowSizer;
  concurrency: number;
  /** Looks at the run before a window is given out. */
  look(): Promise<void>;
  /** What the journal has from there on. */
  recoverFrom(end: JournalEnd): Promise<Recovered>;
}

/** Windows whose results are being written at most, before the workers wait. */
const MAX_WRITING = 8;

export function createFeed(work: Work, request: FeedRequest, start: Recovered): Feed {
  const { store } = work.env;
  const active = new Set<ActiveWindow>();
  /** Windows with items to give, in order. */
  const queue: { window: ActiveWindow; position: number }[] = [];
  const writing = new Set<Promise<void>>();
  let { next, nextWindow } = start;
  let claiming: Promise<void> | undefined;
  let unsent = 0;
  let stopped = false;
  let fault: { error: unknown } | undefined;

  function add(window: OpenWindow): void {
    const opened: ActiveWindow = { ...window, open: window.todo.length };
    active.add(opened);
    unsent += opened.todo.length;
    queue.push({ window: opened, position: 0 });
    if (opened.open === 0) write(opened);
  }

  /** Claims the next window; looking and counting go on side by side, and all three must be good before it is given. */
  async function claim(): Promise<void> {
    const from = next;
    const to = Math.min(request.to, from + request.sizer.size());
    const window: WindowRecord = {
      run: work.run.run,
      at: request.at,
      window: nextWindow,
      from,
      to,
      owner: work.owner,
      epoch: work.epoch,
      state: 'claimed',
    };
    next = to;
    nextWindow += 1;
    await request.look();
    throwIfStopped(work);
    await work.budget.reserve((unsent + to - from) * request.attemptsEach);
    const { state: _state, ...claimed } = window;
    if (!(await claimWindow(store, claimed))) {
      // An owner from before, who has not noticed yet that it lost the loop, was faster.
      const found = await request.recoverFrom({ next: from, nextWindow: window.window });
      ({ next, nextWindow } = found);
      for (const each of found.windows) add(each);
      return;
    }
    const todo = Array.from({ length: to - from }, (_, i) => from + i);
    add({ record: window, results: [], todo, resumes: new Map() });
  }

  function claimAhead(): void {
    if (claiming !== undefined || stopped || fault !== undefined || next >= request.to) return;
    if (unsent > Math.max(request.concurrency, request.sizer.size() / 2)) return;
    claiming = claim()
      .catch((error: unknown) => {
        fault ??= { error };
      })
      .finally(() => {
        claiming = undefined;
      });
  }

  function write(window: ActiveWindow): void {
    active.delete(window);
    const results = window.results.sort((a, b) => a.index - b.index);
    const done = finishWindow(store, window.record, results)
      .then((ours) => {
        if (!ours) throw new LeaseLost(work.run.run, request.at);
      })
      .catch((error: unknown) => {
        fault ??= { error };
      })
      .finally(() => writing.delete(done));
    writing.add(done);
  }

  function give(): FedItem | undefined {
    for (let head = queue[0]; head !== undefined; head = queue[0]) {
      const index = head.window.todo[head.position];
      if (index === undefined) {
        queue.shift();
        continue;
      }
      head.position += 1;
      unsent -= 1;
      claimAhead();
      const item = request.itemAt(index);
      return { window: head.window, index, item, resume: head.window.resumes.get(index) };
    }
    return undefined;
  }

  async function takeLater(): Promise<FedItem | undefined> {
    for (;;) {
      if (fault !== undefined) throw fault.error;
      if (stopped) return undefined;
      if (writing.size > MAX_WRITING) await Promise.race(writing);
      const given = give();
      if (given !== undefined) return given;
      if (next >= request.to && claiming === undefined) return undefined;
      claimAhead();
      await claiming;
    }
  }

  for (const window of start.windows) add(window);

  return {
    take() {
      if (fault !== undefined || stopped || writing.size > MAX_WRITING) return takeLater();
      return give() ?? takeLater();
    },
    ended(window, result) {
      window.results.push(result);
      window.open -= 1;
      if (window.open === 0) write(window);
    },
    stop() {
      stopped = true;
    },
    async settled() {
      await claiming;
      while (writing.size > 0) await Promise.all(writing);
      if (fault !== undefined) throw fault.error;
    },
    async closeUnfinished() {
      for (const window of active) write(window);
      while (writing.size > 0) await Promise.all(writing);
      if (fault !== undefined) throw fault.error;
    },
    unfinished: () => [...active],
    exhausted: () => next >= request.to && unsent === 0 && claiming === undefined,
  };
}
