/** Why an expression came out null, in words: the first name on its way that is not there, and the names that are. */
import type { Json, JsonObject } from '../blueprint/json.ts';
import type { Expression } from './expression.ts';
import { printName } from './print.ts';
import { type Reference, references } from './references.ts';
import { describeTypes, fieldOf, typeOf } from './values.ts';

const MAX_KEYS = 12;
const MAX_KEY_LENGTH = 40;

/**
 * E.g. `steps.pods has no field "item"; its fields are "items", "count"`. Undefined where every path that the expression
 * reads has a value. Names of fields come from data: they are cut, and control characters are taken out.
 */
export function explainNull(expression: Expression, scope: JsonObject): string | undefined {
  for (const reference of references(expression)) {
    const found = explainReference(reference, scope);
    if (found !== undefined) return found;
  }
  return undefined;
}

function explainReference({ root, path }: Reference, scope: JsonObject): string | undefined {
  if (root === '$') return undefined;
  let value: Json = scope;
  let place = '';
  for (const name of [root, ...path]) {
    const field = fieldOf(value, name);
    if (field === null) return explainField(value, place, name);
    value = field;
    place = place === '' ? printName(name) : `${place}.${printName(name)}`;
  }
  return undefined;
}

function explainField(value: Json, place: string, name: string): string {
  const where = place === '' ? 'the scope' : place;
  const quoted = quoteKey(name);
  if (Array.isArray(value)) {
    return `${where} is an array of ${value.length} and has no field ${quoted}; its elements are read with [0] or []`;
  }
  if (value === null || typeof value !== 'object') {
    return `${where} is ${describeTypes([typeOf(value)])} and has no field ${quoted}`;
  }
  if (Object.hasOwn(value, name)) return `${place === '' ? '' : `${place}.`}${printName(name)} is null`;
  const names = Object.keys(value);
  if (names.length === 0) return `${where} is an object without fields, so it has no ${quoted}`;
  const shown = names.slice(0, MAX_KEYS).map(quoteKey).join(', ');
  const more = names.length > MAX_KEYS ? ` and ${names.length - MAX_KEYS} more` : '';
  return `${where} has no field ${quoted}; its fields are ${shown}${more}`;
}

function quoteKey(name: string): string {
  const clean = name.replace(/\p{C}/gu, '');
  return `"${clean.length > MAX_KEY_LENGTH ? `${clean.slice(0, MAX_KEY_LENGTH)}...` : clean}"`;
}
