/**
 * Wall clocks of IANA time zones, from the zone data that Node brings along.
 *
 * A wall clock's reading is written as the epoch milliseconds that it would be in UTC ("wall"). Of a reading that comes twice
 * (clocks go back) the first moment is meant; one that never comes (clocks go forward, a day left out) has none.
 */
import { nearestName } from '../blueprint/suggest.ts';
import { ScheduleExpressionError } from './schedule-error.ts';

/** More than any zone is ahead of or behind UTC. */
const MOST_MS = 16 * 3_600_000;

/** Throws `ScheduleExpressionError` for what is not a time zone's name of the IANA database, spelled as it is there. */
export function checkTimezone(name: string): void {
  const known = canonicalName(name);
  // Offsets such as +01:00 are zones to Intl, not to AWS.
  if (known !== undefined && /^[A-Za-z]/.test(name)) {
    if (known === name || known.toLowerCase() !== name.toLowerCase()) return;
    throw new ScheduleExpressionError(`"${name}" is no time zone; did you mean "${known}"?`);
  }
  const near = nearestName(name, Intl.supportedValuesOf('timeZone'));
  const hint =
    near === undefined
      ? 'names are those of the IANA database, such as "Europe/Vienna" or "UTC"'
      : `did you mean "${near}"?`;
  throw new ScheduleExpressionError(`"${name}" is no time zone; ${hint}`);
}

function canonicalName(name: string): string | undefined {
  try {
    return new Intl.DateTimeFormat('en-US', { timeZone: name }).resolvedOptions().timeZone;
  } catch {
    return undefined;
  }
}

/** What the zone's wall clock shows at `instant` (epoch milliseconds, either way). */
export function wallAt(zone: string, instant: number): number {
  const parts: Partial<Record<Intl.DateTimeFormatPartTypes, string>> = {};
  for (const { type, value } of formatOf(zone).formatToParts(instant)) parts[type] = value;
  const { year, month, day, hour, minute, second } = parts;
  const wall = Date.UTC(
    Number(year),
    Number(month) - 1,
    Number(day),
    Number(hour),
    Number(minute),
    Number(second),
  );
  const milliseconds = ((instant % 1000) + 1000) % 1000;
  return wall + milliseconds;
}

/** The first moment at which the zone's wall clock shows `wall`; undefined where it never does. */
export function instantOf(zone: string, wall: number): number | undefined {
  const offsets = new Set(
    [wall - MOST_MS, wall, wall + MOST_MS].map((instant) => wallAt(zone, instant) - instant),
  );
  const found = [...offsets]
    .map((offset) => wall - offset)
    .filter((instant) => wallAt(zone, instant) === wall);
  return found.length === 0 ? undefined : Math.min(...found);
}

const formats = new Map<string, Intl.DateTimeFormat>();
/** A formatter costs a hundred times what using it costs. There are a few hundred zones. */
function formatOf(zone: string): Intl.DateTimeFormat {
  const known = formats.get(zone);
  if (known !== undefined) return known;
  const made = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    calendar: 'gregory',
    numberingSystem: 'latn',
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  formats.set(zone, made);
  return made;
}
