/**
 * The functions of the JMESPath specification, and no others: their parameters, and what they do.
 *
 * Source: the "Built-in Functions" of the specification at https://jmespath.org/specification.html. Types of arguments
 * are checked by `callFunction` before a function runs; the lint reads the same table.
 */
import type { Json, JsonObject } from '../blueprint/json.ts';
import type { Budget } from './budget.ts';
import { EvaluationError } from './errors.ts';
import { measure } from './measure.ts';
import { codePoints, compareStrings, equal, fieldOf, setField, typeOf, type ValueType } from './values.ts';

/** What a parameter takes: JSON types, or an expression written `&...`. */
export type ParameterType = readonly ValueType[] | 'any' | 'expression';

/** An argument after evaluation; an expression argument is a function of the element. */
export type Argument = Json | ((element: Json) => Json);

export interface FunctionSpec {
  parameters: readonly ParameterType[];
  /** The last parameter may be repeated. */
  variadic?: boolean;
  returns: readonly ValueType[] | 'any';
  run(args: Argument[], budget: Budget): Json;
}

const NUMBER = ['number'] as const;
const STRING = ['string'] as const;
const ARRAY = ['array'] as const;
const OBJECT = ['object'] as const;
const ANY_TYPE = ['null', 'boolean', 'number', 'string', 'array', 'object'] as const;

const FUNCTIONS: ReadonlyMap<string, FunctionSpec> = new Map<string, FunctionSpec>([
  ['abs', { parameters: [NUMBER], returns: NUMBER, run: ([x]) => Math.abs(x as number) }],
  [
    'avg',
    {
      parameters: [ARRAY],
      returns: ['number', 'null'],
      run: ([list], budget) => avg(list as Json[], budget),
    },
  ],
  ['ceil', { parameters: [NUMBER], returns: NUMBER, run: ([x]) => Math.ceil(x as number) }],
  [
    'contains',
    {
      parameters: [['array', 'string'], 'any'],
      returns: ['boolean'],
      run: ([where, what], budget) => contains(where as Json[] | string, what as Json, budget),
    },
  ],
  [
    'ends_with',
    {
      parameters: [STRING, STRING],
      returns: ['boolean'],
      run: ([text, end]) => (text as string).endsWith(end as string),
    },
  ],
  ['floor', { parameters: [NUMBER], returns: NUMBER, run: ([x]) => Math.floor(x as number) }],
  [
    'join',
    {
      parameters: [STRING, ARRAY],
      returns: STRING,
      run: ([glue, list], budget) => join(glue as string, list as Json[], budget),
    },
  ],
  ['keys', { parameters: [OBJECT], returns: ARRAY, run: ([x], budget) => keys(x as JsonObject, budget) }],
  [
    'length',
    {
      parameters: [['string', 'array', 'object']],
      returns: NUMBER,
      run: ([x]) => lengthOf(x as string | Json[] | JsonObject),
    },
  ],
  [
    'map',
    {
      parameters: ['expression', ARRAY],
      returns: ARRAY,
      run: ([each, list], budget) => map(each as (element: Json) => Json, list as Json[], budget),
    },
  ],
  [
    'max',
    {
      parameters: [ARRAY],
      returns: ['number', 'string', 'null'],
      run: ([list], b) => extreme('max', list as Json[], b),
    },
  ],
  [
    'max_by',
    {
      parameters: [ARRAY, 'expression'],
      returns: 'any',
      run: ([list, key], b) => extremeBy('max_by', list as Json[], key as (e: Json) => Json, b),
    },
  ],
  [
    'merge',
    {
      parameters: [OBJECT],
      variadic: true,
      returns: OBJECT,
      run: (args, budget) => merge(args as JsonObject[], budget),
    },
  ],
  [
    'min',
    {
      parameters: [ARRAY],
      returns: ['number', 'string', 'null'],
      run: ([list], b) => extreme('min', list as Json[], b),
    },
  ],
  [
    'min_by',
    {
      parameters: [ARRAY, 'expression'],
      returns: 'any',
      run: ([list, key], b) => extremeBy('min_by', list as Json[], key as (e: Json) => Json, b),
    },
  ],
  [
    'not_null',
    {
      parameters: ['any'],
      variadic: true,
      returns: 'any',
      run: (args) => (args.find((x) => x !== null) ?? null) as Json,
    },
  ],
  [
    'reverse',
    {
      parameters: [['string', 'array']],
      returns: ['string', 'array'],
      run: ([x], budget) => reverse(x as string | Json[], budget),
    },
  ],
  [
    'sort',
    {
      parameters: [ARRAY],
      returns: ARRAY,
      run: ([list], budget) => sortBy('sort', list as Json[], (x) => x, budget),
    },
  ],
  [
    'sort_by',
    {
      parameters: [ARRAY, 'expression'],
      returns: ARRAY,
      run: ([list, key], budget) => sortBy('sort_by', list as Json[], key as (e: Json) => Json, budget),
    },
  ],
  [
    'starts_with',
    {
      parameters: [STRING, STRING],
      returns: ['boolean'],
      run: ([text, start]) => (text as string).startsWith(start as string),
    },
  ],
  [
    'sum',
    { parameters: [ARRAY], returns: NUMBER, run: ([list], budget) => sum('sum', list as Json[], budget) },
  ],
  ['to_array', { parameters: ['any'], returns: ARRAY, run: ([x], budget) => toArray(x as Json, budget) }],
  ['to_number', { parameters: ['any'], returns: ['number', 'null'], run: ([x]) => toNumber(x as Json) }],
  ['to_string', { parameters: ['any'], returns: STRING, run: ([x], budget) => toText(x as Json, budget) }],
  ['type', { parameters: ['any'], returns: STRING, run: ([x]) => typeOf(x as Json) }],
  ['values', { parameters: [OBJECT], returns: ARRAY, run: ([x], budget) => values(x as JsonObject, budget) }],
]);

