/** Which days of a month a cron expression's day rule means. Months are 1 to 12, days of the week 1 (Sunday) to 7. */
import type { DayRule } from './cron.ts';

const SATURDAY = 7;
const SUNDAY = 1;

/** In ascending order; `[]` where the month has none (the 31st of June, a fifth Monday that is not there). */
export function daysOfMonth(rule: DayRule, year: number, month: number): number[] {
  const length = daysIn(year, month);
  switch (rule.kind) {
    case 'days':
      return rule.days.filter((day) => day <= length);
    case 'lastDay':
      return [length];
    case 'nearestWeekday':
      return rule.day > length ? [] : [nearestWeekday(year, month, rule.day, length)];
    case 'weekdays':
      return range(length).filter((day) => rule.weekdays.includes(weekdayOf(year, month, day)));
    case 'lastWeekday':
      return range(length)
        .filter((day) => weekdayOf(year, month, day) === rule.weekday)
        .slice(-1);
    case 'nthWeekday':
      return range(length)
        .filter((day) => weekdayOf(year, month, day) === rule.weekday)
        .slice(rule.nth - 1, rule.nth);
  }
}

/** Saturday goes back to Friday, Sunday on to Monday; never into another month. */
function nearestWeekday(year: number, month: number, day: number, length: number): number {
  switch (weekdayOf(year, month, day)) {
    case SATURDAY:
      return day === 1 ? day + 2 : day - 1;
    case SUNDAY:
      return day === length ? day - 2 : day + 1;
    default:
      return day;
  }
}

function daysIn(year: number, month: number): number {
  return new Date(Date.UTC(year, month, 0)).getUTCDate();
}

function weekdayOf(year: number, month: number, day: number): number {
  return new Date(Date.UTC(year, month - 1, day)).getUTCDay() + 1;
}

function range(length: number): number[] {
  return Array.from({ length }, (_, index) => index + 1);
}
