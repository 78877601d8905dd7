/**
 * What the functions of JMESPath do. Types of arguments are checked before (functions.ts), elements of lists here; what is
 * built is paid for before it is built.
 */
import type { Json, JsonObject } from '../blueprint/json.ts';
import type { Budget } from './budget.ts';
import { EvaluationError } from './errors.ts';
import { includes } from './text-search.ts';
import { codePoints, compareStrings, describeTypes, equal, fieldOf, setField, typeOf } from './values.ts';

function fail(message: string): never {
  throw new EvaluationError(message);
}

function elementFault(name: string, index: number, got: Json, wanted: string): never {
  fail(
    `element ${index} of the list given to ${name}() is ${describeTypes([typeOf(got)])}, and it takes ${wanted}`,
  );
}

export function sum(name: string, list: Json[], budget: Budget): number {
  budget.visit(list.length);
  let total = 0;
  for (let i = 0; i < list.length; i++) {
    const x = list[i] ?? null;
    if (typeof x !== 'number') elementFault(name, i, x, 'numbers');
    total += x;
  }
  if (!Number.isFinite(total)) fail(`${name}() comes to a number that JSON cannot hold`);
  return total;
}

export function avg(list: Json[], budget: Budget): number | null {
  const total = sum('avg', list, budget);
  return list.length === 0 ? null : total / list.length;
}

export function contains(where: Json[] | string, what: Json, budget: Budget): boolean {
  if (typeof where === 'string') {
    budget.visit(where.length >> 8);
    return typeof what === 'string' && includes(where, what);
  }
  if (what === null || typeof what !== 'object') {
    // A native scan of scalars costs a fraction of evaluating something for each element.
    budget.visit(where.length >> 4);
    // Two strings that begin alike are compared until they differ.
    if (typeof what === 'string') budget.visit((where.length * what.length) / 4096);
    return where.includes(what);
  }
  budget.visit(where.length);
  return where.some((element) => equal(element, what, budget));
}

export function join(glue: string, list: Json[], budget: Budget): string {
  budget.visit(list.length);
  for (let i = 0; i < list.length; i++) {
    const text = list[i] ?? null;
    if (typeof text !== 'string') elementFault('join', i, text, 'strings (convert with to_string)');
    budget.spend(text.length + (i === 0 ? 0 : glue.length));
  }
  return list.join(glue);
}

export function keys(object: JsonObject, budget: Budget): Json[] {
  const names = Object.keys(object);
  budget.visit(names.length);
  budget.spend(16 + 8 * names.length);
  return names;
}

export function values(object: JsonObject, budget: Budget): Json[] {
  const found = Object.values(object);
  budget.visit(found.length);
  budget.spend(16 + 8 * found.length);
  return found;
}

export function lengthOf(value: string | Json[] | JsonObject, budget: Budget): number {
  if (typeof value === 'string') {
    budget.visit(value.length >> 6);
    return codePoints(value);
  }
  return Array.isArray(value) ? value.length : Object.keys(value).length;
}

export function map(each: (element: Json) => Json, list: Json[], budget: Budget): Json[] {
  budget.visit(list.length);
  budget.spend(16);
  const out: Json[] = [];
  for (const element of list) {
    budget.spend(8);
    out.push(each(element));
  }
  return out;
}

export function merge(objects: JsonObject[], budget: Budget): JsonObject {
  const out: JsonObject = {};
  budget.spend(16);
  for (const object of objects) {
    const names = Object.keys(object);
    // To set a property takes as long as several elements to visit.
    budget.visit(8 * names.length);
    for (const name of names) {
      budget.spend(8 + name.length);
      setField(out, name, fieldOf(object, name));
    }
  }
  return out;
}

export function reverse(value: string | Json[], budget: Budget): Json {
  budget.visit(value.length);
  budget.spend(8 * value.length);
  return typeof value === 'string' ? [...value].reverse().join('') : value.toReversed();
}

export function toArray(value: Json, budget: Budget): Json[] {
  if (Array.isArray(value)) return value;
  budget.spend(24);
  return [value];
}

const JSON_NUMBER = /^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$/;

export function toNumber(value: Json): number | null {
  if (typeof value === 'number') return value;
  if (typeof value !== 'string' || !JSON_NUMBER.test(value)) return null;
  const number = Number(value);
  return Number.isFinite(number) ? number : null;
}

type Key = number | string;

/** Keys of a list for ordering: all numbers or all strings. */
function keysOf(name: string, list: Json[], keyOf: (element: Json) => Json, budget: Budget): Key[] {
  budget.visit(list.length);
  budget.spend(8 * list.length);
  let type: string | undefined;
  return list.map((element, index) => {
    const key = keyOf(element);
    if (typeof key !== 'number' && typeof key !== 'string') {
      const what = name.endsWith('_by') ? 'the key of element' : 'element';
      fail(
        `${what} ${index} of the list given to ${name}() is ${describeTypes([typeOf(key)])}, and it takes numbers or strings`,
      );
    }
    if (type !== undefined && type !== typeof key)
      fail(`the list given to ${name}() mixes numbers and strings`);
    type = typeof key;
    return key;
  });
}

function compareKeys(left: Key, right: Key): number {
  if (typeof left === 'number') return left - (right as number);
  return compareStrings(left, right as string);
}

export function extremeBy(
  name: 'max_by' | 'min_by' | 'max' | 'min',
  list: Json[],
  keyOf: (element: Json) => Json,
  budget: Budget,
): Json {
  const found = keysOf(name, list, keyOf, budget);
  const sign = name.startsWith('max') ? 1 : -1;
  let best = 0;
  for (let i = 1; i < found.length; i++) {
    if (sign * compareKeys(found[i] as Key, found[best] as Key) > 0) best = i;
  }
  return list[best] ?? null;
}

export function extreme(name: 'max' | 'min', list: Json[], budget: Budget): Json {
  return extremeBy(name, list, (x) => x, budget);
}

export function sortBy(
  name: 'sort' | 'sort_by',
  list: Json[],
  keyOf: (element: Json) => Json,
  budget: Budget,
): Json[] {
  const found = keysOf(name, list, keyOf, budget);
  budget.spend(16 + 16 * list.length);
  budget.visit(sortingVisits(found));
  const order = found.map((_, index) => index);
  order.sort((a, b) => compareKeys(found[a] as Key, found[b] as Key));
  return order.map((index) => list[index] ?? null);
}

/** Comparisons of a sort, those of strings by how long they are. */
function sortingVisits(keys: readonly Key[]): number {
  let width = keys.length;
  for (const key of keys) if (typeof key === 'string') width += key.length / 32;
  return width * Math.ceil(Math.log2(Math.max(2, keys.length)));
}
