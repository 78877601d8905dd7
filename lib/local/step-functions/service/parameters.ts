/**
 * An operation's parameters: checked against the API reference's constraints, then typed.
 *
 * All violations are reported at once in AWS's sentence ("2 validation errors detected: Value ... at ... failed to
 * satisfy constraint: ..."). Unknown members are ignored, as the service does. A value of `null` is an absent one.
 */
import { isJsonObject, type Json, type JsonObject } from '../../../blueprint/json.ts';
import { validationException } from './api-error.ts';

export type Rule =
  | {
      type: 'string';
      required?: boolean;
      min?: number;
      max?: number;
      maxBytes?: number;
      values?: readonly string[];
    }
  | { type: 'integer'; required?: boolean; min?: number; max?: number }
  | { type: 'boolean'; required?: boolean }
  | { type: 'object'; required?: boolean }
  | { type: 'list'; required?: boolean };

interface ValueTypes {
  string: string;
  integer: number;
  boolean: boolean;
  object: JsonObject;
  list: Json[];
}

export type Parameters<R extends Record<string, Rule>> = {
  [K in keyof R]: R[K] extends { required: true }
    ? ValueTypes[R[K]['type']]
    : ValueTypes[R[K]['type']] | undefined;
};

/** Reads what `rules` names; throws `ValidationException` that lists every violation. */
export function readParameters<const R extends Record<string, Rule>>(
  input: JsonObject,
  rules: R,
): Parameters<R> {
  const problems: string[] = [];
  const values: Record<string, Json> = {};
  for (const [name, rule] of Object.entries(rules)) {
    const value = Object.hasOwn(input, name) ? input[name] : undefined;
    if (value === undefined || value === null) {
      if (rule.required === true) {
        problems.push(`Value null at '${name}' failed to satisfy constraint: Member must not be null`);
      }
      continue;
    }
    const problem = checkValue(value, rule);
    if (problem !== undefined)
      problems.push(`Value${shown(value)} at '${name}' failed to satisfy constraint: ${problem}`);
    values[name] = value;
  }
  if (problems.length > 0) {
    const noun = problems.length === 1 ? 'error' : 'errors';
    throw validationException(`${problems.length} validation ${noun} detected: ${problems.join('; ')}`);
  }
  return values as Parameters<R>;
}

/** AWS leaves long values out of its sentence. */
function shown(value: Json): string {
  if (typeof value === 'string') return value.length > 2048 ? '' : ` '${value}'`;
  return typeof value === 'object' ? '' : ` '${String(value)}'`;
}

function checkValue(value: Json, rule: Rule): string | undefined {
  switch (rule.type) {
    case 'string':
      if (typeof value !== 'string') return 'Member must be a string';
      if (rule.min !== undefined && value.length < rule.min) {
        return `Member must have length greater than or equal to ${rule.min}`;
      }
      if (rule.max !== undefined && value.length > rule.max) {
        return `Member must have length less than or equal to ${rule.max}`;
      }
      if (rule.maxBytes !== undefined && Buffer.byteLength(value) > rule.maxBytes) {
        return `Member must have length less than or equal to ${rule.maxBytes}`;
      }
      if (rule.values !== undefined && !rule.values.includes(value)) {
        return `Member must satisfy enum value set: [${rule.values.join(', ')}]`;
      }
      return undefined;
    case 'integer':
      if (typeof value !== 'number' || !Number.isInteger(value)) return 'Member must be an integer';
      if (rule.min !== undefined && value < rule.min) {
        return `Member must have value greater than or equal to ${rule.min}`;
      }
      if (rule.max !== undefined && value > rule.max) {
        return `Member must have value less than or equal to ${rule.max}`;
      }
      return undefined;
    case 'boolean':
      return typeof value === 'boolean' ? undefined : 'Member must be a boolean';
    case 'object':
      return isJsonObject(value) ? undefined : 'Member must be a structure';
    case 'list':
      return Array.isArray(value) ? undefined : 'Member must be a list';
  }
}

/** The members that nearly every operation has, with the API reference's limits. */
export const ARN = { type: 'string', required: true, min: 1, max: 256 } as const satisfies Rule;
export const LONG_ARN = { type: 'string', required: true, min: 1, max: 2000 } as const satisfies Rule;
export const MAX_RESULTS = { type: 'integer', min: 0, max: 1000 } as const satisfies Rule;
export const NEXT_TOKEN = { type: 'string', min: 1, max: 1024 } as const satisfies Rule;
export const LONG_NEXT_TOKEN = { type: 'string', min: 1, max: 3096 } as const satisfies Rule;
export const INCLUDED_DATA = {
  type: 'string',
  values: ['ALL_DATA', 'METADATA_ONLY'],
} as const satisfies Rule;