/** Names of all functions, sorted. */
export function functionNames(): string[] {
  return [...FUNCTIONS.keys()];
}

export function functionSpec(name: string): FunctionSpec | undefined {
  return FUNCTIONS.get(name);
}

/** "1 argument", "at least 1 argument": what a function takes. */
export function describeArity(spec: FunctionSpec): string {
  const count = spec.parameters.length;
  return `${spec.variadic ? 'at least ' : ''}${count} argument${count === 1 ? '' : 's'}`;
}

export function fitsArity(spec: FunctionSpec, count: number): boolean {
  return spec.variadic ? count >= spec.parameters.length : count === spec.parameters.length;
}

/** The type of the parameter that an argument stands for. */
export function parameterOf(spec: FunctionSpec, index: number): ParameterType {
  return spec.parameters[Math.min(index, spec.parameters.length - 1)] ?? 'any';
}

export function describeTypes(types: readonly string[]): string {
  const names = types.map((type) =>
    type === 'null' ? 'null' : /^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`,
  );
  const last = names.pop() ?? '';
  return names.length === 0 ? last : `${names.join(', ')} or ${last}`;
}

/** @throws EvaluationError for an argument of a wrong type, and from the function itself. */
export function callFunction(name: string, spec: FunctionSpec, args: Argument[], budget: Budget): Json {
  for (let i = 0; i < args.length; i++) {
    const arg = args[i] ?? null;
    const type = parameterOf(spec, i);
    if (
      type === 'expression'
        ? typeof arg === 'function'
        : typeof arg !== 'function' && (type === 'any' || type.includes(typeOf(arg)))
    )
      continue;
    const got = typeof arg === 'function' ? 'an expression (&)' : describeTypes([typeOf(arg)]);
    const wanted =
      type === 'expression' ? 'an expression (&...)' : describeTypes(type === 'any' ? ANY_TYPE : type);
    const place = args.length > 1 ? `argument ${i + 1} of ${name}()` : `the argument of ${name}()`;
    throw new EvaluationError(`${place} is ${got}, and it takes ${wanted}`);
  }
  return spec.run(args, budget);
}

/** A string as it is, anything else as compact JSON. */
export function toText(value: Json, budget: Budget): string {
  if (typeof value === 'string') return value;
  measure(value, budget.maxBytes);
  const text = JSON.stringify(value);
  budget.spend(text.length);
  return text;
}

function fail(message: string): never {
  throw new EvaluationError(message);
}

function elementFault(name: string, index: number, got: Json, wanted: string): never {
  fail(
    `element ${index} of the list given to ${name}() is ${describeTypes([typeOf(got)])}, and it takes ${wanted}`,
  );
}

function sum(name: string, list: Json[], budget: Budget): number {
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

function avg(list: Json[], budget: Budget): number | null {
  const total = sum('avg', list, budget);
  return list.length === 0 ? null : total / list.length;
}

function contains(where: Json[] | string, what: Json, budget: Budget): boolean {
  if (typeof where === 'string') return typeof what === 'string' && where.includes(what);
  budget.visit(where.length);
  if (what === null || typeof what !== 'object') return where.includes(what);
  return where.some((element) => equal(element, what, budget));
}

function join(glue: string, list: Json[], budget: Budget): string {
  budget.visit(list.length);
  for (let i = 0; i < list.length; i++) {
    const text = list[i] ?? null;
    if (typeof text !== 'string') elementFault('join', i, text, 'strings (convert with to_string)');
    budget.spend(text.length + (i === 0 ? 0 : glue.length));
  }
  return list.join(glue);
}

function keys(object: JsonObject, budget: Budget): Json[] {
  const names = Object.keys(object);
  budget.visit(names.length);
  budget.spend(16 + 8 * names.length);
  return names;
}

function values(object: JsonObject, budget: Budget): Json[] {
  const found = Object.values(object);
  budget.visit(found.length);
  budget.spend(16 + 8 * found.length);
  return found;
}

function lengthOf(value: string | Json[] | JsonObject): number {
  if (typeof value === 'string') return codePoints(value);
  return Array.isArray(value) ? value.length : Object.keys(value).length;
}

function map(each: (element: Json) => Json, list: Json[], budget: Budget): Json[] {
  budget.visit(list.length);
  budget.spend(16);
  const out: Json[] = [];
  for (const element of list) {
    budget.spend(8);
    out.push(each(element));
  }
  return out;
}

function merge(objects: JsonObject[], budget: Budget): JsonObject {
  const out: JsonObject = {};
  budget.spend(16);
  for (const object of objects) {
    const names = Object.keys(object);
    budget.visit(names.length);
    for (const name of names) {
      budget.spend(8 + name.length);
      setField(out, name, fieldOf(object, name));
    }
  }
  return out;
}

function reverse(value: string | Json[], budget: Budget): Json {
  budget.visit(value.length);
  budget.spend(8 * value.length);
  return typeof value === 'string' ? [...value].reverse().join('') : value.toReversed();
}

function toArray(value: Json, budget: Budget): Json[] {
  if (Array.isArray(value)) return value;
  budget.spend(24);
  return [value];
}

const JSON_NUMBER = /^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$/;

function toNumber(value: Json): number | null {
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

function extremeBy(
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

function extreme(name: 'max' | 'min', list: Json[], budget: Budget): Json {
  return extremeBy(name, list, (x) => x, budget);
}

function sortBy(
  name: 'sort' | 'sort_by',
  list: Json[],
  keyOf: (element: Json) => Json,
  budget: Budget,
): Json[] {
  const found = keysOf(name, list, keyOf, budget);
  budget.spend(16 + 16 * list.length);
  const order = found.map((_, index) => index);
  order.sort((a, b) => compareKeys(found[a] as Key, found[b] as Key));
  return order.map((index) => list[index] ?? null);
}
