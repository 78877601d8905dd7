/**
 * AWS's cron dialect, read into sets of numbers: six fields, `minutes hours day-of-month month day-of-week year`.
 *
 *     *  ,  -  /   everywhere; a range may wrap around (hours 20-2, days FRI-MON), except in years
 *     ?            in exactly one of day-of-month and day-of-week: "any"
 *     L            day-of-month: the last day of the month; day-of-week: 7, or after a day: the month's last such day
 *     W            day-of-month: 3W is the weekday nearest to the 3rd, in the same month
 *     #            day-of-week: 3#2 is the month's second Tuesday; the only expression of its field
 *
 * Source: EventBridge Scheduler user guide, "Schedule types", "Cron-based schedules".
 */
import { ScheduleExpressionError } from './schedule-error.ts';

export interface Cron {
  /** Each in ascending order, without repeats. */
  minutes: readonly number[];
  hours: readonly number[];
  months: readonly number[];
  years: readonly number[];
  days: DayRule;
}

/** Which days of a month. Days of the week are 1 (Sunday) to 7. */
export type DayRule =
  | { kind: 'days'; days: readonly number[] }
  | { kind: 'lastDay' }
  | { kind: 'nearestWeekday'; day: number }
  | { kind: 'weekdays'; weekdays: readonly number[] }
  | { kind: 'lastWeekday'; weekday: number }
  | { kind: 'nthWeekday'; weekday: number; nth: number };

interface Field {
  name: string;
  min: number;
  max: number;
  names?: readonly string[];
  wraps: boolean;
}

const MONTHS = ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC'];
const WEEKDAYS = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT'];
const MINUTES: Field = { name: 'minutes', min: 0, max: 59, wraps: true };
const HOURS: Field = { name: 'hours', min: 0, max: 23, wraps: true };
const DAY_OF_MONTH: Field = { name: 'day-of-month', min: 1, max: 31, wraps: true };
const MONTH: Field = { name: 'month', min: 1, max: 12, names: MONTHS, wraps: true };
const DAY_OF_WEEK: Field = { name: 'day-of-week', min: 1, max: 7, names: WEEKDAYS, wraps: true };
const YEAR: Field = { name: 'year', min: 1970, max: 2199, wraps: false };

/** @param content what stands between the parentheses. Throws `ScheduleExpressionError`. */
export function parseCron(content: string): Cron {
  const fields = content.split(' ');
  const [minutes, hours, dayOfMonth, month, dayOfWeek, year] = fields;
  if (
    minutes === undefined ||
    hours === undefined ||
    dayOfMonth === undefined ||
    month === undefined ||
    dayOfWeek === undefined ||
    year === undefined ||
    fields.length > 6
  ) {
    const hint = /^\s|\s\s|\s$/.test(content)
      ? ' by its spaces; there is one space between two fields, and none around them'
      : fields.length === 5
        ? '; the year is usually *'
        : '';
    throw new ScheduleExpressionError(
      `cron(${content}): a cron expression has 6 fields (minutes hours day-of-month month day-of-week year), this one has ${content === '' ? 0 : fields.length}${hint}`,
    );
  }
  return {
    minutes: parseValues(MINUTES, minutes),
    hours: parseValues(HOURS, hours),
    days: parseDays(content, dayOfMonth, dayOfWeek),
    months: parseValues(MONTH, month),
    years: parseValues(YEAR, year),
  };
}

function parseDays(content: string, dayOfMonth: string, dayOfWeek: string): DayRule {
  if ((dayOfMonth === '?') === (dayOfWeek === '?')) {
    const both = dayOfMonth === '?' ? 'both are ?' : 'neither is';
    throw new ScheduleExpressionError(
      `cron(${content}): exactly one of day-of-month and day-of-week must be ?, ${both}; write ${exampleOfDays(dayOfMonth, dayOfWeek)}`,
    );
  }
  return dayOfWeek === '?' ? parseDayOfMonth(dayOfMonth) : parseDayOfWeek(dayOfWeek);
}

function exampleOfDays(dayOfMonth: string, dayOfWeek: string): string {
  if (dayOfMonth === '?' || (dayOfMonth === '*' && dayOfWeek === '*'))
    return 'day-of-month * and day-of-week ?';
  return dayOfMonth === '*'
    ? `day-of-month ? and day-of-week ${dayOfWeek}`
    : `day-of-month ${dayOfMonth} and day-of-week ?`;
}

