/**
 * A run's parameters against their declarations. The endpoint checks them before it starts a run and ` begin` checks
 * them again, because a console start or a schedule passes the endpoint by.
 */
import { quoteValue } from './diagnostics.ts';
import { isJsonObject, type Json, type JsonObject } from './json.ts';
import { listNames } from './suggest.ts';
import type { ParamDeclaration, ParamType } from './types.ts';

export interface ResolvedParams {
  /** Every declared parameter that has a value, defaults filled in. A null default leaves null. */
  params: JsonObject;
  /**
   * One sentence a fault, of many the first and their number; empty when the parameters are good. Values are never quoted:
   * they may be secret.
   */
  problems: string[];
}

/** Parameters that do not exist are told up to here, so that no request makes an answer larger than itself. */
const MAX_UNKNOWN_TOLD = 8;

/** The JSON type name of a value, as the messages say it. */
export function jsonType(value: Json): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value;
}

/** Whether a value is of a declared type; an integer is a number too, 1.0 is an integer (JSON Schema's rule). */
export function hasParamType(value: Json, type: ParamType): boolean {
  switch (type) {
    case 'string':
      return typeof value === 'string';
    case 'number':
      return typeof value === 'number';
    case 'integer':
      return typeof value === 'number' && Number.isInteger(value);
    case 'boolean':
      return typeof value === 'boolean';
    case 'array':
      return Array.isArray(value);
    case 'object':
      return isJsonObject(value);
  }
}

/**
 * Fills defaults and checks types. `given` is what the caller sent (undefined or null: nothing).
 * A null for an optional parameter (one whose default is null) is taken as given.
 */
export function resolveParams(
  declarations: Readonly<Record<string, ParamDeclaration>>,
  given: Json | undefined,
): ResolvedParams {
  if (given !== undefined && given !== null && !isJsonObject(given)) {
    return { params: {}, problems: [`params: an object is needed, ${jsonType(given)} came`] };
  }
  const values = given ?? {};
  const params: [string, Json][] = [];
  const problems: string[] = [];
  const names = Object.keys(declarations);
  const unknown = Object.keys(values).filter((name) => !Object.hasOwn(declarations, name));
  const known = names.length === 0 ? 'it has none' : `it has ${listNames(names)}`;
  for (const name of unknown.slice(0, MAX_UNKNOWN_TOLD)) {
    const shown = /^[\w.-]{1,64}$/.test(name) ? name : quoteValue(name);
    problems.push(`params/${shown}: the workflow has no such parameter; ${known}`);
  }
  const untold = unknown.length - MAX_UNKNOWN_TOLD;
  if (untold > 0) problems.push(`params: ${untold} more that the workflow does not have`);
  for (const [name, declaration] of Object.entries(declarations)) {
    const value = Object.hasOwn(values, name) ? values[name] : undefined;
    if (value === undefined) {
      if (declaration.default === undefined) {
        problems.push(`params/${name}: required (${declaration.type}) and missing`);
      } else {
        params.push([name, declaration.default]);
      }
    } else if (value === null && declaration.default === null) {
      params.push([name, null]);
    } else if (hasParamType(value, declaration.type)) {
      params.push([name, value]);
    } else {
      problems.push(`params/${name}: ${declaration.type} is needed, ${jsonType(value)} came`);
    }
  }
  return { params: Object.fromEntries(params), problems };
}
