/**
 * Values of a run: what a step is read as (`steps.ID`), what a call's result was beside it (`results.ID`), and the
 * run-level `$params`, `$output` and `$errors`. Also binary content that a tool answered.
 *
 * A value is written before the step that it belongs to is settled, so whoever reads a settled step finds its value. A
 * worker that lost its lease may still be writing: the fence keeps it from replacing its successor's value.
 */
import type { Json } from '../blueprint/json.ts';
import { type Body, readBody, writeBody } from './body.ts';
import { getItem, getItems, type Item, putItem } from './item.ts';
import { OBJECTS, segment, sha256Hex, type ValueKind, valueKey } from './keys.ts';
import { getObject, putObject } from './objects.ts';
import type { StoredValue } from './records.ts';
import type { Store } from './store.ts';
import { RUN_TTL_SECONDS, TTL_ATTRIBUTE } from './table.ts';

export interface PutValueOptions {
  /** Default `value`. */
  kind?: ValueKind;
  /** The step record's `fence`: a value written under a higher one stays. Default 0: the last writer wins. */
  fence?: number;
}

/**
 * Stores a value, replacing the one before. Where a value of a higher fence is there it is left, and the answer describes
 * what was to be written; the writer learns that it was late when it settles its step.
 */
export async function putValue(
  store: Store,
  run: string,
  at: string,
  value: Json,
  options: PutValueOptions = {},
): Promise<StoredValue> {
  const { kind = 'value', fence = 0 } = options;
  const body = await writeBody(store, run, value);
  await putItem(
    store,
    { ...valueKey(run, at, kind), at, ...body, fence, [TTL_ATTRIBUTE]: expiry(RUN_TTL_SECONDS) },
    // The fence grows with every claim of the step, so a lower one is a writer whose lease was taken over.
    { expression: 'attribute_not_exists(#pk) OR #fence <= :fence', values: { ':fence': fence } },
  );
  return 'json' in body ? { inline: value } : body;
}

/** Reads a value; undefined where none was stored (which is not the value null). */
export async function getValue(
  store: Store,
  run: string,
  at: string,
  kind: ValueKind = 'value',
): Promise<Json | undefined> {
  const item = await getItem(store, valueKey(run, at, kind));
  return item === undefined ? undefined : readBody(store, bodyOf(item));
}

/** Reads many values in one batch, in the order of `ats`; large ones are fetched side by side. */
export async function getValues(
  store: Store,
  run: string,
  ats: readonly string[],
  kind: ValueKind = 'value',
): Promise<(Json | undefined)[]> {
  const items = await getItems(
    store,
    ats.map((at) => valueKey(run, at, kind)),
  );
  return Promise.all(items.map((item) => (item === undefined ? undefined : readBody(store, bodyOf(item)))));
}

/** Where a value lies, without reading it: for a link to it. */
export async function describeValue(
  store: Store,
  run: string,
  at: string,
  kind: ValueKind = 'value',
): Promise<{ bytes: number; key?: string } | undefined> {
  const item = await getItem(store, valueKey(run, at, kind));
  if (item === undefined) return undefined;
  const body = bodyOf(item);
  return { bytes: body.bytes, ...('key' in body ? { key: body.key } : {}) };
}

export interface ValuePage {
  /** The whole value where it is no array or fits the page. */
  value: Json;
  /** Of an array: how many elements there are in all, and where this page stands. */
  total?: number;
  offset?: number;
  /** Offset of the next page; absent on the last. */
  next?: number;
}

/**
 * One page of a value. An array gives elements from `offset` while their JSON stays under `maxBytes` (default 64 KiB),
 * at least one; any other value is given whole.
 */
export async function getValuePage(
  store: Store,
  run: string,
  at: string,
  options: { offset?: number; limit?: number; maxBytes?: number } = {},
): Promise<ValuePage | undefined> {
  const value = await getValue(store, run, at);
  return value === undefined ? undefined : pageOf(value, options);
}

/** `getValuePage` of a value that is at hand. */
function pageOf(
  value: Json,
  options: { offset?: number; limit?: number; maxBytes?: number } = {},
): ValuePage {
  if (!Array.isArray(value)) return { value };
  const { offset = 0, limit = 1000, maxBytes = 64 * 1024 } = options;
  const page: Json[] = [];
  let bytes = 0;
  for (const element of value.slice(offset, offset + limit)) {
    bytes += Buffer.byteLength(JSON.stringify(element)) + 1;
    if (page.length > 0 && bytes > maxBytes) break;
    page.push(element);
  }
  const next = offset + page.length;
  return { value: page, total: value.length, offset, ...(next < value.length ? { next } : {}) };
}

/** Stores binary content of a run by its hash; answers the object's key. */
export async function putBlob(store: Store, run: string, bytes: Uint8Array, mime: string): Promise<string> {
  const key = `${OBJECTS.blobs}${segment(run)}/${sha256Hex(bytes)}`;
  await putObject(store, key, bytes, mime);
  return key;
}

/** Reads binary content by the key that `putBlob` answered. Refuses every other key of the bucket. */
export async function getBlob(
  store: Store,
  key: string,
): Promise<{ bytes: Uint8Array; contentType?: string } | undefined> {
  if (!/^blobs\/[A-Za-z0-9_-]+\/[0-9a-f]{64}$/.test(key)) return undefined;
  return getObject(store, key);
}

/** The body in an item of this folder. */
export function bodyOf(item: Item): Body {
  const { json, key, bytes } = item;
  if (typeof bytes === 'number' && typeof json === 'string') return { json, bytes };
  if (typeof bytes === 'number' && typeof key === 'string') return { key, bytes };
  throw new Error(`The item ${String(item.pk)} / ${String(item.sk)} holds no value.`);
}

/** Epoch seconds `seconds` from now, for the TTL attribute. It only decides when an item may be dropped. */
export function expiry(seconds: number): number {
  return Math.floor(Date.now() / 1000) + seconds;
}
