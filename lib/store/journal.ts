/**
 * The journal of a loop: windows of items, claimed before any of their calls is sent and written when all have ended.
 *
 * What always holds: a window is claimed by one owner; only its owner writes its results; items of a window that is
 * claimed and has no result for them may or may not have been sent. A claim of a window is itself the mark that stands
 * before the effect, so two workers of one loop (a late one and its successor) never send the same item.
 */

import type { Json } from '../blueprint/json.ts';
import { readBody, writeBody } from './body.ts';
import { ABSENT, getItem, type Item, putItem, queryAll, queryPage, recordOf, updateItem } from './item.ts';
import { MAX_WINDOWS, runKey, windowKey, windowPrefix } from './keys.ts';
import type { ItemResult, JournalItem, WindowRecord } from './records.ts';
import type { Store } from './store.ts';
import { RUN_TTL_SECONDS, TTL_ATTRIBUTE } from './table.ts';
import { bodyOf, expiry } from './values.ts';

const REQUIRED = ['run', 'at', 'window', 'from', 'to', 'owner', 'epoch', 'state'] as const;
/** The window without its results, which stand in the same item. */
const ATTRIBUTES = ['pk', 'sk', ...REQUIRED];

function windowOf(item: Item): WindowRecord {
  const { run, at, window, from, to, owner, epoch, state } = recordOf<WindowRecord>(item, REQUIRED);
  return { run, at, window, from, to, owner, epoch, state };
}

/** Claims items [from, to) as window `window`. False: somebody has claimed this window. */
export async function claimWindow(store: Store, window: Omit<WindowRecord, 'state'>): Promise<boolean> {
  const key = windowKey(window.run, window.at, window.window);
  const record: WindowRecord = { ...window, state: 'claimed' };
  const claimed = await putItem(
    store,
    { ...key, ...record, [TTL_ATTRIBUTE]: expiry(RUN_TTL_SECONDS) },
    // There is no such window yet: nobody has sent, or is about to send, any of these items.
    ABSENT,
  );
  if (claimed) return true;
  // The SDK repeats a write whose answer was lost; a claim by this owner that is not done is this very claim.
  const current = await getWindow(store, window.run, window.at, window.window);
  return current?.owner === window.owner && current.state === 'claimed' && current.epoch === window.epoch;
}

/**
 * Writes a window's results, one for each of its items. False: the window is no longer the owner's, and what it has to say
 * comes too late.
 */
export async function finishWindow(
  store: Store,
  window: WindowRecord,
  results: readonly JournalItem[],
): Promise<boolean> {
  const body = await writeBody(store, window.run, results as unknown as Json);
  const item = await updateItem(
    store,
    windowKey(window.run, window.at, window.window),
    // `json` and `key` exclude each other, and a reopened window still has its earlier results.
    { set: { ...body, state: 'done' }, remove: ['json' in body ? 'key' : 'json'] },
    // Still claimed by this owner: a successor that took it over has decided on these items by itself.
    {
      expression: '#state = :claimed AND #owner = :owner AND #epoch = :epoch',
      values: { ':claimed': 'claimed', ':owner': window.owner, ':epoch': window.epoch },
    },
  );
  if (item !== undefined) return true;
  const current = await getWindow(store, window.run, window.at, window.window);
  return current?.owner === window.owner && current.state === 'done' && current.epoch === window.epoch;
}

/**
 * Takes a window for another owner: a claimed one whose owner is gone (its lease on the loop is void), or a finished one, to
 * run its failed items anew in a newer epoch. Earlier results stay readable, and stay its results where this owner vanishes
 * too. Answers the window as it is then; undefined where it is no longer as it was read: decide anew.
 *
 * The caller must have seen its own lease hold after it read the window, or it may take it from its successor.
 */
