/**
 * The functions of the JMESPath specification, and no others: their parameters, and what they do.
 *
 * Source: the "Built-in Functions" of the specification at https://jmespath.org/specification.html. Types of arguments
 * are checked by `callFunction` before a function runs; the lint reads the same table.
 */
import type { Json, JsonObject } from '../blueprint/json.ts';
import type { Budget } from './budget.ts';
import {
  avg,
  contains,
  extreme,
  extremeBy,
  join,
  keys,
  lengthOf,
  map,
  merge,
  reverse,
  sortBy,
  sum,
  toArray,
  toNumber,
  values,
} from './builtins.ts';
import { EvaluationError } from './errors.ts';
import { toText } from './measure.ts';
import { describeTypes, typeOf, type ValueType } from './values.ts';

/** What a parameter takes: JSON types, or an expression written `&...`. */
export type ParameterType = readonly ValueType[] | 'any' | 'expression';

/** An argument after evaluation; an expression argument is a function of the element. */
export type Argument = Json | ((element: Json) => Json);

export interface FunctionSpec {
  parameters: readonly ParameterType[];
  /** The last parameter may be repeated. */
  variadic?: boolean;
  returns: readonly ValueType[] | 'any';
  /** How it is called, with names for its arguments. */
  usage: string;
  run(args: Argument[], budget: Budget): Json;
}

const NUMBER = ['number'] as const;
const STRING = ['string'] as const;
const ARRAY = ['array'] as const;
const OBJECT = ['object'] as const;
const ANY_TYPE = ['null', 'boolean', 'number', 'string', 'array', 'object'] as const;

const FUNCTIONS: ReadonlyMap<string, FunctionSpec> = new Map<string, FunctionSpec>([
  [
    'abs',
    { usage: 'abs(number)', parameters: [NUMBER], returns: NUMBER, run: ([x]) => Math.abs(x as number) },
  ],
  [
    'avg',
    {
      usage: 'avg(numbers)',
      parameters: [ARRAY],
      returns: ['number', 'null'],
      run: ([list], budget) => avg(list as Json[], budget),
    },
  ],
  [
    'ceil',
    { usage: 'ceil(number)', parameters: [NUMBER], returns: NUMBER, run: ([x]) => Math.ceil(x as number) },
  ],
  [
    'contains',
    {
      usage: 'contains(list_or_text, what)',
      parameters: [['array', 'string'], 'any'],
      returns: ['boolean'],
      run: ([where, what], budget) => contains(where as Json[] | string, what as Json, budget),
    },
  ],
  [
    'ends_with',
    {
      usage: 'ends_with(text, end)',
      parameters: [STRING, STRING],
      returns: ['boolean'],
      run: ([text, end]) => (text as string).endsWith(end as string),
    },
  ],
  [
    'floor',
    { usage: 'floor(number)', parameters: [NUMBER], returns: NUMBER, run: ([x]) => Math.floor(x as number) },
  ],
  [
    'join',
    {
      usage: "join(', ', strings)",
      parameters: [STRING, ARRAY],
      returns: STRING,
      run: ([glue, list], budget) => join(glue as string, list as Json[], budget),
    },
  ],
  [
    'keys',
    {
      usage: 'keys(object)',
      parameters: [OBJECT],
      returns: ARRAY,
      run: ([x], budget) => keys(x as JsonObject, budget),
    },
  ],
  [
    'length',
    {
      usage: 'length(value)',
      parameters: [['string', 'array', 'object']],
      returns: NUMBER,
      run: ([x], budget) => lengthOf(x as string | Json[] | JsonObject, budget),
    },
  ],
  [
    'map',
    {
      usage: 'map(&expression, list)',
      parameters: ['expression', ARRAY],
      returns: ARRAY,
      run: ([each, list], budget) => map(each as (element: Json) => Json, list as Json[], budget),
    },
  ],
  [
    'max',
    {
      usage: 'max(list)',
      parameters: [ARRAY],
      returns: ['number', 'string', 'null'],
      run: ([list], b) => extreme('max', list as Json[], b),
    },
  ],
  [
    'max_by',
    {
      usage: 'max_by(list, &expression)',
      parameters: [ARRAY, 'expression'],
      returns: 'any',
      run: ([list, key], b) => extremeBy('max_by', list as Json[], key as (e: Json) => Json, b),
    },
  ],
  [
    'merge',
    {
      usage: 'merge(object, other)',
      parameters: [OBJECT],
      variadic: true,
      returns: OBJECT,
      run: (args, budget) => merge(args as JsonObject[], budget),
    },
  ],
  [
    'min',
    {
      usage: 'min(list)',
      parameters: [ARRAY],
      returns: ['number', 'string', 'null'],
      run: ([list], b) => extreme('min', list as Json[], b),
    },
  ],
  [
    'min_by',
    {
      usage: 'min_by(list, &expression)',
      parameters: [ARRAY, 'expression'],
      returns: 'any',
      run: ([list, key], b) => extremeBy('min_by', list as Json[], key as (e: Json) => Json, b),
    },
  ],
  [
    'not_null',
    {
      usage: 'not_null(value, other)',
      parameters: ['any'],
      variadic: true,
      returns: 'any',
      run: (args) => (args.find((x) => x !== null) ?? null) as Json,
    },
  ],
  [
    'reverse',
    {
      usage: 'reverse(list_or_text)',
      parameters: [['string', 'array']],
      returns: ['string', 'array'],
      run: ([x], budget) => reverse(x as string | Json[], budget),
    },
  ],
  [
    'sort',
    {
      usage: 'sort(list)',
      parameters: [ARRAY],
      returns: ARRAY,
      run: ([list], budget) => sortBy('sort', list as Json[], (x) => x, budget),
    },
  ],
  [
    'sort_by',
    {
      usage: 'sort_by(list, &expression)',
      parameters: [ARRAY, 'expression'],
      returns: ARRAY,
      run: ([list, key], budget) => sortBy('sort_by', list as Json[], key as (e: Json) => Json, budget),
    },
  ],
  [
    'starts_with',
    {
      usage: 'starts_with(text, start)',
      parameters: [STRING, STRING],
      returns: ['boolean'],
      run: ([text, start]) => (text as string).startsWith(start as string),
    },
  ],
  [
    'sum',
    {
      usage: 'sum(numbers)',
      parameters: [ARRAY],
      returns: NUMBER,
      run: ([list], budget) => sum('sum', list as Json[], budget),
    },
  ],
  [
    'to_array',
    {
      usage: 'to_array(value)',
      parameters: ['any'],
      returns: ARRAY,
      run: ([x], budget) => toArray(x as Json, budget),
    },
  ],
  [
    'to_number',
    {
      usage: 'to_number(value)',
      parameters: ['any'],
      returns: ['number', 'null'],
      run: ([x]) => toNumber(x as Json),
    },
  ],
  [
    'to_string',
    {
      usage: 'to_string(value)',
      parameters: ['any'],
      returns: STRING,
      run: ([x], budget) => toText(x as Json, budget),
    },
  ],
  ['type', { usage: 'type(value)', parameters: ['any'], returns: STRING, run: ([x]) => typeOf(x as Json) }],
  [
    'values',
    {
      usage: 'values(object)',
      parameters: [OBJECT],
      returns: ARRAY,
      run: ([x], budget) => values(x as JsonObject, budget),
    },
  ],
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
