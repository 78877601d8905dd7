/**
 * Workflow variables. A lane (the execution, a branch, an iteration) has a scope of its own and reads the scopes around
 * it; what it assigns ends with it. A scope's values are replaced as a whole by each Assign and never changed in place,
 * so a checkpoint may hold on to them.
 * Source: developer guide, "Passing data between states with variables".
 */

import { MAX_PAYLOAD_BYTES } from '../../../asl/limits.ts';
import type { Json, JsonObject } from '../../../blueprint/json.ts';
import { exceedsBytes, jsonText } from './json-text.ts';

/** All variables of an execution together. */
const MAX_STORED_BYTES = 10 * 1024 * 1024;

export interface Scope {
  values: JsonObject;
  outer?: Scope;
  /** Shared by all scopes of the execution. */
  readonly stored: { bytes: number };
}

export function rootScope(values: JsonObject = {}): Scope {
  const scope: Scope = { values, stored: { bytes: 0 } };
  scope.stored.bytes = sizeOf(values);
  return scope;
}

export function innerScope(outer: Scope, values: JsonObject = {}): Scope {
  outer.stored.bytes += sizeOf(values);
  return { values, outer, stored: outer.stored };
}

/** Gives back what a finished lane's variables took. */
export function leaveScope(scope: Scope): void {
  scope.stored.bytes -= sizeOf(scope.values);
}

/** Puts every variable that can be read from `scope` into `target`, inner over outer. */
export function readVariables(scope: Scope, target: Record<string, unknown>): void {
  if (scope.outer !== undefined) readVariables(scope.outer, target);
  for (const name of Object.keys(scope.values)) target[name] = scope.values[name];
}

/**
 * Assigns to the scope itself.
 * @returns undefined, or why it is refused: a name of an outer scope, or a limit
 */
export function assignVariables(
  scope: Scope,
  assigned: JsonObject,
): { limit: boolean; message: string } | undefined {
  let total = 0;
  for (const [name, value] of Object.entries(assigned)) {
    for (let outer = scope.outer; outer !== undefined; outer = outer.outer) {
      if (Object.hasOwn(outer.values, name)) {
        return {
          limit: false,
          message: `The variable '${name}' belongs to an outer scope and cannot be assigned here.`,
        };
      }
    }
    const text = jsonText(value);
    if (exceedsBytes(text, MAX_PAYLOAD_BYTES)) {
      return { limit: true, message: `The variable '${name}' exceeds the maximum size of 256 KiB.` };
    }
    total += byteSize(value);
  }
  if (total > MAX_PAYLOAD_BYTES) {
    return {
      limit: true,
      message: 'The combined size of the variables in one Assign exceeds the maximum of 256 KiB.',
    };
  }
  const values = { ...scope.values, ...assigned };
  const bytes = scope.stored.bytes - sizeOf(scope.values) + sizeOf(values);
  if (bytes > MAX_STORED_BYTES) {
    return { limit: true, message: 'The total size of the stored variables exceeds the maximum of 10 MiB.' };
  }
  scope.values = values;
  scope.stored.bytes = bytes;
  return undefined;
}

function sizeOf(values: JsonObject): number {
  let bytes = 0;
  for (const value of Object.values(values)) bytes += byteSize(value);
  return bytes;
}

function byteSize(value: Json): number {
  return Buffer.byteLength(jsonText(value));
}
