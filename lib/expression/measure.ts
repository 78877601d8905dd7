/**
 * The size of a value as it would be written down.
 *
 * An evaluation shares what it does not change, so a small graph in memory can be an enormous text. This walks the
 * value as a tree and stops at the limit, so the walk is bounded whatever the value is.
 */
import type { Json } from '../blueprint/json.ts';
import { type Budget, tooLarge } from './budget.ts';
import { EvaluationError } from './errors.ts';

/** Values nested deeper cannot be written as text safely. Tools' results are far below it. */
export const MAX_VALUE_DEPTH = 512;

/**
 * Length of the compact JSON of a value, in UTF-16 units and without the escapes.
 * @throws EvaluationError ResultTooLarge past the budget's `maxBytes`; TemplateError for a value nested over
 * MAX_VALUE_DEPTH, and where the walk itself exceeds what may be visited.
 */
export function measure(value: Json, budget: Budget): number {
  const { maxBytes } = budget;
  let size = 0;
  const walk = (node: Json, depth: number): void => {
    if (typeof node === 'string') size += node.length + 2;
    else if (node === null || typeof node === 'boolean') size += 4;
    else if (typeof node === 'number') size += Number.isSafeInteger(node) && node >= 0 && node < 1000 ? 3 : 8;
    else {
      if (depth >= MAX_VALUE_DEPTH) {
        throw new EvaluationError(`comes to a value nested deeper than ${MAX_VALUE_DEPTH}`);
      }
      size += 2;
      if (Array.isArray(node)) {
        budget.visit(node.length);
        for (const item of node) {
          walk(item, depth + 1);
          size += 1;
        }
      } else {
        const names = Object.keys(node);
        budget.visit(names.length);
        for (const name of names) {
          size += name.length + 4;
          walk(node[name] ?? null, depth + 1);
        }
      }
    }
    if (size > maxBytes) throw tooLarge(maxBytes);
  };
  walk(value, 0);
  return size;
}

/** A string as it is, anything else as compact JSON. */
export function toText(value: Json, budget: Budget): string {
  if (typeof value === 'string') return value;
  measure(value, budget);
  const text = JSON.stringify(value);
  budget.spend(text.length);
  return text;
}
