/**
 * Occurrences against what anybody can do: look at a zone's wall clock every minute, and take down each reading that the
 * expression means, the first time it comes.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseSchedule, type ScheduleExpression } from '../../lib/schedule/expression.ts';
import { nextOccurrence, shortestInterval } from '../../lib/schedule/occurrences.ts';

const MINUTE_MS = 60_000;
/** Moments shortly before a wall clock of the zone jumps, and quiet ones. */
const PLACES: readonly (readonly [string, string])[] = [
  ['Europe/Vienna', '2026-03-28T20:00Z'],
  ['Europe/Vienna', '2026-10-24T20:00Z'],
  ['America/New_York', '2026-03-08T00:00Z'],
  ['America/New_York', '2026-11-01T00:00Z'],
  ['Australia/Lord_Howe', '2026-04-04T08:00Z'],
  ['Australia/Lord_Howe', '2026-10-03T08:00Z'],
  ['Pacific/Apia', '2011-12-29T20:00Z'],
  ['Africa/Casablanca', '2026-02-14T20:00Z'],
  ['Asia/Kathmandu', '2026-02-27T20:00Z'],
  ['America/St_Johns', '2026-11-01T00:00Z'],
  ['UTC', '2028-02-28T20:00Z'],
];
const WINDOW_MINUTES = 30 * 60;

interface Fields {
  minutes: number[];
  hours: number[];
  /** Days of the week from 1 (Sunday); undefined: every day. */
  weekdays: number[] | undefined;
}
const some = (min: number, max: number) =>
  fc.uniqueArray(fc.integer({ min, max }), { minLength: 1, maxLength: 5 });
const fields: fc.Arbitrary<Fields> = fc.record({
  minutes: some(0, 59),
  hours: fc.oneof(some(0, 23), some(0, 3), fc.constant(Array.from({ length: 24 }, (_, hour) => hour))),
  weekdays: fc.option(some(1, 7), { nil: undefined }),
});
const textOf = ({ minutes, hours, weekdays }: Fields): string =>
  weekdays === undefined
    ? `cron(${minutes} ${hours} * * ? *)`
    : `cron(${minutes} ${hours} ? * ${weekdays} *)`;

const formats = new Map<string, Intl.DateTimeFormat>();
function wallClock(
  zone: string,
  instant: number,
): { reading: string; minute: number; hour: number; weekday: number } {
  let format = formats.get(zone);
  if (format === undefined) {
    format = new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'short' });
    formats.set(zone, format);
  }
  const reading = format.format(instant); // 2026-03-29 02:30
  const [date = '', time = ''] = reading.split(' ');
  const [hour, minute] = time.split(':').map(Number);
  return { reading, hour: hour ?? 0, minute: minute ?? 0, weekday: new Date(date).getUTCDay() + 1 };
}

function watched({ minutes, hours, weekdays }: Fields, zone: string, from: number): number[] {
  const seen = new Set<string>();
  const found: number[] = [];
  // From a day before: readings that come a second time just after `from` came the first time before it.
  for (let minute = -24 * 60; minute <= WINDOW_MINUTES; minute += 1) {
    const instant = from + minute * MINUTE_MS;
    const wall = wallClock(zone, instant);
    if (seen.has(wall.reading)) continue;
    seen.add(wall.reading);
    const due =
      minutes.includes(wall.minute) &&
      hours.includes(wall.hour) &&
      (weekdays?.includes(wall.weekday) ?? true);
    if (due && instant > from) found.push(instant);
  }
  return found;
}

function computed(expression: ScheduleExpression, zone: string, from: number): number[] {
  const found: number[] = [];
  for (let after = from; ; ) {
    const next = nextOccurrence(expression, zone, after);
    if (next === undefined || next > from + WINDOW_MINUTES * MINUTE_MS) return found;
    found.push(next);
    after = next;
  }
}

describe('occurrences of cron expressions', () => {
  it('are those that somebody sees who watches the clock', () => {
    fc.assert(
      fc.property(
        fields,
        fc.constantFrom(...PLACES),
        fc.integer({ min: 0, max: 20 * 60 }),
        (cron, [zone, near], minutes) => {
          const from = Date.parse(near) + minutes * MINUTE_MS;
          expect(computed(parseSchedule(textOf(cron)), zone, from)).toEqual(watched(cron, zone, from));
        },
      ),
      { numRuns: 40 },
    );
  }, 60_000);

  it('strictly increase, and are the same from wherever one looks between two', () => {
    fc.assert(
      fc.property(
        fields,
        fc.constantFrom(...PLACES),
        fc.integer({ min: 0, max: 2 ** 40 }),
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        (cron, [zone], from, share) => {
          const expression = parseSchedule(textOf(cron));
          const first = nextOccurrence(expression, zone, from);
          // A weekly one comes within a fortnight, whatever the clock skips.
          expect(first).toBeDefined();
          if (first === undefined) return;
          expect(first).toBeGreaterThan(from);
          expect(first - from).toBeLessThan(15 * 86_400_000);
          const between = from + Math.floor((first - from) * share);
          expect(nextOccurrence(expression, zone, between)).toBe(first);
        },
      ),
      { numRuns: 300 },
    );
  });

  it('are never nearer than the shortest interval, in a zone without jumps', () => {
    fc.assert(
      fc.property(fields, fc.integer({ min: 0, max: 2 ** 41 }), (cron, from) => {
        const expression = parseSchedule(textOf(cron));
        const shortest = shortestInterval(expression) ?? 0;
        const times = computed(expression, 'UTC', from);
        for (const [index, time] of times.slice(1).entries()) {
          expect(time - (times[index] ?? 0)).toBeGreaterThanOrEqual(shortest);
        }
      }),
      { numRuns: 50 },
    );
  });
});
