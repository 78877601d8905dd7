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
import type { JsonObject } from '../../../blueprint/json.ts';
import { STATES } from './failure.ts';
import { jsonText } from './json-text.ts';

/** All variables of an execution together. */
const MAX_STORED_BYTES = 10 * 1024 * 1024;

export interface Scope {
  values: JsonObject;
  /** Bytes of each value as JSON. */
  readonly sizes: Map<string, number>;
  outer?: Scope;
  /** Shared by all scopes of the execution. */
  readonly stored: { bytes: number };
}

export function rootScope(values: JsonObject = {}): Scope {
  const sizes = sizesOf(values);
  return { values, sizes, stored: { bytes: sum(sizes) } };
}

export function innerScope(outer: Scope, values: JsonObject = {}): Scope {
  const sizes = sizesOf(values);
  outer.stored.bytes += sum(sizes);
  return { values, sizes, outer, stored: outer.stored };
}

/** Gives back what a finished lane's variables took. */
export function leaveScope(scope: Scope): void {
  scope.stored.bytes -= sum(scope.sizes);
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
  const outer = Object.keys(assigned).find((name) => isOuter(scope, name));
  if (outer !== undefined) {
    return {
      error: STATES.QUERY,
      cause: `The variable '${outer}' belongs to an outer scope and cannot be assigned in an inner one.`,
    };
  }
  const sizes = sizesOf(assigned);
  const total = sum(sizes);
  if (total > MAX_PAYLOAD_BYTES) {
    const over = total - MAX_PAYLOAD_BYTES;
    return tooLarge(
      `State variable size limit exceeded. State '${state}' assigned variables that exceed the limit of a state by ${over} bytes.`,
    );
  }
  let bytes = scope.stored.bytes + total;
  for (const name of sizes.keys()) bytes -= scope.sizes.get(name) ?? 0;
  if (bytes > MAX_STORED_BYTES) {
    const over = bytes - MAX_STORED_BYTES;
    return tooLarge(
      `Execution total variable size limit exceeded. State '${state}' assigned variables that exceed the total execution limit by ${over} bytes.`,
    );
  }
  scope.values = { ...scope.values, ...assigned };
  for (const [name, size] of sizes) scope.sizes.set(name, size);
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

function sizesOf(values: JsonObject): Map<string, number> {
  return new Map(Object.entries(values).map(([name, value]) => [name, Buffer.byteLength(jsonText(value))]));
}

function sum(sizes: Map<string, number>): number {
  let bytes = 0;
  for (const size of sizes.values()) bytes += size;
  return bytes;
}
