/**
 * The JSONata expressions of a state: each parses, and reads only what there is.
 *
 * An expression has no context item: input comes as `$states.input`, variables as `$name`. So a name at the top level is
 * refused, as is `$$`; `$states.result` exists in Output and Assign of Task, Parallel and Map, and `$states.errorOutput` in
 * those of a catcher. Unknown functions and variables are not refused, as the service does not.
 */
import jsonata from 'jsonata';
import { isJsonObject, type Json, type JsonObject } from '../../../blueprint/json.ts';
import { isExpression } from './fields.ts';
import { type FoundReference, findReferences } from './references.ts';
import type { Analysis, StateCheck } from './surroundings.ts';

/** Deeper payloads than this are refused; the service's own bound is not documented. */
const MAX_PAYLOAD_DEPTH = 200;

/** Fields that hold expressions, alone or inside a payload. */
const PLAIN_FIELDS = [
  ...[
    'Arguments',
    'Credentials',
    'Items',
    'ItemSelector',
    'ItemReader',
    'ItemBatcher',
    'ResultWriter',
    'Seconds',
  ],
  ...['Timestamp', 'TimeoutSeconds', 'HeartbeatSeconds', 'MaxConcurrency', 'ToleratedFailureCount'],
  ...['ToleratedFailurePercentage', 'Error', 'Cause'],
];
const WITH_RESULT = new Set(['Task', 'Parallel', 'Map']);

interface Readable {
  result: boolean;
  errorOutput: boolean;
}

export function checkExpressions(check: StateCheck): void {
  const { state, location } = check;
  const plain: Readable = { result: false, errorOutput: false };
  const outputs: Readable = { result: WITH_RESULT.has(String(state.Type)), errorOutput: false };
  for (const field of PLAIN_FIELDS) walk(state[field], `${location}/${field}`, plain, check, 0);
  for (const field of ['Output', 'Assign']) walk(state[field], `${location}/${field}`, outputs, check, 0);
  if (state.Type === 'Choice') {
    for (const { entry, place } of entries(state, 'Choices', location)) {
      for (const field of ['Condition', 'Output', 'Assign'])
        walk(entry[field], `${place}/${field}`, plain, check, 0);
    }
  }
  const caught: Readable = { result: false, errorOutput: true };
  for (const { entry, place } of entries(state, 'Catch', location)) {
    for (const field of ['Output', 'Assign']) walk(entry[field], `${place}/${field}`, caught, check, 0);
  }
}

function entries(state: JsonObject, field: string, location: string): { entry: JsonObject; place: string }[] {
  const list = state[field];
  if (!Array.isArray(list)) return [];
  return list.flatMap((entry, index) =>
    isJsonObject(entry) ? { entry, place: `${location}/${field}[${index}]` } : [],
  );
}

function walk(
  value: Json | undefined,
  location: string,
  readable: Readable,
  check: StateCheck,
  depth: number,
): void {
  if (depth > MAX_PAYLOAD_DEPTH) {
    check.report.add('TOO_DEEPLY_NESTED', `Value is nested more than ${MAX_PAYLOAD_DEPTH} deep`, location);
    return;
  }
  if (isExpression(value)) checkExpression(value.slice(2, -2), location, readable, check);
  else if (Array.isArray(value)) {
    for (const [index, each] of value.entries())
      walk(each, `${location}[${index}]`, readable, check, depth + 1);
  } else if (isJsonObject(value)) {
    for (const [key, each] of Object.entries(value))
      walk(each, `${location}/${key}`, readable, check, depth + 1);
  }
}

function checkExpression(source: string, location: string, readable: Readable, check: StateCheck): void {
  let analysis = check.expressions.get(source);
  if (analysis === undefined) {
    analysis = analyse(source);
    check.expressions.set(source, analysis);
  }
  if (analysis.problem !== undefined) {
    check.report.add('INVALID_JSONATA_EXPRESSION', analysis.problem, location);
    return;
  }
  for (const reference of analysis.references) {
    const message = fault(reference, readable);
    if (message !== undefined) check.report.add('UNSUPPORTED_JSONATA_EXPRESSION', message, location);
  }
}

function fault(reference: FoundReference, readable: Readable): string | undefined {
  switch (reference.kind) {
    case 'name':
      return `Reference to '${reference.name}' at the top level is not supported.`;
    case 'root':
      return "Reference to '$$' is not supported.";
    case 'states': {
      const there =
        (reference.field !== 'result' || readable.result) &&
        (reference.field !== 'errorOutput' || readable.errorOutput);
      return there ? undefined : `Field '$states.${reference.field}' does not exist.`;
    }
  }
}

function analyse(source: string): Analysis {
  try {
    return { references: findReferences(jsonata(source).ast()) };
  } catch (error) {
    return { problem: syntaxMessage(error), references: [] };
  }
}

/** The parser's own message without its code. A parser that runs out of stack has met nesting that nobody evaluates. */
function syntaxMessage(error: unknown): string {
  if (typeof error === 'object' && error !== null && 'message' in error && 'code' in error) {
    return String(error.message);
  }
  return 'The expression is nested too deeply';
}
