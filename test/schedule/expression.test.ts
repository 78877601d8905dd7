/** What is a schedule expression, and what is said of one that is none. */
import { describe, expect, it } from 'vitest';
import { parseSchedule } from '../../lib/schedule/expression.ts';
import { ScheduleExpressionError } from '../../lib/schedule/schedule-error.ts';
import { checkTimezone } from '../../lib/schedule/timezone.ts';

describe('a schedule expression', () => {
  it.each([
    ['rate(1 minute)', 60_000],
    ['rate(15 minutes)', 900_000],
    ['rate(1 hour)', 3_600_000],
    ['rate(10 days)', 864_000_000],
    ['rate(2 minute)', 120_000],
  ])('%s', (text, periodMs) => {
    expect(parseSchedule(text)).toEqual({ kind: 'rate', periodMs });
  });

  it('at(2028-02-29T23:59:59)', () => {
    expect(parseSchedule('at(2028-02-29T23:59:59)')).toEqual({
      kind: 'at',
      wall: Date.UTC(2028, 1, 29, 23, 59, 59),
    });
  });

  it.each([
    ['0/20 8-10 * 1,MAR ? 2026-2028', [0, 20, 40], [8, 9, 10], [1, 3], [2026, 2027, 2028]],
    [
      '5/10 22-2 L FEB-APR ? 2190/4',
      [5, 15, 25, 35, 45, 55],
      [0, 1, 2, 22, 23],
      [2, 3, 4],
      [2190, 2194, 2198],
    ],
    ['*/30 */12 * DEC-FEB/2 ? 2030', [0, 30], [0, 12], [2, 12], [2030]],
    ['30 0-23/6 1W 5,5,4 ? 2199', [30], [0, 6, 12, 18], [4, 5], [2199]],
  ])('cron(%s)', (content, minutes, hours, months, years) => {
    expect(parseSchedule(`cron(${content})`)).toMatchObject({
      kind: 'cron',
      cron: { minutes, hours, months, years },
    });
  });

  it.each([
    ['* ?', { kind: 'days', days: Array.from({ length: 31 }, (_, day) => day + 1) }],
    ['28-3 ?', { kind: 'days', days: [1, 2, 3, 28, 29, 30, 31] }],
    ['L ?', { kind: 'lastDay' }],
    ['15W ?', { kind: 'nearestWeekday', day: 15 }],
    ['? MON-FRI', { kind: 'weekdays', weekdays: [2, 3, 4, 5, 6] }],
    ['? FRI-MON', { kind: 'weekdays', weekdays: [1, 2, 6, 7] }],
    ['? 1,SAT', { kind: 'weekdays', weekdays: [1, 7] }],
    ['? L', { kind: 'weekdays', weekdays: [7] }],
    ['? 6L', { kind: 'lastWeekday', weekday: 6 }],
    ['? FRIL', { kind: 'lastWeekday', weekday: 6 }],
    ['? 3#2', { kind: 'nthWeekday', weekday: 3, nth: 2 }],
    ['? TUE#2', { kind: 'nthWeekday', weekday: 3, nth: 2 }],
  ])('days %s', (days, rule) => {
    const [dayOfMonth, dayOfWeek] = days.split(' ');
    expect(parseSchedule(`cron(0 0 ${dayOfMonth} * ${dayOfWeek} *)`)).toMatchObject({
      cron: { days: rule },
    });
  });
});

