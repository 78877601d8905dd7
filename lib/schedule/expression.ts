/**
 * Schedule expressions of EventBridge Scheduler, read: `cron(...)`, `rate(...)`, `at(...)`.
 *
 * What is read here is what AWS documents or has been seen to take, no more: an expression that passes is taken by AWS too.
 * What merely might work there (`LW`, `L-3`, names in lower case, five fields, more than one space) is refused with the way
 * to write it.
 *
 * Source: EventBridge Scheduler user guide, "Schedule types".
 */
import { type Cron, parseCron } from './cron.ts';
import { ScheduleExpressionError } from './schedule-error.ts';

export type ScheduleExpression =
  | { kind: 'cron'; cron: Cron }
  | { kind: 'rate'; periodMs: number }
  /** `wall`: the wall clock's reading as if it were UTC, in epoch milliseconds. */
  | { kind: 'at'; wall: number };

/** AWS's limit, type CreateSchedule. */
const MAX_LENGTH = 256;
const UNIT_MS = { minute: 60_000, hour: 3_600_000, day: 86_400_000 } as const;

/** Throws `ScheduleExpressionError`, whose message says what is wrong, what came and what would do. */
export function parseSchedule(text: string): ScheduleExpression {
  if (text.length > MAX_LENGTH) {
    throw new ScheduleExpressionError(
      `a schedule has at most ${MAX_LENGTH} characters; this one has ${text.length}`,
    );
  }
  const match = /^(cron|rate|at)\((.*)\)$/.exec(text);
  const content = match?.[2] ?? '';
  switch (match?.[1]) {
    case 'cron':
      return { kind: 'cron', cron: parseCron(content) };
    case 'rate':
      return { kind: 'rate', periodMs: parseRate(content) };
    case 'at':
      return { kind: 'at', wall: parseAt(content) };
    default:
      throw new ScheduleExpressionError(
        `"${text}" is no schedule; write cron(minutes hours day-of-month month day-of-week year), such as cron(0 2 * * ? *), or rate(15 minutes), or at(2030-01-31T08:30:00)`,
      );
  }
}

function parseRate(content: string): number {
  const match = /^([0-9]+) (minute|hour|day)(s?)$/.exec(content);
  const value = Number(match?.[1]);
  const unit = match?.[2] as keyof typeof UNIT_MS | undefined;
  if (match === null || unit === undefined) {
    throw new ScheduleExpressionError(
      `rate(${content}): a rate is a whole number and minutes, hours or days, such as rate(15 minutes)`,
    );
  }
  if (value < 1 || !Number.isSafeInteger(value * UNIT_MS[unit])) {
    throw new ScheduleExpressionError(
      `rate(${content}): ${match[1]} is ${value < 1 ? 'no' : 'too long an'} interval`,
    );
  }
  // AWS takes rate(2 minute); it documents neither that nor the opposite for rate(1 minutes).
  if (value === 1 && match[3] === 's') {
    throw new ScheduleExpressionError(`rate(${content}): write rate(1 ${unit})`);
  }
  return value * UNIT_MS[unit];
}

function parseAt(content: string): number {
  const match = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)$/.exec(content);
  if (match === null) {
    throw new ScheduleExpressionError(
      `at(${content}): a time is yyyy-mm-ddThh:mm:ss without a zone, such as at(2030-01-31T08:30:00); the zone is the schedule's time zone`,
    );
  }
  const wall = Date.parse(`${content}Z`);
  // Date.parse takes 24:00:00 and, in some engines, 30 February.
  if (Number.isNaN(wall) || new Date(wall).toISOString() !== `${content}.000Z`) {
    throw new ScheduleExpressionError(`at(${content}): there is no such date and time`);
  }
  return wall;
}
