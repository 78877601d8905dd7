/**
 * Comparing what the interpreter did with what AWS recorded, by the rules of the data's README: texts that held JSON
 * objects are parsed, volatile places match loosely, and the order of events counts as far as it was deterministic.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Json, JsonObject } from '../../../../lib/blueprint/json.ts';
import { isJsonObject } from '../../../../lib/blueprint/json.ts';
import type { HistoryEvent } from '../../../../lib/local/step-functions/contract.ts';
import { detailsOf } from '../interpreter/execute.ts';
import type { RecordedCase, RecordedEvent } from './cases.ts';

const FIELDS = [
  'name',
  'error',
  'cause',
  'location',
  'state',
  'index',
  'length',
  'resource',
  'resourceType',
  'timeoutInSeconds',
  'heartbeatInSeconds',
];
const JSON_FIELDS = ['input', 'output', 'parameters'];

/** An event of ours in the shape of the data. */
export function asRecorded(event: HistoryEvent): RecordedEvent {
  const details = detailsOf(event);
  const recorded: RecordedEvent = { type: event.type, id: event.id, previousEventId: event.previousEventId };
  for (const field of FIELDS) if (details[field] !== undefined) recorded[field] = details[field];
  for (const field of JSON_FIELDS) {
    const text = details[field];
    if (typeof text === 'string') recorded[field] = JSON.parse(text) as Json;
  }
  if (recorded.cause !== undefined) recorded.cause = parsedObject(recorded.cause);
  if (isJsonObject(details.assignedVariables)) {
    recorded.assignedVariables = Object.fromEntries(
      Object.entries(details.assignedVariables).map(([name, text]) => [
        name,
        JSON.parse(String(text)) as Json,
      ]),
    );
  }
  return recorded;
}

/** A text that starts with `{` and is JSON becomes the object, as in the data. */
export function parsedObject(value: Json): Json {
  if (typeof value !== 'string' || !value.startsWith('{')) return value;
  try {
    return JSON.parse(value) as Json;
  } catch {
    return value;
  }
}

/** @returns what differs, in words; empty where nothing does */
export function differences(recorded: RecordedCase, got: JsonObject, events: RecordedEvent[]): string[] {
  const found: string[] = [];
  const match = matcher(recorded.volatile);
  const { events: expectedEvents, ...expected } = recorded.expect;
  compare(expected as unknown as Json, got, '', match, found);
  if (expectedEvents === undefined) return found;
  const pairs = align(recorded, expectedEvents, events);
  if (typeof pairs === 'string') return [...found, pairs];
  for (const [expectedEvent, event, index] of pairs)
    compare(expectedEvent, event, `/events/${index}`, match, found);
  return found;
}

type Pair = [expected: RecordedEvent, got: RecordedEvent, index: number];

function align(recorded: RecordedCase, expected: RecordedEvent[], got: RecordedEvent[]): Pair[] | string {
  // A Map of several items at once is recorded for Maps of one item only, so its order is fixed as well.
  if (recorded.eventOrder !== 'parallel-sections-sorted') return inOrder(expected, got);
  return sorted(expected, got);
}

function inOrder(expected: RecordedEvent[], got: RecordedEvent[]): Pair[] | string {
  const types = (events: RecordedEvent[]) => events.map((event) => event.type);
  if (!isDeepStrictEqual(types(expected), types(got))) {
    return `events differ:\n  expected ${types(expected).join(' ')}\n  got      ${types(got).join(' ')}`;
  }
  return expected.map((event, index) => [event, got[index] as RecordedEvent, index]);
}

/**
 * The recorder sorted what stands between ParallelStateStarted and the Parallel's end by its text and set its ids to 0;
 * where the Parallel failed and went on, it overwrote ParallelStateFailed while doing so (the ids show the gap).
 */
function sorted(expected: RecordedEvent[], got: RecordedEvent[]): Pair[] | string {
  const gaps = expected.some((event, index) => {
    const before = expected[index - 1];
    return before?.id === 0 && event.id === index + 2;
  });
  const kept = gaps ? got.filter((event) => event.type !== 'ParallelStateFailed') : got;
  const section = expected.filter((event) => event.id === 0).map((event) => event.type);
  const start = kept.findIndex((event) => event.type === 'ParallelStateStarted') + 1;
  const middle = kept
    .slice(start, start + section.length)
    .map((event) => ({ ...event, id: 0, previousEventId: 0 }))
    .sort((a, b) => section.indexOf(a.type) - section.indexOf(b.type));
  return inOrder(expected, [...kept.slice(0, start), ...middle, ...kept.slice(start + section.length)]);
}

const WORDS = [
  'date',
  'timestamp',
  'start-time',
  'entered-time',
  'snf_role_arn',
  'sfn_role_arn',
  'RandomNumberGenerated',
];

type Matcher = (pointer: string, expected: Json, got: Json | undefined) => boolean | undefined;

/** Answers for volatile places and is undefined for all others. A placeholder stands for the same text throughout. */
function matcher(volatile: string[]): Matcher {
  const places = new Set(volatile);
  const bound = new Map<string, string>();
  return (pointer, expected, got) => {
    if (!places.has(pointer)) return undefined;
    if (got === undefined) return false;
    if (typeof expected !== 'string' || WORDS.includes(expected)) return true;
    if (typeof got !== 'string') return false;
    if (expected.includes('stackTrace')) return sameFailure(expected, got);
    return fits(expected, got, bound);
  };
}

/** Two error texts with a stack trace: type and message are real. */
function sameFailure(expected: string, got: string): boolean {
  const a = parsedObject(expected.replaceAll(/<[a-z]+:\d+>/g, 'x'));
  const b = parsedObject(got);
  if (!isJsonObject(a) || !isJsonObject(b)) return false;
  return (
    a.errorType === b.errorType &&
    a.errorMessage === b.errorMessage &&
    isDeepStrictEqual(Object.keys(a), Object.keys(b))
  );
}

function fits(expected: string, got: string, bound: Map<string, string>): boolean {
  const names: string[] = [];
  const pattern = expected.split(/(<[^<>]+>)/).map((part) => {
    if (!part.startsWith('<')) return part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
    names.push(part);
    return '(.+?)';
  });
  const values = new RegExp(`^${pattern.join('')}$`, 's').exec(got)?.slice(1);
  if (values === undefined) return false;
  return names.every((name, index) => {
    const value = values[index] ?? '';
    const before = bound.get(name);
    bound.set(name, value);
    return before === undefined || before === value;
  });
}

function compare(
  expected: Json,
  got: Json | undefined,
  pointer: string,
  match: Matcher,
  found: string[],
): void {
  const loose = match(pointer, expected, got);
  if (loose === true) return;
  if (loose === false) {
    found.push(`${pointer}: expected something like ${JSON.stringify(expected)}, got ${JSON.stringify(got)}`);
    return;
  }
  if (isJsonObject(expected) && isJsonObject(got)) {
    for (const key of new Set([...Object.keys(expected), ...Object.keys(got)])) {
      const path = `${pointer}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;
      if (!Object.hasOwn(expected, key)) found.push(`${path}: not expected, got ${JSON.stringify(got[key])}`);
      else compare(expected[key] as Json, got[key], path, match, found);
    }
    return;
  }
  if (Array.isArray(expected) && Array.isArray(got) && expected.length === got.length) {
    for (const [index, item] of expected.entries())
      compare(item, got[index], `${pointer}/${index}`, match, found);
    return;
  }
  if (!isDeepStrictEqual(expected, got)) {
    found.push(`${pointer}: expected ${JSON.stringify(expected)}, got ${JSON.stringify(got)}`);
  }
}
