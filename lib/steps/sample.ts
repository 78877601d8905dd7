/**
 * A value small enough to look at, for answers that people and models pay for by length. What is cut says so, and how
 * much:
 *
 *     [{"name": "a", "log": "Lorem ipsum… (70000 characters)"}, "… 299 more"]
 */
import type { Json, JsonObject } from '../blueprint/json.ts';
import { setField } from '../expression/values.ts';

interface Cut {
  items: number;
  fields: number;
  text: number;
  depth: number;
}

/** Tried from the first: the first sample that fits is taken. */
const CUTS: readonly Cut[] = [
  { items: 5, fields: 40, text: 400, depth: 8 },
  { items: 3, fields: 30, text: 200, depth: 6 },
  { items: 2, fields: 20, text: 100, depth: 5 },
  { items: 1, fields: 12, text: 60, depth: 4 },
  { items: 1, fields: 6, text: 40, depth: 2 },
  { items: 0, fields: 3, text: 20, depth: 1 },
];

/** Bytes of a value as JSON. */
export function bytesOf(value: Json): number {
  return Buffer.byteLength(JSON.stringify(value));
}

/** The value itself where it has at most `maxBytes` as JSON, else a sample of at most about so many. */
export function sampleOf(value: Json, maxBytes: number): Json {
  if (bytesOf(value) <= maxBytes) return value;
  let sample: Json = null;
  for (const cut of CUTS) {
    sample = prune(value, cut, cut.depth);
    if (bytesOf(sample) <= maxBytes) break;
  }
  return sample;
}

function prune(value: Json, cut: Cut, depth: number): Json {
  if (typeof value === 'string') {
    return value.length <= cut.text ? value : `${value.slice(0, cut.text)}… (${value.length} characters)`;
  }
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    if (depth === 0) return `array of ${value.length}`;
    const kept: Json[] = value.slice(0, cut.items).map((item) => prune(item, cut, depth - 1));
    if (value.length > kept.length) kept.push(`… ${value.length - kept.length} more`);
    return kept;
  }
  const names = Object.keys(value);
  if (depth === 0) return `object of ${names.length} fields`;
  const kept: JsonObject = {};
  for (const name of names.slice(0, cut.fields)) {
    setField(kept, cutName(name, cut), prune(value[name] ?? null, cut, depth - 1));
  }
  if (names.length > cut.fields) kept['…'] = `${names.length - cut.fields} more`;
  return kept;
}

function cutName(name: string, cut: Cut): string {
  return name.length <= cut.text ? name : `${name.slice(0, cut.text)}…`;
}
