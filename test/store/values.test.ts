/** Values, items and the journal: what is written is read back, and a late writer changes nothing. */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Json } from '../../lib/blueprint/json.ts';
import { MAX_INLINE_BYTES } from '../../lib/store/body.ts';
import { getItemsIndex, putItems, readItems } from '../../lib/store/items.ts';
import {
  claimWindow,
  finishWindow,
  getWindow,
  listWindows,
  readJournal,
  readResults,
  takeWindow,
} from '../../lib/store/journal.ts';
import type { ItemResult, WindowRecord } from '../../lib/store/records.ts';
import {
  describeValue,
  getBlob,
  getValue,
  getValuePage,
  getValues,
  putBlob,
  putValue,
} from '../../lib/store/values.ts';
import { freshId, type StandIns, startStandIns } from './stand-ins.ts';

let standIns: StandIns;
beforeAll(async () => {
  standIns = await startStandIns();
});
afterAll(() => standIns.stop());

describe('values', () => {
  const cases: [string, Json][] = [
    ['null', null],
    ['an empty text', ''],
    ['a number that DynamoDB refuses', 1e300],
    ['a number past 2^53', 2 ** 53 + 2],
    ['keys in their order', { z: 1, a: 2, 10: 3 }],
    ['more depth than DynamoDB has', JSON.parse(`${'['.repeat(60)}1${']'.repeat(60)}`) as Json],
    ['names of prototypes', JSON.parse('{"__proto__":{"a":1},"constructor":null}') as Json],
    ['text over the limit', 'é'.repeat(MAX_INLINE_BYTES)],
    ['a megabyte', Array.from({ length: 10_000 }, (_, index) => ({ index, text: 'x'.repeat(90) }))],
  ];
  it.each(cases)('keeps %s', async (_what, value) => {
    const run = freshId();
    const stored = await putValue(standIns.store, run, 'loop/00001/step', value);
    const large = Buffer.byteLength(JSON.stringify(value)) > MAX_INLINE_BYTES;
    expect('key' in stored).toBe(large);
    expect(JSON.stringify(await getValue(standIns.store, run, 'loop/00001/step'))).toBe(
      JSON.stringify(value),
    );
    expect((await describeValue(standIns.store, run, 'loop/00001/step'))?.bytes).toBe(
      Buffer.byteLength(JSON.stringify(value)),
    );
  });

  it('keeps any JSON', async () => {
    const run = freshId();
    await fc.assert(
      fc.asyncProperty(fc.jsonValue({ maxDepth: 6 }), async (value) => {
        await putValue(standIns.store, run, 'any', value as Json);
        expect(JSON.stringify(await getValue(standIns.store, run, 'any'))).toBe(JSON.stringify(value));
      }),
      { numRuns: 50 },
    );
  });

  it('tells a value that is null from none', async () => {
    const run = freshId();
    await putValue(standIns.store, run, 'a', null);
    await putValue(standIns.store, run, 'b', { content: [] }, { kind: 'detail' });
    expect(await getValues(standIns.store, run, ['b', 'a', 'c'])).toEqual([undefined, null, undefined]);
    expect(await getValues(standIns.store, run, ['b', 'a'], 'detail')).toEqual([{ content: [] }, undefined]);
  });

  it('lets no holder of a lower fence replace a value', async () => {
    const run = freshId();
    const put = (value: Json, fence: number) => putValue(standIns.store, run, 'step', value, { fence });
    await put('first', 1);
    await put('second', 2);
    await put('late', 1);
    expect(await getValue(standIns.store, run, 'step')).toBe('second');
    await put('second again', 2);
    expect(await getValue(standIns.store, run, 'step')).toBe('second again');
  });

  it('gives long lists in pages that together are the list', async () => {
    const run = freshId();
    const list = Array.from({ length: 57 }, (_, index) => ({ index, text: 'x'.repeat(index * 10) }));
    await putValue(standIns.store, run, 'list', list);
    const seen: Json[] = [];
    let offset: number | undefined = 0;
    while (offset !== undefined) {
      const page = await getValuePage(standIns.store, run, 'list', { offset, limit: 20, maxBytes: 2000 });
      if (page === undefined || !Array.isArray(page.value)) throw new Error('no list');
      expect(page).toMatchObject({ total: 57, offset });
      seen.push(...page.value);
      offset = page.next;
    }
    expect(seen).toEqual(list);
    await putValue(standIns.store, run, 'text', 'whole');
    expect(await getValuePage(standIns.store, run, 'text')).toEqual({ value: 'whole' });
    expect(await getValuePage(standIns.store, run, 'none')).toBeUndefined();
  });

  it('keeps binary content by its hash, and gives no other object out as such', async () => {
    const run = '../../evil run';
    const bytes = Buffer.from([0, 255, 1, 254]);
    const key = await putBlob(standIns.store, run, bytes, 'image/png');
    expect(key).toMatch(/^blobs\/h-[0-9a-f]{64}\/[0-9a-f]{64}$/);
    expect(await getBlob(standIns.store, key)).toEqual({
      bytes: new Uint8Array(bytes),
      contentType: 'image/png',
    });
    expect(
      await getBlob(standIns.store, await putBlob(standIns.store, run, Buffer.alloc(0), 'text/plain')),
    ).toMatchObject({
      bytes: new Uint8Array(),
    });
    await putValue(standIns.store, 'r', 'a', 'x'.repeat(9000));
    expect(await getBlob(standIns.store, 'values/r/x')).toBeUndefined();
    expect(await getBlob(standIns.store, `${key}/../..`)).toBeUndefined();
  });
});

