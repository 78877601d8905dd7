/** When a schedule is next due, with its dates, its state and its window. Pure. */
import { parseSchedule } from '../../../schedule/expression.ts';
import { nextOccurrence } from '../../../schedule/occurrences.ts';
import { hashOf } from '../../step-functions/service/storage/files.ts';
import type { Schedule } from '../records.ts';

/**
 * The first occurrence (epoch milliseconds) after `after` that the schedule names; undefined: there is none any more.
 * One-time schedules do not look at the dates, as the guide says.
 */
export function occurrenceAfter(schedule: Schedule, after: number): number | undefined {
  const expression = parseSchedule(schedule.expression);
  const dated = expression.kind !== 'at';
  const from = dated && schedule.startAt !== undefined ? Math.max(after, schedule.startAt - 1) : after;
  const next = nextOccurrence(expression, schedule.timezone, from, schedule.anchor);
  const { endAt } = schedule;
  return next !== undefined && dated && endAt !== undefined && next > endAt ? undefined : next;
}

/**
 * When an occurrence is delivered: at its time, or anywhere in the flexible window, the same after a restart. AWS delivers
 * within the minute; here it is at its beginning.
 */
export function deliveryTime(schedule: Schedule, occurrence: number): number {
  const { flexibleWindowMinutes } = schedule;
  if (flexibleWindowMinutes === undefined) return occurrence;
  const share = Number.parseInt(hashOf(`${schedule.arn} ${occurrence}`).slice(0, 8), 16) / 2 ** 32;
  return occurrence + Math.floor(share * flexibleWindowMinutes * 60_000);
}

/** Whether a schedule that has no occurrence any more ends by itself: AWS deletes one without an end date only if it is one-time. */
export function endsByItself(schedule: Schedule): boolean {
  return (
    schedule.actionAfterCompletion === 'DELETE' &&
    (schedule.endAt !== undefined || parseSchedule(schedule.expression).kind === 'at')
  );
}
