/**
 * When a schedule is due, as AWS documents it: cron and one-time expressions are read off the wall clock of the time zone,
 * where an hour that is skipped has no occurrences and of an hour that comes twice only the first counts, whatever the
 * expression (AWS says it of a daily one and excepts none); a rate is so many milliseconds whatever the clock does.
 *
 * Pure: the only clock is what the caller gives. Every search ends: years end with 2199.
 *
 * Source: EventBridge Scheduler user guide, "Schedule types", "Daylight savings time on EventBridge Scheduler".
 */
import type { Cron } from './cron.ts';
import { daysOfMonth } from './days.ts';
import type { ScheduleExpression } from './expression.ts';
import { instantOf, wallAt } from './timezone.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

/**
 * The first occurrence after `after` (epoch milliseconds); undefined: there is none any more.
 * @param timezone one that `checkTimezone` lets pass; rates do not look at it
 * @param anchor where a rate counts from: its first occurrence. Default: `after`, so that the next is one period later.
 */
export function nextOccurrence(
  expression: ScheduleExpression,
  timezone: string,
  after: number,
  anchor: number = after,
): number | undefined {
  switch (expression.kind) {
    case 'rate': {
      if (anchor > after) return anchor;
      const { periodMs } = expression;
      return anchor + (Math.floor((after - anchor) / periodMs) + 1) * periodMs;
    }
    case 'at': {
      const instant = instantOf(timezone, expression.wall);
      return instant !== undefined && instant > after ? instant : undefined;
    }
    case 'cron': {
      // A reading before this one comes no later than `after`, even where clocks go back.
      for (const wall of cronWalls(expression.cron, wallAt(timezone, after))) {
        const instant = instantOf(timezone, wall);
        if (instant !== undefined && instant > after) return instant;
      }
      return undefined;
    }
  }
}

/** Wall clock readings of a cron expression from the minute of `from` on, in order. */
function* cronWalls(cron: Cron, from: number): Generator<number> {
  const start = Math.floor(from / MINUTE_MS) * MINUTE_MS;
  for (const day of cronDays(cron, start)) {
    for (const hour of cron.hours) {
      for (const minute of cron.minutes) {
        const wall = day + (hour * 60 + minute) * MINUTE_MS;
        if (wall >= start) yield wall;
      }
    }
  }
}

/** Midnights (as walls) of the days that a cron expression means, from the day of `from` on, in order. */
function* cronDays(cron: Cron, from: number): Generator<number> {
  const start = Math.floor(from / DAY_MS) * DAY_MS;
  const firstYear = new Date(start).getUTCFullYear();
  for (const year of cron.years) {
    if (year < firstYear) continue;
    for (const month of cron.months) {
      for (const day of daysOfMonth(cron.days, year, month)) {
        const midnight = Date.UTC(year, month - 1, day);
        if (midnight >= start) yield midnight;
      }
    }
  }
}

/**
 * The shortest time between two occurrences by the wall clock, in milliseconds; undefined where there is at most one.
 * For limits on how often a schedule may run. (Where clocks go forward, two readings can be nearer by the skipped hour.)
 */
export function shortestInterval(expression: ScheduleExpression): number | undefined {
  switch (expression.kind) {
    case 'rate':
      return expression.periodMs;
    case 'at':
      return undefined;
    case 'cron':
      return shortestCronInterval(expression.cron);
  }
}

/** Days of the week and leap years repeat every 28 years (but for a century's end). */
const CYCLE_DAYS = 28 * 366;

function shortestCronInterval(cron: Cron): number | undefined {
  const times = cron.hours.flatMap((hour) => cron.minutes.map((minute) => (hour * 60 + minute) * MINUTE_MS));
  const gaps = times.slice(1).map((time, index) => time - (times[index] ?? 0));
  // Lists of a cron are never empty.
  const overnight = (times[0] ?? 0) - (times.at(-1) ?? 0);
  let before: number | undefined;
  let days = 0;
  for (const midnight of cronDays(cron, 0)) {
    if (before !== undefined) gaps.push(midnight - before + overnight);
    before = midnight;
    days += 1;
    if (days > CYCLE_DAYS) break;
  }
  if (days === 0 || gaps.length === 0) return undefined;
  return gaps.reduce((a, b) => Math.min(a, b));
}
