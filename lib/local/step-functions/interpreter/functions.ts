/**
 * What Step Functions adds to JSONata and what it takes away (`$eval`). Time and chance come from the host, so `$now`,
 * `$millis`, `$random` and `$uuid` are bound here too.
 * Source: developer guide, "JSONata functions provided by Step Functions".
 */
import { createHash } from 'node:crypto';
import jsonata from 'jsonata';
import type { Json } from '../../../blueprint/json.ts';
import type { ExecutionHost } from '../contract.ts';

/** What these functions throw. jsonata makes the message of its own codes; the others keep theirs. */
type FunctionError = { code: 'T0410'; token: string; index: number } | { message: string };

const ALGORITHMS: Record<string, string> = {
  MD5: 'md5',
  'SHA-1': 'sha1',
  'SHA-256': 'sha256',
  'SHA-384': 'sha384',
  'SHA-512': 'sha512',
};

/** `$range` makes at most this many numbers. Source: States.ArrayRange. */
const MAX_RANGE = 1000;

const formatTime = jsonata('$fromMillis($millis, $picture, $timezone)');

/** Bindings for jsonata, to be inherited by the bindings of each evaluation. `eval` is bound to undefined. */
export function awsFunctions(host: ExecutionHost): Record<string, unknown> {
  return {
    eval: undefined,
    partition,
    range,
    hash,
    parse,
    random: (seed?: unknown) => (seed === undefined ? host.random() : seeded(seed)),
    uuid: () => uuid(host),
    millis: () => host.clock.now(),
    now: (picture?: unknown, timezone?: unknown) => {
      const millis = host.clock.now();
      if (picture === undefined && timezone === undefined) return new Date(millis).toISOString();
      return formatTime.evaluate(undefined, { millis, picture, timezone });
    },
  };
}

/** `[1,2,3,4,5], 2` → `[[1,2],[3,4],[5]]` */
function partition(array: unknown, size: unknown): unknown {
  if (array === undefined) return undefined;
  const items: unknown[] = Array.isArray(array) ? array : [array];
  const length = typeof size === 'number' ? Math.floor(size) : Number.NaN;
  if (!(length >= 1)) throw signature('partition', 2);
  const chunks: unknown[][] = [];
  for (let at = 0; at < items.length; at += length) chunks.push(items.slice(at, at + length));
  return chunks;
}

/** `0, 9, 3` → `[0,3,6,9]`. A sequence, so that one number stands alone, as AWS recorded. */
function range(first: unknown, last: unknown, step: unknown): unknown {
  if (typeof first !== 'number') throw signature('range', 1);
  if (typeof last !== 'number') throw signature('range', 2);
  if (typeof step !== 'number' || step === 0) throw signature('range', 3);
  const count = Math.max(0, Math.floor((last - first) / step) + 1);
  if (count > MAX_RANGE) throw failure(`$range makes at most ${MAX_RANGE} numbers, not ${count}`);
  const numbers = Array.from({ length: count }, (_, index) => first + index * step);
  Object.defineProperty(numbers, 'sequence', { value: true, enumerable: false });
  return numbers;
}

/** Hex digest of the text, or of the JSON text of anything else. */
function hash(value: unknown, algorithm: unknown): unknown {
  if (value === undefined) return undefined;
  const name = typeof algorithm === 'string' ? ALGORITHMS[algorithm] : undefined;
  if (name === undefined) throw signature('hash', 2);
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return createHash(name).update(text).digest('hex');
}

function parse(text: unknown): Json | undefined {
  if (text === undefined) return undefined;
  if (typeof text !== 'string') throw signature('parse', 1);
  try {
    return JSON.parse(text) as Json;
  } catch {
    throw failure('The argument of $parse is not valid JSON');
  }
}

/** The same seed gives the same number: mulberry32 over a hash of the seed. */
function seeded(seed: unknown): number {
  if (typeof seed !== 'number') throw signature('random', 1);
  let state = createHash('sha256').update(String(seed)).digest().readUInt32LE(0);
  state = (state + 0x6d2b79f5) | 0;
  let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
  mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
  return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
}

/** A version 4 UUID out of the host's chance. */
export function uuid(host: ExecutionHost): string {
  const bytes = Array.from({ length: 16 }, () => Math.floor(host.random() * 256));
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = bytes.map((byte) => byte.toString(16).padStart(2, '0')).join('');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

function signature(token: string, index: number): FunctionError {
  return { code: 'T0410', token, index };
}

function failure(message: string): FunctionError {
  return { message };
}
