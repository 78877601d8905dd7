/**
 * The arguments of a tool call, checked against its schema. All faults at once, each with its place, what came and what is
 * needed; an argument that the tool does not have is refused with the nearest one that it has, for a misspelt option that
 * is passed over is a call that does something else.
 */
import type { z } from 'zod';
import { quoteValue } from '../blueprint/diagnostics.ts';
import { isJsonObject, type Json } from '../blueprint/json.ts';
import { jsonType } from '../blueprint/params.ts';
import { listNames, nearestName } from '../blueprint/suggest.ts';
import { EngineError } from '../engine/errors.ts';

/** Faults of one call that are told; of more there is the number. */
const MAX_FAULTS = 10;

/** @throws EngineError Invalid */
export function parseArguments<Input extends z.ZodObject>(
  tool: string,
  schema: Input,
  given: unknown,
): z.output<Input> {
  const args = (given ?? {}) as Json;
  const parsed = schema.safeParse(args);
  if (parsed.success) return parsed.data;
  const issues = parsed.error.issues.flatMap(oneByOne);
  const names = Object.keys(schema.shape);
  const faults = issues.slice(0, MAX_FAULTS).map((issue) => sentence(issue, tool, names, args));
  if (issues.length > MAX_FAULTS) faults.push(`and ${issues.length - MAX_FAULTS} more`);
  throw new EngineError('Invalid', faults.join('; '));
}

/** A fault about many names as one of each. */
function oneByOne(issue: z.core.$ZodIssue): z.core.$ZodIssue[] {
  return issue.code === 'unrecognized_keys' ? issue.keys.map((key) => ({ ...issue, keys: [key] })) : [issue];
}

function sentence(issue: z.core.$ZodIssue, tool: string, names: readonly string[], args: Json): string {
  const place = issue.path.length === 0 ? 'arguments' : issue.path.join('/');
  const value = valueAt(args, issue.path);
  switch (issue.code) {
    case 'unrecognized_keys':
      return issue.keys.map((key) => unknownArgument(key, tool, names)).join('; ');
    case 'invalid_type':
      return value === undefined
        ? `${place}: required (${issue.expected}) and missing`
        : `${place}: ${issue.expected} is needed, ${jsonType(value)} came`;
    case 'invalid_value': {
      const allowed = issue.values.map(String);
      const near = typeof value === 'string' ? nearestName(value, allowed) : undefined;
      const hint = near === undefined ? '' : `. Did you mean "${near}"?`;
      return `${place}: one of ${listNames(allowed)} is needed, ${shown(value)} came${hint}`;
    }
    case 'too_small':
      return `${place}: at least ${String(issue.minimum)} is needed, ${shown(value)} came`;
    case 'too_big':
      return `${place}: at most ${String(issue.maximum)} is allowed, ${shown(value)} came`;
    case 'not_multiple_of':
      return `${place}: a multiple of ${issue.divisor} is needed, ${shown(value)} came`;
    default:
      return `${place}: ${issue.message}`;
  }
}

function unknownArgument(key: string, tool: string, names: readonly string[]): string {
  const near = nearestName(key, names);
  const hint = near === undefined ? '' : `. Did you mean "${near}"?`;
  return `${quoteValue(key)}: ${tool} has no such argument; it has ${listNames(names)}${hint}`;
}

/** What came, in a few words: a text by its length, for it may be long or secret. */
function shown(value: Json | undefined): string {
  if (value === undefined) return 'nothing';
  if (typeof value === 'string' && value.length > 40) return `a text of ${value.length} characters`;
  return typeof value === 'object' && value !== null ? `an ${jsonType(value)}` : quoteValue(value);
}

function valueAt(args: Json, path: readonly PropertyKey[]): Json | undefined {
  let value: Json | undefined = args;
  for (const key of path) {
    if (Array.isArray(value)) value = value[Number(key)];
    else value = isJsonObject(value) && Object.hasOwn(value, String(key)) ? value[String(key)] : undefined;
  }
  return value;
}