describe('what is none', () => {
  it.each([
    ['', 'is no schedule'],
    ['0 2 * * *', 'cron(minutes hours day-of-month month day-of-week year)'],
    ['CRON(0 2 * * ? *)', 'is no schedule'],
    ['cron(0 2 * * ? *) ', 'is no schedule'],
    [`rate(${'1'.repeat(300)} days)`, 'at most 256 characters'],
    ['rate(5)', 'such as rate(15 minutes)'],
    ['rate(5 seconds)', 'minutes, hours or days'],
    ['rate(1.5 hours)', 'whole number'],
    ['rate(-1 hours)', 'whole number'],
    ['rate(0 minutes)', '0 is no interval'],
    ['rate(99999999999 days)', 'too long an interval'],
    ['rate(1 minutes)', 'write rate(1 minute)'],
    ['rate( 10 minutes )', 'such as rate(15 minutes)'],
    ['at(2026-01-01)', 'yyyy-mm-ddThh:mm:ss'],
    ['at(2026-01-01T08:00:00Z)', 'without a zone'],
    ['at(2026-02-29T08:00:00)', 'no such date'],
    ['at(2026-02-28T24:00:00)', 'no such date'],
    ['cron(0 2 * * ?)', 'has 5; the year is usually *'],
    ['cron()', 'has 0'],
    ['cron(0 0 2 * * ? *)', 'has 7'],
    ['cron( 0 2 * * ? *)', 'has 7 by its spaces'],
    ['cron(0  2 * * ? *)', 'one space between two fields'],
    ['cron(0 2 * * * *)', 'neither is; write day-of-month * and day-of-week ?'],
    ['cron(0 2 * * MON *)', 'write day-of-month ? and day-of-week MON'],
    ['cron(0 2 1 * MON *)', 'write day-of-month 1 and day-of-week ?'],
    ['cron(0 2 ? * ? *)', 'both are ?'],
    ['cron(60 2 * * ? *)', 'minutes "60" is not understood; its values are 0-59'],
    ['cron(0 24 * * ? *)', 'hours "24"'],
    ['cron(0 2 0 * ? *)', 'day-of-month "0"'],
    ['cron(0 2 32 * ? *)', 'day-of-month "32"'],
    ['cron(0 2 * 13 ? *)', 'month "13" is not understood; its values are 1-12 or JAN-DEC'],
    ['cron(0 2 * MON ? *)', 'month "MON"'],
    ['cron(0 2 ? * 0 *)', 'Sunday is 1'],
    ['cron(0 2 ? * 8 *)', 'day-of-week "8"'],
    ['cron(0 2 ? * mon *)', 'names are in capitals, MON'],
    ['cron(0 2 ? * MONDAY *)', 'day-of-week "MONDAY"'],
    ['cron(0 2 * * ? 1969)', 'its values are 1970-2199'],
    ['cron(0 2 * * ? 2200)', 'year "2200"'],
    ['cron(0 2 * * ? 2030-2026)', '2030-2026 ends before it begins'],
    ['cron(*/60 * * * ? *)', 'after / stands 1 to 59'],
    ['cron(*/0 * * * ? *)', 'after / stands'],
    ['cron(/5 * * * ? *)', 'minutes "/5"'],
    ['cron(1/2/3 * * * ? *)', 'minutes "1/2/3"'],
    ['cron(1-2-3 * * * ? *)', 'minutes "1-2-3"'],
    ['cron(1, * * * ? *)', 'minutes "1,"'],
    ['cron(? * * * ? *)', 'minutes "?"'],
    ['cron(0 2 LW * ? *)', 'stand alone'],
    ['cron(0 2 L-3 * ? *)', 'stand alone'],
    ['cron(0 2 1,L * ? *)', 'stand alone'],
    ['cron(0 2 32W * ? *)', 'day-of-month "32W"'],
    ['cron(0 2 ? * 3#6 *)', 'after # stands 1 to 5'],
    ['cron(0 2 ? * 3#1,6#3 *)', 'stand alone'],
    ['cron(0 2 ? * 2,6L *)', 'stand alone'],
    ['cron(0 2 ? * MON-FRI#1 *)', 'stand alone'],
  ])('%s', (text, said) => {
    const parse = (): unknown => parseSchedule(text);
    expect(parse).toThrow(ScheduleExpressionError);
    expect(parse).toThrow(said);
  });
});

/** AWS refused these in a recorded run of a public test suite of others, with `Invalid Schedule Expression ...`. */
describe('what AWS is known to refuse', () => {
  it.each([
    'cron(0 1 * * * *)',
    'cron(7 20 * * NOT *)',
    'cron(INVALID)',
    'cron(0 dummy ? * MON-FRI *)',
    'cron(71 8 1 * ? *)',
    'cron()',
    'rate(10 seconds)',
    'rate(10 years)',
    'rate()',
    'rate(10)',
    'rate(10 minutess)',
    'rate(foo minutes)',
    'rate(-10 minutes)',
    'rate( 10 minutes )',
    ' rate(10 minutes)',
    'at(2021-12-31T23:59:59Z)',
    'at(2021-12-31)',
  ])('%s', (text) => {
    expect(() => parseSchedule(text)).toThrow(ScheduleExpressionError);
  });
});

describe('a time zone', () => {
  it.each([
    'UTC',
    'Europe/Vienna',
    'Asia/Calcutta',
    'Asia/Kolkata',
    'Etc/GMT+5',
    'EST5EDT',
    'America/Argentina/Ushuaia',
  ])('%s', (name) => {
    expect(() => checkTimezone(name)).not.toThrow();
  });

  it.each([
    ['europe/vienna', 'did you mean "Europe/Vienna"?'],
    ['Europe/Viena', 'did you mean "Europe/Vienna"?'],
    ['+01:00', 'names are those of the IANA database'],
    ['', 'names are those of the IANA database'],
    ['Mars/Olympus', 'names are those of the IANA database'],
  ])('%s is none', (name, said) => {
    const check = (): void => checkTimezone(name);
    expect(check).toThrow(ScheduleExpressionError);
    expect(check).toThrow(said);
  });
});
