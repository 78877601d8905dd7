/**
 * Keys of the table and of the bucket, in one place. An id reaches a key only through here, and no id can make a key
 * of another kind: ids hold neither `#` nor, in S3 keys, anything but letters, digits, `-` and `_`.
 */
import { createHash } from 'node:crypto';

export interface Key {
  pk: string;
  sk: string;
}

/** DynamoDB refuses a sort key over 1,024 bytes; paths of deeply nested loops can be longer. */
const MAX_PATH_BYTES = 800;

export function sha256Hex(data: string | Uint8Array): string {
  return createHash('sha256').update(data).digest('hex');
}

/** `at` as part of a sort key: itself, or its beginning and a hash where it is too long. */
function pathKey(at: string): string {
  if (Buffer.byteLength(at) <= MAX_PATH_BYTES) return at;
  return `${at.slice(0, MAX_PATH_BYTES / 4)}~${sha256Hex(at)}`;
}

/** A number in a sort key, so that keys sort as the numbers do. */
function padded(value: number, digits: number): string {
  return String(value).padStart(digits, '0');
}

export const headKey = (workflow: string): Key => ({ pk: `WORKFLOW#${workflow}`, sk: 'HEAD' });
export const revisionKey = (workflow: string, revision: number): Key => ({
  pk: `WORKFLOW#${workflow}`,
  sk: `REV#${padded(revision, 5)}`,
});
export const scheduleKey = (workflow: string, awsName: string): Key => ({
  pk: `WORKFLOW#${workflow}`,
  sk: `SCHEDULE#${awsName}`,
});
export const schedulePlacesKey = (principal: string): Key => ({ pk: `SCHEDULES#${principal}`, sk: 'PLACES' });
/** Which deployments have been applied. */
export const deploymentsKey: Key = { pk: 'STACK', sk: 'DEPLOYMENTS' };
export const runKey = (run: string): Key => ({ pk: `RUN#${run}`, sk: 'META' });
export const stepKey = (run: string, at: string): Key => ({ pk: `RUN#${run}`, sk: `STEP#${pathKey(at)}` });
export const valueKey = (run: string, at: string, kind: ValueKind = 'value'): Key => ({
  pk: `RUN#${run}`,
  sk: `${kind === 'value' ? 'VALUE' : 'DETAIL'}#${pathKey(at)}`,
});
export const itemsKey = (run: string, at: string): Key => ({ pk: `RUN#${run}`, sk: `ITEMS#${pathKey(at)}` });
export const windowPrefix = (at: string): string => `WINDOW#${pathKey(at)}#`;
/** Windows that a loop may have: six digits of a sort key. */
export const MAX_WINDOWS = 1_000_000;
export const windowKey = (run: string, at: string, window: number): Key => ({
  pk: `RUN#${run}`,
  sk: `${windowPrefix(at)}${padded(window, 6)}`,
});

/**
 * A principal's id in a key: readable where it is short and plain, else its hash. None makes another's key, holds a `#`, or goes
 * on where another ends.
 */
export function principalKey(id: string): string {
  return /^[\w:/.@+=,-]{1,256}$/.test(id) ? id : `!${sha256Hex(id)}`;
}

/** `kind`: what of a principal is counted. */
export const limitKey = (principal: string, kind: string): Key => ({
  pk: `LIMIT#${principalKey(principal)}`,
  sk: kind,
});

/** `value` is what `steps.ID` is, `detail` what `results.ID` adds for a call. */
export type ValueKind = 'value' | 'detail';

/** What the bucket's keys begin with; rights and lifetimes are given for these. Documents stay, the rest goes with its run. */
export const OBJECTS = { documents: 'blueprints/', values: 'values/', blobs: 'blobs/' } as const;

/** An id as one segment of an S3 key. */
export function segment(id: string): string {
  return /^[A-Za-z0-9_-]{1,128}$/.test(id) ? id : `h-${sha256Hex(id)}`;
}
