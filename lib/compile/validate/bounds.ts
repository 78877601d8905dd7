/**
 * The first look at an input of any kind: is it JSON, and of a size and depth that the other checks may walk? Whatever
 * passes here is plain data: no cycles, no prototypes, nothing deeper than the limit. It uses no recursion.
 */

import { childPointer, quoteValue } from '../../blueprint/diagnostics.ts';
import { isJsonObject, type JsonObject } from '../../blueprint/json.ts';
import { MAX_BLUEPRINT_BYTES, MAX_JSON_DEPTH } from '../../blueprint/limits.ts';
import type { Report } from './report.ts';

interface Visit {
  value: unknown;
  depth: number;
  parent: Visit | undefined;
  key: string | number;
}

/** The input as a JSON object, or undefined (and why, in the report) where nothing more can be said about it. */
export function checkBounds(input: unknown, report: Report): JsonObject | undefined {
  if (!isJsonObject(input) || !isPlain(input)) {
    report.add('BP103', '', {
      message: `a blueprint is a JSON object, ${quoteValue(input)} came`,
      got: quoteValue(input),
      expected: 'an object with "id" and "steps"',
    });
    return undefined;
  }
  const before = report.diagnostics.length;
  let bytes = 0;
  let good = true;
  const stack: Visit[] = [{ value: input, depth: 1, parent: undefined, key: '' }];
  for (let visit = stack.pop(); visit !== undefined; visit = stack.pop()) {
    const { value, depth } = visit;
    bytes += sizeOf(value);
    if (bytes > MAX_BLUEPRINT_BYTES) {
      report.diagnostics.length = before;
      report.add('BP101', '', {
        message: 'the blueprint is larger than 1 MiB',
        got: `more than ${MAX_BLUEPRINT_BYTES} bytes`,
        expected: `at most ${MAX_BLUEPRINT_BYTES} bytes of JSON`,
        hint: 'Read large data with a tool, or pass it as a parameter of the run.',
      });
      return undefined;
    }
    if (!isJsonValue(value)) {
      good = false;
      report.add('BP103', pointerOf(visit), {
        message: `${quoteValue(value)} is not a JSON value`,
        got: quoteValue(value),
        expected: 'a JSON value',
      });
    } else if (typeof value === 'object' && value !== null) {
      if (depth > MAX_JSON_DEPTH) {
        report.diagnostics.length = before;
        report.add('BP102', pointerOf(visit), {
          message: `nested more than ${MAX_JSON_DEPTH} deep`,
          got: `${depth} levels or more`,
          expected: `at most ${MAX_JSON_DEPTH} levels`,
          hint: 'Move inner steps into a sub-workflow, or flatten the data.',
        });
        return undefined;
      }
      for (const [key, member] of entriesOf(value)) {
        bytes += typeof key === 'string' ? Buffer.byteLength(key) + 4 : 1;
        if (key === '__proto__') reportProto(visit, report);
        stack.push({ value: member, depth: depth + 1, parent: visit, key });
      }
    }
  }
  return good ? input : undefined;
}

function reportProto(visit: Visit, report: Report): void {
  report.add('BP104', childPointer(pointerOf(visit), '__proto__'), {
    message: 'the key "__proto__" is not allowed',
    got: '"__proto__"',
    expected: 'any other key',
  });
}

function entriesOf(value: object): Iterable<[string | number, unknown]> {
  return Array.isArray(value) ? value.entries() : Object.entries(value);
}

function isJsonValue(value: unknown): boolean {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return true;
  if (typeof value === 'number') return Number.isFinite(value);
  return typeof value === 'object' && (Array.isArray(value) || isPlain(value));
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function sizeOf(value: unknown): number {
  if (typeof value === 'string') return Buffer.byteLength(value) + 2;
  if (typeof value === 'object' && value !== null) return 2;
  return String(value).length;
}

function pointerOf(visit: Visit): string {
  const keys: (string | number)[] = [];
  for (let at: Visit | undefined = visit; at?.parent !== undefined; at = at.parent) keys.push(at.key);
  return keys.reverse().reduce<string>(childPointer, '');
}
