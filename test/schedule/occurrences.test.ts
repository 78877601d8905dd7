/** When schedules are due: tables of what the wall clocks of the world do, and of cron's days. */
import { describe, expect, it } from 'vitest';
import { parseSchedule } from '../../lib/schedule/expression.ts';
import { nextOccurrence, shortestInterval } from '../../lib/schedule/occurrences.ts';

/** Occurrences after `from` as ISO text to the minute, `count` at most. */
function occurrences(text: string, timezone: string, from: string, count: number): string[] {
  const expression = parseSchedule(text);
  const found: string[] = [];
  let after = Date.parse(from);
  while (found.length < count) {
    const next = nextOccurrence(expression, timezone, after);
    if (next === undefined) break;
    found.push(new Date(next).toISOString().replace(':00.000Z', 'Z'));
    after = next;
  }
  return found;
}

describe('clocks that go forward: the skipped hour has no occurrences', () => {
  it.each([
    [
      'Vienna, 2026-03-29: 02:00 is 03:00',
      'cron(30 2 * * ? *)',
      'Europe/Vienna',
      '2026-03-27T12:00Z',
      ['2026-03-28T01:30Z', '2026-03-30T00:30Z', '2026-03-31T00:30Z'],
    ],
    [
      'Vienna, every half hour',
      'cron(0/30 * * * ? *)',
      'Europe/Vienna',
      '2026-03-29T00:10Z',
      ['2026-03-29T00:30Z', '2026-03-29T01:00Z', '2026-03-29T01:30Z'],
    ],
    [
      'New York, 2026-03-08',
      'cron(15 2 ? * SUN *)',
      'America/New_York',
      '2026-02-28T12:00Z',
      ['2026-03-01T07:15Z', '2026-03-15T06:15Z'],
    ],
    [
      'Los Angeles, the example of the guide',
      'cron(30 2 * * ? *)',
      'America/Los_Angeles',
      '2026-03-07T00:00Z',
      ['2026-03-07T10:30Z', '2026-03-09T09:30Z'],
    ],
    [
      'Lord Howe, 2026-10-04: half an hour',
      'cron(0/15 2 * * ? *)',
      'Australia/Lord_Howe',
      '2026-10-03T12:00Z',
      ['2026-10-03T15:30Z', '2026-10-03T15:45Z', '2026-10-04T15:00Z'],
    ],
    [
      'Apia, 2011-12-30: a whole day',
      'cron(0 9 * * ? *)',
      'Pacific/Apia',
      '2011-12-28T12:00Z',
      ['2011-12-28T19:00Z', '2011-12-29T19:00Z', '2011-12-30T19:00Z'],
    ],
    ['Apia, only on that day', 'cron(0 9 30 12 ? 2011)', 'Pacific/Apia', '2011-12-01T00:00Z', []],
    [
      'Beirut, at midnight',
      'cron(0 0 * * ? *)',
      'Asia/Beirut',
      '2022-03-25T12:00Z',
      ['2022-03-25T22:00Z', '2022-03-27T21:00Z'],
    ],
    ['one time that never comes', 'at(2026-03-29T02:30:00)', 'Europe/Vienna', '2026-01-01T00:00Z', []],
  ])('%s', (_, text, timezone, from, expected) => {
    expect(occurrences(text, timezone, from, Math.max(expected.length, 1))).toEqual(expected);
  });
});

describe('clocks that go back: the doubled hour counts once, the first time', () => {
  it.each([
    [
      'Vienna, 2026-10-25: 03:00 is 02:00',
      'cron(30 2 * * ? *)',
      'Europe/Vienna',
      '2026-10-24T12:00Z',
      ['2026-10-25T00:30Z', '2026-10-26T01:30Z'],
    ],
    [
      'Vienna, every half hour',
      'cron(0/30 * * * ? *)',
      'Europe/Vienna',
      '2026-10-24T23:40Z',
      ['2026-10-25T00:00Z', '2026-10-25T00:30Z', '2026-10-25T02:00Z'],
    ],
    [
      'Vienna, looked at in the second hour',
      'cron(0/30 2 * * ? *)',
      'Europe/Vienna',
      '2026-10-25T01:10Z',
      ['2026-10-26T01:00Z'],
    ],
    [
      'New York, 2026-11-01',
      'cron(30 1 * * ? *)',
      'America/New_York',
      '2026-10-31T12:00Z',
      ['2026-11-01T05:30Z', '2026-11-02T06:30Z'],
    ],
    [
      'Lord Howe, 2026-04-05: half an hour',
      'cron(0/15 1 * * ? *)',
      'Australia/Lord_Howe',
      '2026-04-04T13:00Z',
      [
        '2026-04-04T14:00Z',
        '2026-04-04T14:15Z',
        '2026-04-04T14:30Z',
        '2026-04-04T14:45Z',
        '2026-04-05T14:30Z',
      ],
    ],
    ['one time', 'at(2026-10-25T02:30:00)', 'Europe/Vienna', '2026-01-01T00:00Z', ['2026-10-25T00:30Z']],
  ])('%s', (_, text, timezone, from, expected) => {
    expect(occurrences(text, timezone, from, expected.length)).toEqual(expected);
  });
});

