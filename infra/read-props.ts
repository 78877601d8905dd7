/**
 * Context → props. Every fault is told with its place, what is there, what is allowed and, for a misspelt name, the nearest
 * one; all of them at once.
 *
 *     cdk.json, context "mwe":
 *       auth.mode: "basic" is set; allowed is "bearer", "iam" or "oauth"
 *       limts: there is no such prop. Did you mean "limits"?
 */
import { z } from 'zod';
import { nearestName } from '../lib/blueprint/suggest.ts';
import { type EngineProps, propsSchema } from './props.ts';
import { SynthFault } from './synth-fault.ts';

export const CONTEXT_KEY = 'mwe';
const MAX_SHOWN = 80;

/**
 * Reads the props from the value of the context key.
 * @param context absent: all defaults; an object from cdk.json; a text from `-c mwe='{…}'`.
 * @throws SynthFault that names every fault
 */
export function readProps(context: unknown): EngineProps {
  const value = typeof context === 'string' ? parseText(context) : (context ?? {});
  const parsed = propsSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  const faults = parsed.error.issues.flatMap((issue) => faultsOf(issue, value));
  throw new SynthFault(`cdk.json, context "${CONTEXT_KEY}":`, faults);
}

function parseText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new SynthFault(`-c ${CONTEXT_KEY}=…:`, [
      `${shown(text)} is no JSON; write -c ${CONTEXT_KEY}='{"prefix":"test"}'`,
    ]);
  }
}

function faultsOf(issue: z.core.$ZodIssue, root: unknown): string[] {
  const place = issue.path.length === 0 ? 'the value' : issue.path.map(String).join('.');
  if (issue.code === 'unrecognized_keys') {
    const known = keysAt(issue.path);
    return issue.keys.map((key) => {
      const near = nearestName(key, known);
      const fix = near === undefined ? `There are ${known.join(', ')}.` : `Did you mean "${near}"?`;
      return `${[...issue.path, key].map(String).join('.')}: there is no such prop. ${fix}`;
    });
  }
  // A key of a record is at fault itself, not what stands under it.
  if (issue.code === 'invalid_key') {
    const allowed = issue.issues.map((each) => each.message).join('; ');
    return [`${place}: this key is not allowed; allowed are ${allowed}`];
  }
  // A check of ours says in a sentence what is wrong; the schema's own say what is allowed.
  if (issue.code === 'custom') return [`${place}: ${issue.message}`];
  const value = at(root, issue.path);
  const got = value === undefined ? 'nothing is set' : `${shown(value)} is set`;
  return [`${place}: ${got}; allowed is ${issue.message}`];
}

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text;
}

function at(root: unknown, path: readonly PropertyKey[]): unknown {
  let value = root;
  for (const key of path) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = (value as Record<PropertyKey, unknown>)[key];
  }
  return value;
}

/** Names of the props at a place, from the schema's own JSON Schema. */
function keysAt(path: readonly PropertyKey[]): string[] {
  let schemas: JsonSchema[] = [z.toJSONSchema(propsSchema, { io: 'input' }) as JsonSchema];
  for (const key of path) {
    schemas = schemas
      .flatMap(alternatives)
      .flatMap((schema) => schema.properties?.[String(key)] ?? schema.additionalProperties ?? []);
  }
  return [
    ...new Set(schemas.flatMap(alternatives).flatMap((schema) => Object.keys(schema.properties ?? {}))),
  ];
}

interface JsonSchema {
  properties?: Record<string, JsonSchema>;
  additionalProperties?: JsonSchema;
  oneOf?: JsonSchema[];
  anyOf?: JsonSchema[];
}

function alternatives(schema: JsonSchema): JsonSchema[] {
  return [schema, ...(schema.oneOf ?? []), ...(schema.anyOf ?? [])];
}