export async function takeWindow(
  store: Store,
  window: WindowRecord,
  owner: string,
  epoch: number,
): Promise<WindowRecord | undefined> {
  const item = await updateItem(
    store,
    windowKey(window.run, window.at, window.window),
    { set: { owner, epoch, state: 'claimed' } },
    // The window as it was read: whoever changes it first has it. A newer epoch's window is never taken back.
    {
      expression: '#state = :state AND #owner = :owner AND #epoch = :was AND #epoch <= :epoch',
      values: { ':state': window.state, ':owner': window.owner, ':was': window.epoch, ':epoch': epoch },
    },
  );
  if (item !== undefined) return windowOf(item);
  const current = await getWindow(store, window.run, window.at, window.window);
  const ours = current?.owner === owner && current.epoch === epoch && current.state === 'claimed';
  return ours ? current : undefined;
}

export async function getWindow(
  store: Store,
  run: string,
  at: string,
  window: number,
): Promise<WindowRecord | undefined> {
  const item = await getItem(store, windowKey(run, at, window));
  return item === undefined ? undefined : windowOf(item);
}

/** All windows of a loop in order, without what is written in them; consistent. */
export async function listWindows(store: Store, run: string, at: string): Promise<WindowRecord[]> {
  const items = await queryAll(store, {
    pk: runKey(run).pk,
    prefix: windowPrefix(at),
    attributes: ATTRIBUTES,
  });
  return items.map(windowOf);
}

/** Windows whose objects are read side by side. */
const READ_AT_ONCE = 16;

export interface JournalRange {
  /** Windows [from, to). Default: all. */
  windows?: { from: number; to: number };
  /** Windows with one of the items [from, to). Default: all. */
  items?: { from: number; to: number };
}

/** A window and what was written of its items; undefined where nothing ever was. */
export interface JournalWindow {
  window: WindowRecord;
  items: JournalItem[] | undefined;
}

/** The windows of a loop in order, a page at a time: what is read and dropped again need not fit into memory. Consistent. */
export async function* readJournal(
  store: Store,
  run: string,
  at: string,
  { windows, items: wanted }: JournalRange = {},
): AsyncGenerator<JournalWindow> {
  const { pk } = runKey(run);
  const keys =
    windows === undefined
      ? { prefix: windowPrefix(at) }
      : {
          between: [windowKey(run, at, windows.from).sk, windowKey(run, at, lastWindow(windows.to)).sk] as [
            string,
            string,
          ],
        };
  let after: Item | undefined;
  do {
    const page = await queryPage(store, { pk, ...keys, ...(after === undefined ? {} : { after }) });
    const found = page.items
      .map((item) => ({ item, window: windowOf(item) }))
      .filter(({ window }) => wanted === undefined || (window.from < wanted.to && window.to > wanted.from));
    for (let first = 0; first < found.length; first += READ_AT_ONCE) {
      const batch = found.slice(first, first + READ_AT_ONCE);
      const read = await Promise.all(
        batch.map(async ({ item, window }) => ({ window, items: await itemsIn(store, item) })),
      );
      yield* read;
    }
    after = page.next;
  } while (after !== undefined);
}

function lastWindow(to: number): number {
  return Math.min(to, MAX_WINDOWS) - 1;
}

/**
 * The results of items [from, to) (default: all) that have been written, by index. Items without a result are missing from
 * the answer. Consistent.
 */
export async function readResults(
  store: Store,
  run: string,
  at: string,
  from = 0,
  to = Number.POSITIVE_INFINITY,
): Promise<ItemResult[]> {
  const results: ItemResult[] = [];
  for await (const { items = [] } of readJournal(store, run, at, { items: { from, to } })) {
    for (const { made: _, ...result } of items) {
      if (result.index >= from && result.index < to) results.push(result);
    }
  }
  return results.sort((a, b) => a.index - b.index);
}

async function itemsIn(store: Store, item: Item): Promise<JournalItem[] | undefined> {
  if (item.json === undefined && item.key === undefined) return undefined;
  return (await readBody(store, bodyOf(item))) as unknown as JournalItem[];
}
