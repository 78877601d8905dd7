/**
 * Rules about single fields that many states share: which may stand, which must, of what type and range.
 */
import { isJsonObject, type JsonObject } from '../../../blueprint/json.ts';
import type { Report } from './diagnostic.ts';

/** Whether a string is a JSONata expression: AWS takes it as one only if it begins with `{%` and ends with `%}`. */
export function isExpression(value: unknown): value is string {
  return typeof value === 'string' && value.startsWith('{%') && value.endsWith('%}') && value.length >= 4;
}

export function unknownFields(
  owner: JsonObject,
  known: readonly string[],
  location: string,
  report: Report,
): void {
  for (const field of Object.keys(owner)) {
    if (!known.includes(field)) report.schema(`Field '${field}' is not supported`, location);
  }
}

export function missingFields(
  owner: JsonObject,
  required: readonly string[],
  location: string,
  report: Report,
): void {
  const missing = required.filter((field) => owner[field] === undefined);
  if (missing.length > 0) report.schema(`These fields are required: [${missing.join(', ')}]`, location);
}

/** Exactly one of `fields`. */
export function exactlyOne(
  owner: JsonObject,
  fields: readonly string[],
  location: string,
  report: Report,
): void {
  const present = fields.filter((field) => owner[field] !== undefined);
  if (present.length > 1) {
    report.schema(`There should only be one of the following fields: [${present.join(', ')}]`, location);
  } else if (present.length === 0) {
    report.schema(
      `This object should have only one of the following fields: [${fields.join(', ')}]`,
      location,
    );
  }
}

const TYPE_NAMES = { string: 'String', boolean: 'Boolean', object: 'Object', array: 'Array' } as const;

/** True where the field is absent or of the type. */
export function checkType(
  owner: JsonObject,
  field: string,
  type: keyof typeof TYPE_NAMES,
  location: string,
  report: Report,
): boolean {
  const value = owner[field];
  if (value === undefined) return true;
  const fits =
    type === 'object' ? isJsonObject(value) : type === 'array' ? Array.isArray(value) : typeof value === type;
  if (!fits) report.schema(`Expected value of type ${TYPE_NAMES[type]}`, `${location}/${field}`);
  return fits;
}

export function only(
  owner: JsonObject,
  field: string,
  values: readonly string[],
  location: string,
  report: Report,
): void {
  const value = owner[field];
  if (value === undefined || values.includes(value as string)) return;
  report.schema(`Value should be one of the following: [${values.join(', ')}]`, `${location}/${field}`);
}

interface Range {
  min: number;
  max: number;
  integer: boolean;
  /** Whether a JSONata expression may stand for the number. */
  expressions: boolean;
}

export function number(
  owner: JsonObject,
  field: string,
  range: Range,
  location: string,
  report: Report,
): void {
  const value = owner[field];
  if (value === undefined || (range.expressions && isExpression(value))) return;
  const place = `${location}/${field}`;
  if (typeof value !== 'number' || (range.integer && !Number.isInteger(value))) {
    report.schema(`Expected value of type ${range.integer ? 'Integer' : 'Number'}`, place);
  } else if (value < range.min || value > range.max) {
    report.schema(`Value should be between ${range.min} and ${range.max}`, place);
  }
}

/** The largest number of seconds that a field takes. */
export const MAX_SECONDS = 99_999_999;

export function seconds(
  owner: JsonObject,
  field: string,
  location: string,
  report: Report,
  options: { expressions: boolean; min?: number },
): void {
  const { expressions, min = 1 } = options;
  number(owner, field, { min, max: MAX_SECONDS, integer: true, expressions }, location, report);
}
