/**
 * JSONata expressions of a state machine: `{% ... %}` compiled once, evaluated without a document of their own (AWS gives
 * `$` no value), and results made plain JSON. Compiled expressions hold nothing of an evaluation, so they are shared by
 * all executions; the number kept is bounded.
 */
import jsonata from 'jsonata';
import type { Json } from '../../../blueprint/json.ts';

const MAX_COMPILED = 5000;

const compiled = new Map<string, jsonata.Expression>();

/** The source between `{%` and `%}`, trimmed, or undefined where the text is a literal. */
export function expressionSource(text: string): string | undefined {
  return text.startsWith('{%') && text.endsWith('%}') && text.length >= 4
    ? text.slice(2, -2).trim()
    : undefined;
}

/** What went wrong, as the end of AWS's sentence "The JSONata expression '...' specified for the field '...' ...". */
export type EvaluationOutcome = { value: Json } | { problem: string };

/** @param bindings variables by name without `$`; inherited ones count */
export async function evaluateExpression(
  source: string,
  bindings: Record<string, unknown>,
): Promise<EvaluationOutcome> {
  let value: unknown;
  try {
    value = await compile(source).evaluate(undefined, bindings);
  } catch (error) {
    return { problem: `threw an error during evaluation. ${describeError(error)}` };
  }
  if (value === undefined) return { problem: 'returned nothing (undefined).' };
  const json = toJson(value);
  return json === undefined ? { problem: 'returned an unsupported result type.' } : { value: json };
}

function compile(source: string): jsonata.Expression {
  let expression = compiled.get(source);
  if (expression === undefined) {
    expression = jsonata(source);
    if (compiled.size >= MAX_COMPILED) {
      const oldest = compiled.keys().next().value;
      if (oldest !== undefined) compiled.delete(oldest);
    }
    compiled.set(source, expression);
  }
  return expression;
}

function describeError(error: unknown): string {
  if (typeof error !== 'object' || error === null) return String(error);
  const { code, message } = error as { code?: unknown; message?: unknown };
  const text = typeof message === 'string' ? message : 'Unknown error';
  return typeof code === 'string' ? `${code}: ${text}` : text;
}

/** A plain copy without jsonata's marks on arrays; undefined where there is a function or a number that JSON lacks. */
function toJson(value: unknown): Json | undefined {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value;
    case 'number':
      if (!Number.isFinite(value)) return undefined;
      return value === 0 ? 0 : value;
    case 'object':
      break;
    default:
      return undefined;
  }
  if (value === null) return null;
  if (Array.isArray(value)) {
    const items: Json[] = [];
    for (const item of value) {
      const json = toJson(item);
      if (json === undefined) return undefined;
      items.push(json);
    }
    return items;
  }
  if ('_jsonata_lambda' in value || '_jsonata_function' in value) return undefined;
  const entries: [string, Json][] = [];
  for (const [key, member] of Object.entries(value)) {
    if (member === undefined) continue;
    const json = toJson(member);
    if (json === undefined) return undefined;
    entries.push([key, json]);
  }
  // Not by assignment: `__proto__` is a key like any other.
  return Object.fromEntries(entries);
}
