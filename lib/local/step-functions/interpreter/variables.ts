/**
 * Workflow variables. A lane (the execution, a branch, an iteration) has a scope of its own and reads the scopes around
 * it; what it assigns ends with it. A scope's values are replaced as a whole by each Assign and never changed in place,
 * so a checkpoint may hold on to them.
 *
 * Sizes are those of the values as JSON; names do not count.
 * Source: developer guide, "Passing data between states with variables"; the texts of the limits follow the one that AWS
 * was seen to give for the total.
 */
import { MAX_PAYLOAD_BYTES } from '../../../asl/limits.ts';
import type { Json, JsonObject } from '../../../blueprint/json.ts';
import { STATES } from './failure.ts';
import { jsonText } from './json-text.ts';

/** All variables of an execution together. */
const MAX_STORED_BYTES = 10 * 1024 * 1024;

export interface Scope {
  values: JsonObject;
  outer?: Scope;
  /** Shared by all scopes of the execution. */
  readonly stored: { bytes: number };
}

export function rootScope(values: JsonObject = {}): Scope {
  return { values, stored: { bytes: sizeOf(values) } };
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
 * @returns undefined, or why it is refused: a name of an outer scope (States.QueryEvaluationError) or a limit
 *   (States.DataLimitExceeded)
 */
export function assignVariables(
  scope: Scope,
  assigned: JsonObject,
  state: string,
): { error: string; cause: string } | undefined {
  let total = 0;
  for (const [name, value] of Object.entries(assigned)) {
    if (isOuter(scope, name)) {
      return {
        error: STATES.QUERY,
        cause: `The variable '${name}' belongs to an outer scope and cannot be assigned in an inner one.`,
      };
    }
    total += byteSize(value);
  }
  if (total > MAX_PAYLOAD_BYTES) {
    const over = total - MAX_PAYLOAD_BYTES;
    return tooLarge(
      `State variable size limit exceeded. State '${state}' assigned variables that exceed the limit of a state by ${over} bytes.`,
    );
  }
  const values = { ...scope.values, ...assigned };
  const bytes = scope.stored.bytes - sizeOf(scope.values) + sizeOf(values);
  if (bytes > MAX_STORED_BYTES) {
    const over = bytes - MAX_STORED_BYTES;
    return tooLarge(
      `Execution total variable size limit exceeded. State '${state}' assigned variables that exceed the total execution limit by ${over} bytes.`,
    );
  }
  scope.values = values;
  scope.stored.bytes = bytes;
  return undefined;
}

function tooLarge(cause: string): { error: string; cause: string } {
  return { error: STATES.DATA_LIMIT, cause };
}

function isOuter(scope: Scope, name: string): boolean {
  for (let outer = scope.outer; outer !== undefined; outer = outer.outer) {
    if (Object.hasOwn(outer.values, name)) return true;
  }
  return false;
}

function sizeOf(values: JsonObject): number {
  return Object.values(values).reduce<number>((bytes, value) => bytes + byteSize(value), 0);
}

function byteSize(value: Json): number {
  return Buffer.byteLength(jsonText(value));
}
