/**
 * JSON values as JMESPath sees them: types, truth, equality, order, own properties.
 *
 * Only own properties are data. `__proto__` and `constructor` are names like any other, read when an object has them
 * and written without touching a prototype.
 */
import type { Json, JsonObject } from '../blueprint/json.ts';
import type { Budget } from './budget.ts';

export type ValueType = 'null' | 'boolean' | 'number' | 'string' | 'array' | 'object';

export function typeOf(value: Json): ValueType {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return typeof value as 'boolean' | 'number' | 'string' | 'object';
}

/** "a string, an array or null". */
export function describeTypes(types: readonly string[]): string {
  const names = types.map((type) =>
    type === 'null' ? 'null' : /^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`,
  );
  const last = names.pop() ?? '';
  return names.length === 0 ? last : `${names.join(', ')} or ${last}`;
}

/** JMESPath's truth: false, null, "", [] and {} are false, everything else (0 too) is true. */
export function truthy(value: Json): boolean {
  if (value === null || value === false || value === '') return false;
  if (typeof value !== 'object') return true;
  if (Array.isArray(value)) return value.length > 0;
  for (const key in value) if (Object.hasOwn(value, key)) return true;
  return false;
}

/** A field of a value; null where it is no object or has no such property of its own. */
export function fieldOf(value: Json, name: string): Json {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return null;
  if (!Object.hasOwn(value, name)) return null;
  return value[name] ?? null;
}

/** Sets a property of an object that is being built; `__proto__` becomes data. */
export function setField(object: JsonObject, name: string, value: Json): void {
  if (name === '__proto__') {
    Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true });
  } else {
    object[name] = value;
  }
}

/** Deep equality of any two JSON values, of any depth. Every pair that is compared counts as a visit. */
export function equal(left: Json, right: Json, budget: Budget): boolean {
  if (left === right) return true;
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) return false;
  const pending: Json[] = [left, right];
  while (pending.length > 0) {
    const b = pending.pop() as Json;
    const a = pending.pop() as Json;
    if (a === b) continue;
    if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
    if (Array.isArray(a)) {
      if (!Array.isArray(b) || a.length !== b.length) return false;
      budget.visit(a.length);
      for (let i = 0; i < a.length; i++) pending.push(a[i] ?? null, b[i] ?? null);
    } else {
      if (Array.isArray(b)) return false;
      const names = Object.keys(a);
      if (names.length !== Object.keys(b).length) return false;
      budget.visit(names.length);
      for (const name of names) {
        if (!Object.hasOwn(b, name)) return false;
        pending.push(a[name] ?? null, b[name] ?? null);
      }
    }
  }
  return true;
}

/** Order of two strings by code points (UTF-16 order puts U+FFFD after an emoji). */
export function compareStrings(left: string, right: string): number {
  if (left === right) return 0;
  const length = Math.min(left.length, right.length);
  for (let i = 0; i < length; i++) {
    const a = left.charCodeAt(i);
    const b = right.charCodeAt(i);
    if (a !== b) {
      const aSurrogate = a >= 0xd800 && a <= 0xdfff;
      const bSurrogate = b >= 0xd800 && b <= 0xdfff;
      return aSurrogate === bSurrogate ? a - b : aSurrogate ? 1 : -1;
    }
  }
  return left.length - right.length;
}

/** Length of a string in code points. */
export function codePoints(text: string): number {
  let count = text.length;
  for (let i = 0; i + 1 < text.length; i++) {
    if ((text.charCodeAt(i) & 0xfc00) === 0xd800 && (text.charCodeAt(i + 1) & 0xfc00) === 0xdc00) {
      count--;
      i++;
    }
  }
  return count;
}
