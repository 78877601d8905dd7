/**
 * The arguments of a call. A top-level argument that comes out null is left out; where the tool requires it, the step fails
 * before anything is sent, naming step, argument and expression. Nested nulls stay.
 */
import { StepFailure } from '../../blueprint/errors.ts';
import type { JsonObject } from '../../blueprint/json.ts';
import type { ToolCallNode, WorkflowCallNode } from '../../compile/program.ts';
import { evaluate, sourceOf } from '../templates.ts';

/** The arguments, in the blueprint's order. Throws TemplateError, ResultTooLarge. */
export function evaluateArguments(node: ToolCallNode | WorkflowCallNode, scope: JsonObject): JsonObject {
  const args: JsonObject = {};
  for (const name of Object.keys(node.params)) {
    const template = node.params[name];
    if (template === undefined) continue;
    const value = evaluate(template, scope, node.id, `params.${name}`);
    // A key is the author's own and may be `__proto__`: assignment would set a prototype instead.
    if (value !== null) setOwn(args, name, value);
  }
  return args;
}

/** Throws InvalidArguments where a required argument was left out because it came out null. */
export function requireArguments(node: ToolCallNode, args: JsonObject, required: readonly string[]): void {
  for (const name of required) {
    if (Object.hasOwn(args, name) || !Object.hasOwn(node.params, name)) continue;
    const template = node.params[name];
    const source = template === undefined ? undefined : sourceOf(template);
    throw new StepFailure(
      'InvalidArguments',
      `step "${node.id}": the argument "${name}", which the tool requires, came out null${
        source === undefined ? '' : ` from {{ ${source} }}`
      }`,
    );
  }
}

function setOwn(target: JsonObject, name: string, value: JsonObject[string]): void {
  if (name === '__proto__') {
    Object.defineProperty(target, name, { value, enumerable: true, configurable: true, writable: true });
  } else {
    target[name] = value;
  }
}
