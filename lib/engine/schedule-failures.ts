/**
 * How a schedule's runs end. After five failures in a row it is switched off: nobody is there to see it fail.
 *
 * What always holds: a run counts once, however often and in whatever order its end is heard of. "In a row" goes by the runs' starts:
 * the failures that started after the latest run that succeeded. A run that was cancelled says nothing.
 */
import type { RunRecord, ScheduleRecord } from '../store/records.ts';
import { getScheduleRecord, putScheduleRecord } from '../store/schedules.ts';
import { audit } from './audit.ts';
import { switchOff } from './aws-schedules.ts';
import type { EngineEnvironment } from './environment.ts';

const MAX_FAILURES_IN_A_ROW = 5;
/** Times that a count is made anew because the record changed under it. */
const TRIES = 10;

/** Counts the end of a run; does nothing for one that is open or that no schedule started. */
export async function countScheduledRun(env: EngineEnvironment, run: RunRecord): Promise<void> {
  if (run.schedule === undefined || run.endedAt === undefined) return;
  for (let tries = 0; tries < TRIES; tries += 1) {
    const before = await getScheduleRecord(env.store, run.workflow, run.schedule);
    if (before === undefined || before.deletedAt !== undefined) return;
    const counted = countEnd(before, run);
    const record =
      counted === undefined ? before : await putScheduleRecord(env.store, offIfFailing(env, counted), before);
    if (record === undefined) continue;
    if (before.enabled && !record.enabled) {
      const { workflow, name: schedule } = record;
      audit(env, record.principal, { action: 'schedule.disable', workflow, schedule, run: run.run });
    }
    // Also where it was counted before: whoever did may have got no further.
    if (record.disabledReason !== undefined && !record.enabled) await switchOff(env, record.awsName);
    return;
  }
  throw new Error('The record of a schedule changes faster than a run can be counted.');
}

/** The record with this run's end in it; undefined: it says nothing new. Pure. */
export function countEnd(
  record: ScheduleRecord,
  run: RunRecord,
): Omit<ScheduleRecord, 'version'> | undefined {
  const at = run.startedAt ?? run.createdAt;
  const known = record.lastRun;
  const lastRun = known === undefined || known.at <= at ? { run: run.run, status: run.status, at } : known;
  const next = countFailure(record, run, at);
  const told = known !== undefined && known.run === lastRun.run && known.status === lastRun.status;
  return next === undefined && told ? undefined : { ...record, ...next, lastRun };
}

function countFailure(
  record: ScheduleRecord,
  run: RunRecord,
  at: string,
): Pick<ScheduleRecord, 'failures' | 'countedFrom'> | undefined {
  const { failures, countedFrom = '' } = record;
  if (run.status === 'SUCCEEDED') {
    // A redrive can turn a failure into a success.
    return at < countedFrom ? undefined : success(failures, at, countedFrom);
  }
  if (run.status !== 'FAILED' && run.status !== 'TIMED_OUT') return undefined;
  if (at <= countedFrom || failures.some((each) => each.run === run.run)) return undefined;
  return { failures: [...failures, { run: run.run, at }], ...(countedFrom === '' ? {} : { countedFrom }) };
}

function success(failures: ScheduleRecord['failures'], at: string, countedFrom: string) {
  const later = failures.filter((each) => each.at > at);
  return at === countedFrom && later.length === failures.length
    ? undefined
    : { failures: later, countedFrom: at };
}

function offIfFailing(
  env: EngineEnvironment,
  record: Omit<ScheduleRecord, 'version'>,
): Omit<ScheduleRecord, 'version'> {
  if (!record.enabled || record.failures.length < MAX_FAILURES_IN_A_ROW) return record;
  const at = new Date(env.now()).toISOString();
  const disabledReason = `switched off at ${at} after ${MAX_FAILURES_IN_A_ROW} runs in a row had failed`;
  return { ...record, enabled: false, disabledReason, updatedAt: at };
}
