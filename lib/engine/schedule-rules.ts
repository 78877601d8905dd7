/** When a schedule may run: is its expression one that EventBridge Scheduler takes, does it ever come, and not too often? */
import { parseSchedule, type ScheduleExpression } from '../schedule/expression.ts';
import { nextOccurrence, shortestInterval } from '../schedule/occurrences.ts';
import { ScheduleExpressionError } from '../schedule/schedule-error.ts';
import { checkTimezone, wallAt } from '../schedule/timezone.ts';
import { EngineError } from './errors.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/** Clocks go forward once a year at most; where a zone changes its rules, nobody knows further ahead. */
const LOOK_AHEAD_DAYS = 2 * 366;

export interface ScheduleTimes {
  expression: string;
  timezone: string;
}

/**
 * @param mustCome whether it is an error that it never comes again
 * @throws EngineError Invalid, with what is wrong and what would do.
 */
export function checkTimes(
  { expression, timezone }: ScheduleTimes,
  minMinutes: number,
  now: number,
  mustCome: boolean,
): void {
  const parsed = readTimes({ expression, timezone });
  if (mustCome && nextOccurrence(parsed, timezone, now) === undefined) {
    throw new EngineError(
      'Invalid',
      `schedule: ${expression} never comes again in ${timezone}; give a time that lies ahead`,
    );
  }
  const shortest = Math.min(
    shortestInterval(parsed) ?? Number.POSITIVE_INFINITY,
    parsed.kind === 'cron' ? shortestAtClockChange(parsed, timezone, now) : Number.POSITIVE_INFINITY,
  );
  if (shortest >= minMinutes * MINUTE_MS) return;
  const minutes = Math.round(shortest / MINUTE_MS);
  throw new EngineError(
    'Invalid',
    `schedule: ${expression} in ${timezone} comes again after ${minutes} ${minutes === 1 ? 'minute' : 'minutes'} at the shortest; ${minMinutes} is the least allowed here`,
  );
}

/** @throws EngineError Invalid */
function readTimes({ expression, timezone }: ScheduleTimes): ScheduleExpression {
  told('timezone', () => checkTimezone(timezone));
  return told('schedule', () => parseSchedule(expression));
}

function told<T>(place: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof ScheduleExpressionError)) throw error;
    throw new EngineError('Invalid', `${place}: ${error.message}`, { cause: error });
  }
}

/**
 * Where clocks go forward two readings come nearer to each other by the skipped hour: 01:58 and 03:00 are two minutes apart that
 * night. Milliseconds, or infinity.
 */
function shortestAtClockChange(cron: ScheduleExpression, timezone: string, now: number): number {
  let shortest = Number.POSITIVE_INFINITY;
  const offsetAt = (instant: number): number => wallAt(timezone, instant) - instant;
  let offset = offsetAt(now);
  for (let day = 1; day <= LOOK_AHEAD_DAYS; day += 1) {
    const until = now + day * DAY_MS;
    const before = offset;
    offset = offsetAt(until);
    if (offset <= before) continue;
    let last: number | undefined;
    let next = nextOccurrence(cron, timezone, until - 2 * DAY_MS);
    while (next !== undefined && next < until + DAY_MS) {
      if (last !== undefined) shortest = Math.min(shortest, next - last);
      last = next;
      next = nextOccurrence(cron, timezone, next);
    }
  }
  return shortest;
}

/** The next occurrence after `now` as ISO time. Undefined: there is none, or (a rate) it counts from when Scheduler took it. */
export function nextTime({ expression, timezone }: ScheduleTimes, now: number): string | undefined {
  const parsed = parseSchedule(expression);
  const next = parsed.kind === 'rate' ? undefined : nextOccurrence(parsed, timezone, now);
  return next === undefined ? undefined : new Date(next).toISOString();
}
