/** Counting what a principal uses: exact under concurrency, and nobody's use counts against another. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  countOpenRuns,
  countRequest,
  leaveWaitPlace,
  takeWaitPlace,
  untilNextMinute,
} from '../../lib/store/limits.ts';
import { closeRun, createRun } from '../../lib/store/runs.ts';
import { LOCAL, runRecord } from './records.ts';
import { freshId, type StandIns, startStandIns } from './stand-ins.ts';

let standIns: StandIns;
beforeAll(async () => {
  standIns = await startStandIns();
});
afterAll(() => standIns.stop());

const NOON = Date.parse('2026-11-30T12:00:00Z');

describe('requests', () => {
  it('of one minute pass up to the limit, however many come together', async () => {
    const principal = freshId();
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, n) => countRequest(standIns.store, principal, 12, NOON + n)),
    );
    expect(answers.filter((passed) => passed)).toHaveLength(12);
    expect(await countRequest(standIns.store, principal, 12, NOON + 59_999)).toBe(false);
    expect(await countRequest(standIns.store, principal, 12, NOON + 60_000)).toBe(true);
    expect(await countRequest(standIns.store, freshId(), 12, NOON)).toBe(true);
  });

  it('may come again at the turn of the minute', () => {
    expect(untilNextMinute(NOON)).toBe(60_000);
    expect(untilNextMinute(NOON + 59_999)).toBe(1);
  });
});

describe('places to wait in', () => {
  const take = (principal: string, name: string, changes: { until?: number; now?: number } = {}) =>
    takeWaitPlace(standIns.store, principal, { name, until: NOON + 60_000, limit: 3, now: NOON, ...changes });

  it('are as many as the limit, however many ask at once, and come free when they are left', async () => {
    const principal = freshId();
    const places = await Promise.all(Array.from({ length: 10 }, (_, n) => take(principal, `w${n}`)));
    const taken = places.flatMap((place) => ('lease' in place ? [place.lease] : []));
    expect(taken).toHaveLength(3);
    expect(places.filter((place) => 'freeAt' in place)[0]).toEqual({ freeAt: NOON + 60_000 });
    expect(await take(freshId(), 'other')).toHaveProperty('lease');

    const [first] = taken;
    if (first === undefined) throw new Error('no place was taken');
    await leaveWaitPlace(standIns.store, first);
    await leaveWaitPlace(standIns.store, first);
    const again = await Promise.all([take(principal, 'a'), take(principal, 'b')]);
    expect(again.filter((place) => 'lease' in place)).toHaveLength(1);
  });

  it('are the same place for a write that is repeated', async () => {
    const principal = freshId();
    for (let n = 0; n < 5; n++) expect(await take(principal, 'same')).toHaveProperty('lease');
    expect(await take(principal, 'second')).toHaveProperty('lease');
  });

  it('of waiters that died are void at their time', async () => {
    const principal = freshId();
    for (const [name, until] of [
      ['a', 1000],
      ['b', 2000],
      ['c', 3000],
    ] as const) {
      await take(principal, name, { until: NOON + until });
    }
    expect(await take(principal, 'd', { now: NOON + 999 })).toEqual({ freeAt: NOON + 1000 });
    expect(await take(principal, 'd', { now: NOON + 2000 })).toHaveProperty('lease');
    expect(await take(principal, 'e', { now: NOON + 2000 })).toHaveProperty('lease');
    expect(await take(principal, 'f', { now: NOON + 2000 })).toEqual({ freeAt: NOON + 3000 });
  });
});

it('an id of any form has a key of its own', async () => {
  const ids = ['oauth:a', 'oauth:a#', 'oauth:a b', 'oauth:\ud800', `oauth:${'x'.repeat(4000)}`, 'oauth:%23'];
  for (const id of ids) {
    expect(await countRequest(standIns.store, id, 1, NOON)).toBe(true);
    expect(await countRequest(standIns.store, id, 1, NOON)).toBe(false);
    await createRun(standIns.store, runRecord({ principal: { ...LOCAL, id } }));
    expect(await countOpenRuns(standIns.store, id, 10)).toBe(1);
  }
});

describe('open runs', () => {
  it('are counted by principal, sub-runs and ended ones not', async () => {
    const { store } = standIns;
    const id = `token:${freshId()}`;
    const principal = { ...LOCAL, id };
    const root = runRecord({ principal });
    await createRun(store, root);
    await createRun(store, runRecord({ principal, root: root.run, parent: { run: root.run, at: 'sub' } }));
    const ended = runRecord({ principal });
    await createRun(store, ended);
    // An id that goes on where the other ends, with what divides the parts of a key.
    await createRun(store, runRecord({ principal: { ...LOCAL, id: `${id}#2026` } }));
    expect(await countOpenRuns(store, id, 10)).toBe(2);
    expect(await countOpenRuns(store, id, 1)).toBe(1);
    await closeRun(store, ended.run, { status: 'SUCCEEDED', endedAt: root.createdAt, epoch: 0 });
    expect(await countOpenRuns(store, id, 10)).toBe(1);
  });
});
