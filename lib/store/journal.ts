/**
 * The journal of a loop: windows of items, claimed before any of their calls is sent and written when all have ended.
 *
 * What always holds: a window is claimed by one owner; only its owner writes its results; items of a window that is
 * claimed and has no result for them may or may not have been sent. A claim of a window is itself the mark that stands
 * before the effect, so two workers of one loop (a late one and its successor) never send the same item.
 */

import type { Json } from '../blueprint/json.ts';
import { readBody, writeBody } from './body.ts';
import { ABSENT, getItem, type Item, putItem, queryAll, recordOf, updateItem } from './item.ts';
import { runKey, windowKey, windowPrefix } from './keys.ts';
import type { ItemResult, WindowRecord } from './records.ts';
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
  results: readonly ItemResult[],
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
 * Takes over a claimed window whose owner is gone (its lease on the loop is void); the answer has the new owner. Undefined:
 * its owner finished it, or another took it, in the meantime.
 */
export async function takeOverWindow(
  store: Store,
  window: WindowRecord,
  owner: string,
  epoch: number,
): Promise<WindowRecord | undefined> {
  return own(store, window, owner, epoch);
}

/**
 * Claims a finished window again, in a newer epoch, to run its failed items anew. Its earlier results stay readable, and
 * stay its results where this owner vanishes too. Undefined: somebody else did.
 */
export async function reopenWindow(
  store: Store,
  window: WindowRecord,
  owner: string,
  epoch: number,
): Promise<WindowRecord | undefined> {
  return own(store, window, owner, epoch);
}

async function own(
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

/** All windows of a loop in order, without their results; consistent. */
export async function listWindows(store: Store, run: string, at: string): Promise<WindowRecord[]> {
  const items = await queryAll(store, {
    pk: runKey(run).pk,
    prefix: windowPrefix(at),
    attributes: ATTRIBUTES,
  });
  return items.map(windowOf);
}

/** The results in one window; undefined where none were ever written. A reopened window answers its earlier ones. */
export async function readWindow(
  store: Store,
  run: string,
  at: string,
  window: number,
): Promise<ItemResult[] | undefined> {
  const item = await getItem(store, windowKey(run, at, window));
  return item === undefined ? undefined : resultsIn(store, item);
}

/** Windows whose objects are read side by side. */
const READ_AT_ONCE = 16;

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
  const items = await queryAll(store, { pk: runKey(run).pk, prefix: windowPrefix(at) });
  const wanted = items.filter((item) => {
    const window = windowOf(item);
    return window.from < to && window.to > from;
  });
  const results: ItemResult[] = [];
  while (wanted.length > 0) {
    const batch = wanted.splice(0, READ_AT_ONCE);
    for (const found of await Promise.all(batch.map((item) => resultsIn(store, item)))) {
      if (found !== undefined) results.push(...found);
    }
  }
  return results
    .filter((result) => result.index >= from && result.index < to)
    .sort((a, b) => a.index - b.index);
}

async function resultsIn(store: Store, item: Item): Promise<ItemResult[] | undefined> {
  if (item.json === undefined && item.key === undefined) return undefined;
  return (await readBody(store, bodyOf(item))) as unknown as ItemResult[];
}
