/** The items of a loop: what `over` gives. Null, anything but an array, and more than `maxItems` are errors, never a cut. */
import { StepFailure } from '../../blueprint/errors.ts';
import { isJsonObject, type Json, type JsonObject } from '../../blueprint/json.ts';
import { jsonType } from '../../blueprint/params.ts';
import type { LoopNode } from '../../compile/program.ts';
import { references } from '../../expression/references.ts';
import { evaluate, sourceOf } from '../templates.ts';

/** Keys that a message lists at most. */
const MAX_KEYS = 20;

/** Evaluates `over`. Throws TemplateError, ResultTooLarge, LimitExceeded. */
export function evaluateItems(node: LoopNode, scope: JsonObject): Json[] {
  if (node.over === undefined) throw new Error(`the loop "${node.id}" has no over`);
  const items = evaluate(node.over, scope, node.id, 'over');
  if (Array.isArray(items)) {
    if (items.length <= node.limit) return items;
    throw new StepFailure(
      'LimitExceeded',
      `step "${node.id}": over has ${items.length} items, more than maxItems (${node.limit})`,
    );
  }
  const source = sourceOf(node.over);
  const shown = source === undefined ? 'over' : `over ({{ ${source} }})`;
  const hint = items === null ? existingKeys(node, scope) : '';
  throw new StepFailure(
    'TemplateError',
    `step "${node.id}": ${shown} is ${items === null ? 'null' : `of type ${jsonType(items)}`}, an array is needed${hint}`,
  );
}

/** Where a path of the expression leaves what exists: the keys that are there. */
function existingKeys(node: LoopNode, scope: JsonObject): string {
  if (node.over?.kind !== 'expression') return '';
  for (const { root, path } of references(node.over.expression)) {
    let at: Json = scope;
    const walked: string[] = [];
    for (const name of [root, ...path]) {
      if (!isJsonObject(at)) break;
      if (!Object.hasOwn(at, name)) {
        const keys = Object.keys(at);
        const listed = keys
          .slice(0, MAX_KEYS)
          .map((key) => `"${key}"`)
          .join(', ');
        const more = keys.length > MAX_KEYS ? ` and ${keys.length - MAX_KEYS} more` : '';
        return `; "${walked.join('.')}" has ${keys.length === 0 ? 'no keys' : `the keys ${listed}${more}`}`;
      }
      at = at[name] ?? null;
      walked.push(name);
    }
  }
  return '';
}
