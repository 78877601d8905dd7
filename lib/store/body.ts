/**
 * JSON that may be small or large: up to 8 KiB of text stands in its item, more in an object of the bucket.
 *
 * It is kept as text, not as DynamoDB's maps and numbers: those lose the order of keys, refuse numbers that JSON has
 * (1e300, integers past 2^53) and end at a depth of 32.
 */
import type { Json } from '../blueprint/json.ts';
import { OBJECTS, segment, sha256Hex } from './keys.ts';
import { getObject, putObject } from './objects.ts';
import type { Store } from './store.ts';

export const MAX_INLINE_BYTES = 8 * 1024;

/** Attributes of an item that hold a body: `json` inline, or `key` of the object; `bytes` of the JSON text in both. */
export type Body = { json: string; bytes: number } | { key: string; bytes: number };

/** Writes what is too large for an item; answers the attributes to put into the item. */
export async function writeBody(store: Store, run: string, value: Json): Promise<Body> {
  const json = JSON.stringify(value);
  const bytes = Buffer.byteLength(json);
  if (bytes <= MAX_INLINE_BYTES) return { json, bytes };
  const key = `${OBJECTS.values}${segment(run)}/${sha256Hex(json)}.json`;
  await putObject(store, key, json, 'application/json');
  return { key, bytes };
}

/** Reads a body back. Throws where its object is gone (a bucket that was emptied, or one past its lifetime). */
export async function readBody(store: Store, body: Body): Promise<Json> {
  if ('json' in body && body.json !== undefined) return JSON.parse(body.json) as Json;
  if (!('key' in body)) throw new Error('A stored value has neither text nor a key.');
  const object = await getObject(store, body.key);
  if (object === undefined) throw new Error(`The stored value "${body.key}" is not in the bucket.`);
  return JSON.parse(Buffer.from(object.bytes).toString('utf8')) as Json;
}
