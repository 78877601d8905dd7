/** Failures in a row are the same in whatever order, and however often, the ends of the runs are heard of. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { countEnd } from '../../lib/engine/schedule-failures.ts';
import type { RunRecord, ScheduleRecord } from '../../lib/store/records.ts';
import { LOCAL, runRecord } from '../store/records.ts';

const at = (minute: number): string => new Date(Date.UTC(2026, 10, 30, 0, minute)).toISOString();
const schedule = (changes: Partial<ScheduleRecord> = {}): ScheduleRecord => ({
  workflow: 'sync',
  name: 'default',
  awsName: 'sync.default.0',
  expression: 'rate(1 hour)',
  timezone: 'UTC',
  enabled: true,
  readOnly: false,
  principal: LOCAL,
  revision: 1,
  versionArn: 'arn:1',
  params: '{}',
  failures: [],
  createdAt: at(0),
  updatedAt: at(0),
  version: 1,
  ...changes,
});
const ended = (minute: number, status: RunRecord['status']): RunRecord =>
  runRecord({ run: `run-${minute}`, startedAt: at(minute), endedAt: at(minute + 1), status });
function count(record: ScheduleRecord, runs: readonly RunRecord[]): ScheduleRecord {
  let counted = record;
  for (const run of runs) counted = Object.assign({}, counted, countEnd(counted, run));
  return counted;
}
const failedRuns = ({ failures }: ScheduleRecord) => failures.map(({ run }) => run).sort();

describe('failures in a row', () => {
  it.each<[string, RunRecord[], string[]]>([
    ['none', [ended(1, 'SUCCEEDED')], []],
    ['a failure', [ended(1, 'FAILED')], ['run-1']],
    ['a time-out', [ended(1, 'TIMED_OUT')], ['run-1']],
    ['a cancelled run says nothing', [ended(1, 'FAILED'), ended(2, 'CANCELLED')], ['run-1']],
    ['twice the same', [ended(1, 'FAILED'), ended(1, 'FAILED')], ['run-1']],
    ['a success resets', [ended(1, 'FAILED'), ended(2, 'SUCCEEDED')], []],
    ['the news of a failure before it comes late', [ended(2, 'SUCCEEDED'), ended(1, 'FAILED')], []],
    ['a success before it comes late', [ended(3, 'FAILED'), ended(2, 'SUCCEEDED')], ['run-3']],
    [
      'a failure that was redriven to a success',
      [ended(1, 'FAILED'), ended(2, 'FAILED'), ended(2, 'SUCCEEDED')],
      [],
    ],
  ])('%s', (_, runs, expected) => {
    expect(failedRuns(count(schedule(), runs))).toEqual(expected);
  });

  it('before a change count no more', () => {
    const record = count(schedule({ countedFrom: at(5) }), [ended(4, 'FAILED'), ended(6, 'FAILED')]);
    expect(failedRuns(record)).toEqual(['run-6']);
  });

  it('come to the same in any order', () => {
    const statuses = fc.array(fc.constantFrom('SUCCEEDED', 'FAILED', 'TIMED_OUT', 'CANCELLED'), {
      maxLength: 8,
    });
    fc.assert(
      fc.property(statuses, fc.infiniteStream(fc.nat()), (ends, picks) => {
        const runs = ends.map((status, minute) => ended(minute + 1, status as RunRecord['status']));
        const lastSuccess = ends.lastIndexOf('SUCCEEDED');
        const expected = runs
          .filter(({ status }, i) => i > lastSuccess && (status === 'FAILED' || status === 'TIMED_OUT'))
          .map(({ run }) => run);
        const heard = [...runs, ...runs.slice(0, 3)]
          .map((run) => ({ run, rank: Number(picks.next().value) }))
          .sort((a, b) => a.rank - b.rank)
          .map(({ run }) => run);
        const record = count(schedule(), heard);
        expect(failedRuns(record)).toEqual(expected.sort());
        expect(record.lastRun?.run).toBe(runs.at(-1)?.run);
      }),
      { numRuns: 300 },
    );
  });

  it('that say nothing new write nothing', () => {
    const run = ended(1, 'FAILED');
    const once = count(schedule(), [run]);
    expect(countEnd(once, run)).toBeUndefined();
  });
});
