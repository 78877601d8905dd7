/**
 * JSON text of values, made once a value: what a state puts out is the next one's input, so the same object is asked
 * for again and again. Values are never mutated once they are in a lane, which is what makes the cache right.
 */

import { MAX_PAYLOAD_BYTES } from '../../../asl/limits.ts';
import type { Json } from '../../../blueprint/json.ts';

const texts = new WeakMap<object, string>();

/** Compact JSON. */
export function jsonText(value: Json): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  let text = texts.get(value);
  if (text === undefined) {
    text = JSON.stringify(value);
    texts.set(value, text);
  }
  return text;
}

/** True where the value as UTF-8 JSON is over 256 KiB. Source: "Service quotas", maximum input or output size. */
export function exceedsPayload(value: Json): boolean {
  const text = jsonText(value);
  if (text.length > MAX_PAYLOAD_BYTES) return true;
  // At most three bytes a character: short texts need not be counted.
  return text.length * 3 > MAX_PAYLOAD_BYTES && Buffer.byteLength(text) > MAX_PAYLOAD_BYTES;
}