describe('items', () => {
  it.each([0, 1, 100, 3000])('are written in chunks and read in part: %i', async (count) => {
    const run = freshId();
    const items = Array.from({ length: count }, (_, index) => ({ index, text: 'x'.repeat(300) }));
    const index = await putItems(standIns.store, run, 'loop', items);
    expect(index.count).toBe(count);
    expect(index.chunks).toHaveLength(Math.ceil((count * 324) / (256 * 1024)));
    expect(await getItemsIndex(standIns.store, run, 'loop')).toEqual(index);
    for (const [from, to] of [
      [0, count],
      [count - 1, count],
      [700, 900],
      [815, 1700],
      [count, count],
    ] as const) {
      const wanted = items.slice(Math.max(0, from), to);
      expect(await readItems(standIns.store, index, Math.max(0, from), to)).toEqual(wanted);
    }
  });

  it('stand as first written', async () => {
    const run = freshId();
    await putItems(standIns.store, run, 'loop', [1, 2]);
    const index = await putItems(standIns.store, run, 'loop', [3]);
    expect(await readItems(standIns.store, index)).toEqual([1, 2]);
    expect(await getItemsIndex(standIns.store, run, 'other')).toBeUndefined();
  });
});

describe('the journal', () => {
  const result = (index: number, changes: Partial<ItemResult> = {}): ItemResult => ({
    index,
    item: index,
    status: 'succeeded',
    value: `v${index}`,
    error: null,
    attempts: 1,
    ...changes,
  });
  const windowOf = (run: string, window: number, changes: Partial<WindowRecord> = {}): WindowRecord => ({
    run,
    at: 'loop',
    window,
    from: window * 10,
    to: window * 10 + 10,
    owner: 'boot1/a',
    epoch: 0,
    state: 'claimed',
    ...changes,
  });
  const tens = (window: number): ItemResult[] =>
    Array.from({ length: 10 }, (_, index) => result(window * 10 + index));

  it('gives a window to one of many', async () => {
    const run = freshId();
    const claims = await Promise.all(
      Array.from({ length: 6 }, (_, index) =>
        claimWindow(standIns.store, windowOf(run, 0, { owner: `boot1/${index}` })),
      ),
    );
    expect(claims.filter(Boolean)).toHaveLength(1);
    // The winner's own repetition.
    expect(
      await claimWindow(standIns.store, windowOf(run, 0, { owner: `boot1/${claims.indexOf(true)}` })),
    ).toBe(true);
  });

  it('reads results in the order of items, whatever order windows end in', async () => {
    const { store } = standIns;
    const run = freshId();
    for (const window of [0, 1, 2, 11]) await claimWindow(store, windowOf(run, window));
    await claimWindow(store, { ...windowOf(run, 0), at: 'loop2' });
    const big = tens(1).map((each) => ({ ...each, value: 'x'.repeat(2000) }));
    expect(await finishWindow(store, windowOf(run, 11), tens(11))).toBe(true);
    expect(await finishWindow(store, windowOf(run, 1), big)).toBe(true);
    expect(await finishWindow(store, windowOf(run, 0), tens(0))).toBe(true);
    expect(await readResults(store, run, 'loop')).toEqual([...tens(0), ...big, ...tens(11)]);
    expect((await readResults(store, run, 'loop', 8, 12)).map(({ index }) => index)).toEqual([8, 9, 10, 11]);
    expect((await listWindows(store, run, 'loop')).map(({ window, state }) => [window, state])).toEqual([
      [0, 'done'],
      [1, 'done'],
      [2, 'claimed'],
      [11, 'done'],
    ]);
    const windows: [number, ItemResult[] | undefined][] = [];
    for await (const { window, items } of readJournal(store, run, 'loop', { windows: { from: 1, to: 11 } }))
      windows.push([window.window, items]);
    expect(windows).toEqual([
      [1, big],
      [2, undefined],
    ]);
  });

  it('hears nothing more from an owner whose window was taken over', async () => {
    const { store } = standIns;
    const run = freshId();
    await claimWindow(store, windowOf(run, 0));
    const taken = await takeWindow(store, windowOf(run, 0), 'boot2/b', 0);
    expect(taken).toEqual(windowOf(run, 0, { owner: 'boot2/b' }));
    expect(await takeWindow(store, windowOf(run, 0), 'boot2/c', 0)).toBeUndefined();
    expect(await finishWindow(store, windowOf(run, 0), tens(0))).toBe(false);
    expect(await readResults(store, run, 'loop')).toEqual([]);
    if (taken === undefined) throw new Error('not taken');
    expect(await finishWindow(store, taken, tens(0))).toBe(true);
    // Its own repetition, and a takeover that comes after the end.
    expect(await finishWindow(store, taken, tens(0))).toBe(true);
    expect(await takeWindow(store, taken, 'boot2/c', 0)).toBeUndefined();
  });

  it('keeps earlier results while a newer epoch runs the failures anew', async () => {
    const { store } = standIns;
    const run = freshId();
    const first = [result(0), result(1, { status: 'failed', value: null })];
    const window = windowOf(run, 0, { to: 2 });
    await claimWindow(store, window);
    await finishWindow(store, window, first);
    const done = await getWindow(store, run, 'loop', 0);
    if (done === undefined) throw new Error('no window');
    const reopened = await takeWindow(store, done, 'boot1/b', 1);
    expect(reopened).toMatchObject({ state: 'claimed', epoch: 1, owner: 'boot1/b' });
    expect(await readResults(store, run, 'loop')).toEqual(first);
    // A late reopening of the same state, and one that would go back.
    expect(await takeWindow(store, done, 'boot1/c', 1)).toBeUndefined();
    if (reopened === undefined) throw new Error('not reopened');
    expect(await takeWindow(store, reopened, 'boot1/d', 0)).toBeUndefined();
    const second = [result(0), result(1, { value: 'x'.repeat(20_000), attempts: 2 })];
    expect(await finishWindow(store, reopened, second)).toBe(true);
    expect(await readResults(store, run, 'loop')).toEqual(second);
    const again = await takeWindow(store, { ...reopened, state: 'done' }, 'boot1/e', 2);
    if (again === undefined) throw new Error('not reopened');
    await finishWindow(store, again, first);
    expect(await readResults(store, run, 'loop')).toEqual(first);
  });
});
