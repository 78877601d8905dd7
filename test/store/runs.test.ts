/** Run records: who may claim, close and reopen one, and what a budget lets through. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RunRecord } from '../../lib/store/records.ts';
import { listOpenRuns, listRuns } from '../../lib/store/run-lists.ts';
import {
  addToBudget,
  claimRun,
  closeRun,
  createRun,
  getRun,
  getRuns,
  reopenRun,
  setStop,
  touchRun,
} from '../../lib/store/runs.ts';
import { LOCAL, runRecord } from './records.ts';
import { freshId, type StandIns, startStandIns } from './stand-ins.ts';

let standIns: StandIns;
beforeAll(async () => {
  standIns = await startStandIns();
});
afterAll(() => standIns.stop());

const AT = '2026-11-30T09:00:05.000Z';
const LATER = '2026-11-30T09:10:00.000Z';
const EXECUTION = 'arn:aws:states:us-east-1:000000000000:execution:mwe-sync:one';
const OTHER = 'arn:aws:states:us-east-1:000000000000:execution:mwe-sync:two';

async function created(changes: Partial<RunRecord> = {}): Promise<RunRecord> {
  return (await createRun(standIns.store, runRecord(changes))).run;
}
async function claimed(changes: Partial<RunRecord> = {}): Promise<RunRecord> {
  const { run } = await created(changes);
  const record = await claimRun(standIns.store, run, { execution: EXECUTION, startedAt: AT, deadline: 5 });
  if (record === undefined) throw new Error('not claimed');
  return record;
}

describe('createRun', () => {
  it('puts a record once', async () => {
    const record = runRecord({ deadline: undefined });
    expect(await createRun(standIns.store, record)).toEqual({ created: true, run: record });
    const again = await createRun(standIns.store, { ...record, paramsHash: 'other' });
    expect(again).toEqual({ created: false, run: JSON.parse(JSON.stringify(record)) });
    expect(await getRun(standIns.store, record.run)).toEqual(again.run);
    expect(await getRun(standIns.store, 'nowhere')).toBeUndefined();
  });

  it('reads many, without those that are not there', async () => {
    const [a, b] = [await created(), await created()];
    expect((await getRuns(standIns.store, [b.run, 'nowhere', a.run])).map(({ run }) => run)).toEqual([
      b.run,
      a.run,
    ]);
  });
});

describe('claimRun', () => {
  it('binds a run to its execution, once', async () => {
    const { store } = standIns;
    const { run } = await created();
    const first = await claimRun(store, run, { execution: EXECUTION, startedAt: AT, deadline: 5 });
    expect(first).toMatchObject({ status: 'RUNNING', execution: EXECUTION, startedAt: AT, deadline: 5 });
    const again = await claimRun(store, run, {
      execution: EXECUTION,
      startedAt: LATER,
      touchedAt: LATER,
      deadline: 9,
    });
    expect(again).toEqual({ ...first, touchedAt: LATER });
    expect(await claimRun(store, run, { execution: OTHER, startedAt: AT })).toBeUndefined();
    expect(await claimRun(store, 'nowhere', { execution: EXECUTION, startedAt: AT })).toBeUndefined();
  });

  it('does not revive a run that has ended', async () => {
    const { store } = standIns;
    const { run } = await claimed();
    await closeRun(store, run, { status: 'FAILED', endedAt: AT, epoch: 0 });
    expect(await claimRun(store, run, { execution: EXECUTION, startedAt: LATER })).toBeUndefined();
  });

  it('gives one of many executions the run', async () => {
    const { run } = await created();
    const claims = await Promise.all(
      Array.from({ length: 8 }, (_, index) =>
        claimRun(standIns.store, run, { execution: `${EXECUTION}${index}`, startedAt: AT }),
      ),
    );
    expect(claims.filter((claim) => claim !== undefined)).toHaveLength(1);
  });
});

describe('closeRun', () => {
  it('keeps the first end', async () => {
    const { store } = standIns;
    const { run } = await claimed();
    const first = await closeRun(store, run, { status: 'FAILED', endedAt: AT, epoch: 0, errorCount: 2 });
    expect(first).toMatchObject({ closed: true, run: { status: 'FAILED', endedAt: AT, errorCount: 2 } });
    const second = await closeRun(store, run, { status: 'CANCELLED', endedAt: LATER, epoch: 0 });
    expect(second).toEqual({ closed: false, run: first.run });
    expect(await closeRun(store, 'nowhere', { status: 'FAILED', endedAt: AT, epoch: 0 })).toEqual({
      closed: false,
      run: undefined,
    });
  });

  it('leaves an end of an older epoch unheard', async () => {
    const { store } = standIns;
    const { run } = await claimed();
    await closeRun(store, run, { status: 'FAILED', endedAt: AT, epoch: 0 });
    await reopenRun(store, run, { execution: EXECUTION, epoch: 1, at: LATER });
    expect((await closeRun(store, run, { status: 'FAILED', endedAt: AT, epoch: 0 })).closed).toBe(false);
    expect((await closeRun(store, run, { status: 'SUCCEEDED', endedAt: AT, epoch: 1 })).closed).toBe(true);
  });
});

describe('reopenRun', () => {
  it('opens a run for a newer epoch, and clears its stop flag', async () => {
    const { store } = standIns;
    const { run } = await claimed();
    await setStop(store, run, { at: AT, by: 'local' });
    await closeRun(store, run, { status: 'CANCELLED', endedAt: AT, epoch: 0 });
    const reopened = await reopenRun(store, run, { execution: EXECUTION, epoch: 1, at: LATER, deadline: 77 });
    expect(reopened).toMatchObject({
      status: 'RUNNING',
      epoch: 1,
      deadline: 77,
      touchedAt: LATER,
      startedAt: AT,
    });
    expect(reopened?.stop).toBeUndefined();
    expect(reopened?.endedAt).toBeUndefined();
    // Every other task of the epoch finds it done.
    expect(await reopenRun(store, run, { execution: EXECUTION, epoch: 1, at: LATER })).toEqual(reopened);
  });

  it.each([
    ['another execution', { execution: OTHER, epoch: 5 }],
    ['an older epoch', { execution: EXECUTION, epoch: 1 }],
    ['the epoch that has ended', { execution: EXECUTION, epoch: 2 }],
    [
      'an execution that only begins, where another has it',
      { execution: OTHER, epoch: 5, orUnclaimed: true },
    ],
  ])('refuses %s', async (_who, asked) => {
    const { store } = standIns;
    const { run } = await claimed();
    await reopenRun(store, run, { execution: EXECUTION, epoch: 2, at: LATER });
    await closeRun(store, run, { status: 'FAILED', endedAt: LATER, epoch: 2 });
    expect(await reopenRun(store, run, { at: LATER, ...asked })).toBeUndefined();
  });

  it('opens a run that nobody claimed for its beginning alone', async () => {
    const { store } = standIns;
    const { run } = await created();
    await closeRun(store, run, { status: 'FAILED', endedAt: AT, epoch: 0 });
    const asked = { execution: EXECUTION, epoch: 1, at: LATER };
    expect(await reopenRun(store, run, asked)).toBeUndefined();
    expect(await reopenRun(store, run, { ...asked, orUnclaimed: true })).toMatchObject({
      status: 'RUNNING',
      execution: EXECUTION,
    });
  });
});

describe('stop and touch', () => {
  it('keeps the first stop, and sets none on a run that has ended', async () => {
    const { store } = standIns;
    const { run } = await claimed();
    expect((await setStop(store, run, { at: AT, by: 'a' }))?.stop).toEqual({ at: AT, by: 'a' });
    expect((await setStop(store, run, { at: LATER, by: 'b' }))?.stop).toEqual({ at: AT, by: 'a' });
    const ended = await claimed();
    await closeRun(store, ended.run, { status: 'SUCCEEDED', endedAt: AT, epoch: 0 });
    expect((await setStop(store, ended.run, { at: LATER, by: 'b' }))?.stop).toBeUndefined();
    expect(await touchRun(store, ended.run, LATER)).toBeUndefined();
    expect((await touchRun(store, run, LATER))?.touchedAt).toBe(LATER);
  });
});

describe('addToBudget', () => {
  it('lets many tasks together spend the limit and no more', async () => {
    const { run } = await created();
    const limits = { attempts: 10, subRuns: 2 };
    const spent = await Promise.all(
      Array.from({ length: 8 }, () => addToBudget(standIns.store, run, { attempts: 3 }, limits)),
    );
    expect(spent.filter(({ ok }) => ok)).toHaveLength(3);
    expect(await addToBudget(standIns.store, run, { attempts: 2 }, limits)).toEqual({
      ok: false,
      exceeded: 'attempts',
      attempts: 9,
      subRuns: 0,
    });
    expect(await addToBudget(standIns.store, run, { attempts: 1, subRuns: 2 }, limits)).toEqual({
      ok: true,
      attempts: 10,
      subRuns: 2,
    });
    expect(await addToBudget(standIns.store, run, { subRuns: 1 }, limits)).toMatchObject({
      exceeded: 'subRuns',
    });
    await expect(addToBudget(standIns.store, 'nowhere', { attempts: 1 }, limits)).rejects.toThrow(
      'no record',
    );
  });
});

describe('lists of runs', () => {
  const now = Date.parse('2026-11-30T12:00:00Z');
  const workflow = `list-${freshId()}`;
  const at = (day: number, minute: number): string =>
    `2026-11-${String(day).padStart(2, '0')}T10:${String(minute).padStart(2, '0')}:00.000Z`;
  let ids: string[];
  beforeAll(async () => {
    const starts = [at(3, 0), at(28, 0), at(30, 0), at(30, 1), at(30, 2)];
    const runs = await Promise.all(starts.map((createdAt) => created({ workflow, createdAt })));
    ids = runs.map(({ run }) => run).reverse();
    await closeRun(standIns.store, ids[1] ?? '', { status: 'FAILED', endedAt: AT, epoch: 0 });
  });

  async function walk(query: {
    workflow?: string;
    status?: RunRecord['status'];
    limit: number;
  }): Promise<string[]> {
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await listRuns(standIns.store, {
        ...query,
        now,
        accept: (run) => run.workflow === workflow,
        ...(cursor === undefined ? {} : { cursor }),
      });
      expect(page.runs.length).toBeLessThanOrEqual(query.limit);
      seen.push(...page.runs.map(({ run }) => run));
      cursor = page.cursor;
    } while (cursor !== undefined);
    return seen;
  }

  it.each([1, 2, 5, 50])("gives a workflow's runs newest first, %i a page", async (limit) => {
    expect(await walk({ workflow, limit })).toEqual(ids);
  });
  it.each([1, 3, 50])("gives everybody's runs day by day, %i a page", async (limit) => {
    expect(await walk({ limit })).toEqual(ids);
  });
  it('filters by status as the table has it now', async () => {
    expect(await walk({ workflow, status: 'FAILED', limit: 1 })).toEqual([ids[1]]);
    expect(await walk({ status: 'STARTING', limit: 2 })).toEqual(ids.filter((_, index) => index !== 1));
  });
  it('looks into 14 days a page, and reaches the oldest run that is kept', async () => {
    const { store } = standIns;
    const old = await created({ createdAt: new Date(now - 89 * 86_400_000).toISOString() });
    const nobody = (run: { run: string }) => run.run === old.run;
    const found: string[] = [];
    let pages = 0;
    let cursor: string | undefined;
    do {
      const page = await listRuns(store, {
        now,
        accept: nobody,
        ...(cursor === undefined ? {} : { cursor }),
      });
      found.push(...page.runs.map(({ run }) => run));
      cursor = page.cursor;
      pages += 1;
    } while (cursor !== undefined);
    expect(found).toEqual([old.run]);
    // 91 days, and no page is about more than 14.
    expect(pages).toBe(7);
  });
  it('gives nothing for a cursor that is none', async () => {
    expect(await listRuns(standIns.store, { workflow, now, cursor: 'made up' })).toEqual({ runs: [] });
  });

  it('knows the open runs of a principal, and forgets those that ended', async () => {
    const { store } = standIns;
    const principal = { ...LOCAL, id: freshId() };
    const [open, ended] = [await created({ principal }), await claimed({ principal })];
    expect(await listOpenRuns(store, { principal })).toHaveLength(2);
    await closeRun(store, ended.run, { status: 'FAILED', endedAt: AT, epoch: 0 });
    expect((await listOpenRuns(store, { principal })).map(({ run }) => run)).toEqual([open.run]);
    await reopenRun(store, ended.run, { execution: EXECUTION, epoch: 1, at: LATER });
    expect(await listOpenRuns(store, { principal })).toHaveLength(2);
    expect((await listOpenRuns(store)).length).toBeGreaterThan(2);
  });
});