describe('a rate does not look at clocks', () => {
  it.each(['2026-03-28T12:00Z', '2026-10-24T12:00Z'])('rate(1 day) in Vienna from %s is 24 hours', (from) => {
    const [first = '', second = ''] = occurrences('rate(1 day)', 'Europe/Vienna', from, 2);
    expect(Date.parse(first) - Date.parse(from)).toBe(86_400_000);
    expect(Date.parse(second) - Date.parse(first)).toBe(86_400_000);
  });

  it.each([
    ['before its anchor', '2026-01-01T00:00:00Z', '2026-01-01T06:00:00Z'],
    ['at its anchor', '2026-01-01T06:00:00Z', '2026-01-01T08:00:00Z'],
    ['between', '2026-01-01T09:59:59.999Z', '2026-01-01T10:00:00Z'],
    ['on one', '2026-01-01T10:00:00Z', '2026-01-01T12:00:00Z'],
  ])('counts from its anchor: %s', (_, after, expected) => {
    const anchor = Date.parse('2026-01-01T06:00:00Z');
    expect(nextOccurrence(parseSchedule('rate(2 hours)'), 'UTC', Date.parse(after), anchor)).toBe(
      Date.parse(expected),
    );
  });
});

describe('days', () => {
  it.each([
    ['leap days', 'cron(0 0 29 2 ? *)', ['2028-02-29T00:00Z', '2032-02-29T00:00Z']],
    ['no leap day in 2100', 'cron(0 0 29 2 ? 2097-2107)', ['2104-02-29T00:00Z']],
    ['the 31st', 'cron(0 0 31 * ? *)', ['2026-01-31T00:00Z', '2026-03-31T00:00Z', '2026-05-31T00:00Z']],
    ['last day', 'cron(0 0 L 1-3 ? *)', ['2026-01-31T00:00Z', '2026-02-28T00:00Z', '2026-03-31T00:00Z']],
    ['last day of a leap February', 'cron(0 0 L 2 ? 2028)', ['2028-02-29T00:00Z']],
    [
      'nearest weekday: Saturday the 3rd, Tuesday the 3rd, Sunday the 3rd',
      'cron(0 0 3W 1,3,5 ? *)',
      ['2026-01-02T00:00Z', '2026-03-03T00:00Z', '2026-05-04T00:00Z'],
    ],
    ['nearest to Saturday the 1st, not in July', 'cron(0 0 1W 8 ? 2026)', ['2026-08-03T00:00Z']],
    ['nearest to Sunday the 31st, not in June', 'cron(0 0 31W 5 ? 2026)', ['2026-05-29T00:00Z']],
    ['nearest to a 31st that is not there', 'cron(0 0 31W 6-7 ? 2026)', ['2026-07-31T00:00Z']],
    [
      'last Friday, the example of the guide',
      'cron(15 10 ? * 6L 2026)',
      ['2026-01-30T10:15Z', '2026-02-27T10:15Z'],
    ],
    ['second Tuesday', 'cron(0 0 ? * 3#2 *)', ['2026-01-13T00:00Z', '2026-02-10T00:00Z']],
    [
      'fifth Thursday, where there is one',
      'cron(0 0 ? * THU#5 *)',
      ['2026-01-29T00:00Z', '2026-04-30T00:00Z'],
    ],
    ['weekdays', 'cron(0 8 ? * MON-FRI *)', ['2026-01-01T08:00Z', '2026-01-02T08:00Z', '2026-01-05T08:00Z']],
    ['last day of the week', 'cron(0 0 ? * L *)', ['2026-01-03T00:00Z', '2026-01-10T00:00Z']],
    ['a year that is over', 'cron(0 0 1 1 ? 2020)', []],
    ['30 February', 'cron(0 0 30 2 ? *)', []],
    ['the end of years', 'cron(59 23 31 12 ? 2199)', ['2199-12-31T23:59Z']],
  ])('%s', (_, text, expected) => {
    const found = occurrences(text, 'UTC', '2026-01-01T00:00Z', Math.max(expected.length, 1));
    expect(found).toEqual(expected);
  });

  it('are the zone’s: midnight in Kiritimati is ten in the morning the day before', () => {
    expect(occurrences('cron(0 0 1 1 ? *)', 'Pacific/Kiritimati', '2026-06-01T00:00Z', 1)).toEqual([
      '2026-12-31T10:00Z',
    ]);
  });

  it('end: after the last there is none', () => {
    expect(occurrences('cron(0 0 1 1 ? 2198-2199)', 'UTC', '2190-01-01T00:00Z', 9)).toHaveLength(2);
    expect(occurrences('at(2026-01-01T08:00:00)', 'UTC', '2026-01-01T08:00Z', 1)).toEqual([]);
  });
});

describe('shortestInterval, in minutes', () => {
  it.each([
    ['rate(5 minutes)', 5],
    ['at(2026-01-01T08:00:00)', undefined],
    ['cron(* * * * ? *)', 1],
    ['cron(0/15 * * * ? *)', 15],
    ['cron(0 2 * * ? *)', 1440],
    ['cron(0,2 2 1 1 ? *)', 2],
    ['cron(0,59 0,23 * * ? *)', 1],
    ['cron(0,59 0,23 1 * ? *)', 59],
    ['cron(59 23 L * ? *)', 28 * 1440],
    ['cron(0 0 ? * MON,TUE *)', 1440],
    ['cron(0 0 1 1 ? 2030)', undefined],
    ['cron(0 0,1 30 2 ? *)', undefined],
  ])('%s', (text, minutes) => {
    expect(shortestInterval(parseSchedule(text))).toBe(minutes === undefined ? undefined : minutes * 60_000);
  });
});