function parseDayOfMonth(text: string): DayRule {
  if (text === 'L') return { kind: 'lastDay' };
  const weekday = /^(\d{1,2})W$/.exec(text)?.[1];
  if (weekday !== undefined) return { kind: 'nearestWeekday', day: numberOf(DAY_OF_MONTH, text, weekday) };
  if (/[LW#]/.test(text)) {
    throw fault(DAY_OF_MONTH, text, 'L (the last day) and 3W (the weekday nearest to the 3rd) stand alone');
  }
  return { kind: 'days', days: parseValues(DAY_OF_MONTH, text) };
}

function parseDayOfWeek(text: string): DayRule {
  if (text === 'L') return { kind: 'weekdays', weekdays: [7] };
  const last = /^([A-Z]{3}|\d)L$/.exec(text)?.[1];
  if (last !== undefined) return { kind: 'lastWeekday', weekday: numberOf(DAY_OF_WEEK, text, last) };
  const [, weekday, nth] = /^([A-Z]{3}|\d)#(\d)$/.exec(text) ?? [];
  if (weekday !== undefined && nth !== undefined) {
    if (Number(nth) < 1 || Number(nth) > 5) throw fault(DAY_OF_WEEK, text, 'after # stands 1 to 5');
    return { kind: 'nthWeekday', weekday: numberOf(DAY_OF_WEEK, text, weekday), nth: Number(nth) };
  }
  // The L of no day's name is one.
  if (/#|\dL|^L|L$/.test(text)) {
    throw fault(DAY_OF_WEEK, text, '6L (the last Friday) and 3#2 (the second Tuesday) stand alone');
  }
  return { kind: 'weekdays', weekdays: parseValues(DAY_OF_WEEK, text) };
}

/** A list of values, ranges and steps, as the numbers that it stands for. */
function parseValues(field: Field, text: string): number[] {
  const values = new Set<number>();
  for (const item of text.split(',')) {
    for (const value of parseItem(field, text, item)) values.add(value);
  }
  return [...values].sort((a, b) => a - b);
}

function parseItem(field: Field, text: string, item: string): number[] {
  const [range = '', step, more] = item.split('/');
  if (range === '' || more !== undefined) throw fault(field, text);
  const every = step === undefined ? 1 : stepOf(field, text, step);
  if (range === '*') return numbers(field, field.min, field.max, every);
  const [first = '', last, another] = range.split('-');
  if (another !== undefined) throw fault(field, text);
  const from = numberOf(field, text, first);
  // 10/5 goes on to the field's end; 10 alone is itself.
  if (last === undefined) return numbers(field, from, step === undefined ? from : field.max, every);
  const to = numberOf(field, text, last);
  if (to < from && !field.wraps) throw fault(field, text, `${range} ends before it begins`);
  return numbers(field, from, to, every);
}

/** From `from` up to `to`, past the field's end and on from its beginning where `to` is smaller. */
function numbers(field: Field, from: number, to: number, every: number): number[] {
  const size = field.max - field.min + 1;
  const end = to < from ? to + size : to;
  const found: number[] = [];
  for (let value = from; value <= end; value += every) {
    found.push(value > field.max ? value - size : value);
  }
  return found;
}

function stepOf(field: Field, text: string, step: string): number {
  const value = /^\d{1,4}$/.test(step) ? Number(step) : 0;
  const most = field === YEAR ? field.max - field.min : field.max;
  if (value < 1 || value > most) throw fault(field, text, `after / stands 1 to ${most}`);
  return value;
}

function numberOf(field: Field, text: string, value: string): number {
  const named = field.names?.indexOf(value) ?? -1;
  if (named >= 0) return named + field.min;
  const number = /^\d{1,4}$/.test(value) ? Number(value) : Number.NaN;
  if (!(number >= field.min && number <= field.max)) {
    const upper = field.names?.includes(value.toUpperCase())
      ? `names are in capitals, ${value.toUpperCase()}`
      : '';
    throw fault(field, text, upper);
  }
  return number;
}

function fault(field: Field, text: string, why = ''): ScheduleExpressionError {
  const names = field.names === undefined ? '' : ` or ${field.names[0]}-${field.names.at(-1)}`;
  const hint = field === DAY_OF_WEEK && /\b0\b/.test(text) ? '; Sunday is 1' : '';
  return new ScheduleExpressionError(
    `cron: ${field.name} "${text}" is not understood${why === '' ? '' : `: ${why}`}; its values are ${field.min}-${field.max}${names}, with , - * /${hint}`,
  );
}
