/** Records of schedules: names, writers that meet, tombstones, places. */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ScheduleRecord } from '../../lib/store/records.ts';
import {
  awsScheduleName,
  deleteScheduleRecord,
  freePlaces,
  getScheduleRecord,
  listScheduleRecords,
  putScheduleRecord,
  takePlace,
} from '../../lib/store/schedules.ts';
import type { Store } from '../../lib/store/store.ts';
import { LOCAL } from './records.ts';
import { freshId, type StandIns, startStandIns } from './stand-ins.ts';

let standIns: StandIns;
let store: Store;
beforeAll(async () => {
  standIns = await startStandIns();
  store = standIns.store;
});
afterAll(() => standIns.stop());

const freshWorkflow = (): string => `w-${freshId().slice(0, 8)}`;
const record = (workflow: string, name = 'default'): Omit<ScheduleRecord, 'version'> => ({
  workflow,
  name,
  awsName: awsScheduleName(workflow, name),
  expression: 'rate(1 hour)',
  timezone: 'UTC',
  enabled: true,
  readOnly: false,
  principal: LOCAL,
  revision: 1,
  versionArn: 'arn:1',
  params: '{"secret":"x"}',
  failures: [],
  createdAt: '2026-11-30T09:00:00.000Z',
  updatedAt: '2026-11-30T09:00:00.000Z',
});

describe('the name in Scheduler', () => {
  const workflows = fc.stringMatching(/^[a-z][a-z0-9-]{0,47}$/);
  const names = fc.stringMatching(/^[A-Za-z][A-Za-z0-9_-]{0,63}$/);
  it('is one that Scheduler takes, and another for every other schedule', () => {
    fc.assert(
      fc.property(workflows, names, workflows, names, (workflow, name, otherWorkflow, otherName) => {
        const made = awsScheduleName(workflow, name);
        expect(made).toMatch(/^[0-9a-zA-Z\-_.]{1,64}$/);
        expect(awsScheduleName(workflow, name)).toBe(made);
        if (workflow !== otherWorkflow || name !== otherName) {
          expect(awsScheduleName(otherWorkflow, otherName)).not.toBe(made);
        }
      }),
    );
  });

  it('tells apart what is cut off', () => {
    const long = 'n'.repeat(63);
    expect(awsScheduleName('sync', `${long}a`)).not.toBe(awsScheduleName('sync', `${long}b`));
  });
});

describe('a record', () => {
  it('is written by one of many who read the same', async () => {
    const workflow = freshWorkflow();
    const first = await putScheduleRecord(store, record(workflow), undefined);
    expect(first).toMatchObject({ version: 1 });
    expect(
      await putScheduleRecord(store, { ...record(workflow), timezone: 'Asia/Tokyo' }, undefined),
    ).toBeUndefined();
    const writes = await Promise.all(
      Array.from({ length: 5 }, (_, n) =>
        putScheduleRecord(store, { ...record(workflow), expression: `rate(${n + 2} hours)` }, first),
      ),
    );
    const [won, ...others] = writes.filter((write) => write !== undefined);
    expect(others).toEqual([]);
    expect(await getScheduleRecord(store, workflow, record(workflow).awsName)).toEqual(won);
    // The very write once more is no other writer's.
    if (won !== undefined) expect(await putScheduleRecord(store, won, first)).toEqual(won);
  });

  it('leaves a tombstone without its parameters, over which the next is made', async () => {
    const workflow = freshWorkflow();
    await putScheduleRecord(store, record(workflow, 'b'), undefined);
    const kept = await putScheduleRecord(store, record(workflow, 'a'), undefined);
    if (kept === undefined) throw new Error('not written');
    expect((await listScheduleRecords(store, workflow)).map(({ name }) => name)).toEqual(['a', 'b']);
    expect(await deleteScheduleRecord(store, kept, '2026-12-01T00:00:00.000Z')).toBe(true);
    expect(await deleteScheduleRecord(store, { ...kept, version: 7 }, '2026-12-02T00:00:00.000Z')).toBe(
      false,
    );
    expect((await listScheduleRecords(store, workflow)).map(({ name }) => name)).toEqual(['b']);
    const tombstone = await getScheduleRecord(store, workflow, kept.awsName);
    expect(tombstone).toMatchObject({ deletedAt: '2026-12-01T00:00:00.000Z', params: '{}', version: 2 });
    const again = await putScheduleRecord(store, record(workflow, 'a'), tombstone);
    expect(again).toMatchObject({ version: 3 });
    expect(await getScheduleRecord(store, workflow, kept.awsName)).toEqual(again);
  });
});

it('places are never more than the limit, however many want one at once', async () => {
  const principal = `token:${freshId()}`;
  const place = (n: number) => ({ workflow: 'sync', awsName: `sync.n${n}` });
  const answers = await Promise.all(
    Array.from({ length: 8 }, (_, n) => takePlace(store, principal, place(n), 3)),
  );
  expect(answers.filter((answer) => answer === undefined)).toHaveLength(3);
  const taken = answers.find((answer) => answer !== undefined) ?? [];
  const [first] = taken;
  if (first === undefined) throw new Error('nothing was taken');
  // Who has one has it.
  expect(await takePlace(store, principal, first, 3)).toBeUndefined();
  await freePlaces(store, principal, [first, { workflow: 'other', awsName: 'x' }]);
  expect(await takePlace(store, principal, place(99), 3)).toBeUndefined();
  expect(await takePlace(store, principal, first, 3)).toHaveLength(3);
});
