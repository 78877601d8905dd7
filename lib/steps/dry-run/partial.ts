/**
 * Templates over a scope of which parts are not known. What can be resolved is; what reads something unknown stays as it
 * is written, and is told by its expression.
 *
 *     { "name": "{{ params.ns }}", "id": "{{ steps.created.id }}" }      steps.created was not called
 *   → value { name: "prod", id: UNKNOWN }, shown { "name": "prod", "id": "{{ steps.created.id }}" },
 *     unresolved ["steps.created.id"]
 */
import { isJsonObject, type Json, type JsonObject } from '../../blueprint/json.ts';
import type { Expression } from '../../expression/expression.ts';
import { references } from '../../expression/references.ts';
import { type Template, templateExpressions } from '../../expression/template.ts';
import { setField } from '../../expression/values.ts';
import { evaluate } from '../templates.ts';

/** Stands in a scope for a value that a dry run does not have. It is told by its identity and never leaves a dry run. */
export const UNKNOWN: JsonObject = Object.freeze({});

export interface Resolved {
  /** With UNKNOWN where an expression could not be resolved. */
  value: Json;
  /** For people: with the template itself in those places. */
  shown: Json;
  /** The expressions that read what is not known, each once. */
  unresolved: string[];
}

const partly = new WeakMap<object, boolean>();

/** Whether a value is, or holds anywhere, something unknown. */
export function hasUnknown(value: Json): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (value === UNKNOWN) return true;
  const known = partly.get(value);
  if (known !== undefined) return known;
  const found = Object.values(value).some(hasUnknown);
  partly.set(value, found);
  return found;
}

/** Resolves a template as far as the scope goes. Throws StepFailure where an expression that is all known fails. */
export function resolvePartly(template: Template, scope: JsonObject, step: string, where: string): Resolved {
  const unresolved = new Set<string>();
  for (const { expression } of templateExpressions(template)) {
    if (readsUnknown(expression, scope)) unresolved.add(expression.source.trim());
  }
  if (unresolved.size === 0) {
    const value = evaluate(template, scope, step, where);
    return { value, shown: value, unresolved: [] };
  }
  return { ...inParts(template, scope, step, where), unresolved: [...unresolved] };
}

function readsUnknown(expression: Expression, scope: JsonObject): boolean {
  return references(expression).some(({ root, path }) => {
    let value: Json = scope;
    for (const name of root === '$' ? path : [root, ...path]) {
      if (value === UNKNOWN) return true;
      if (!isJsonObject(value) || !Object.hasOwn(value, name)) return false;
      value = value[name] ?? null;
    }
    return hasUnknown(value);
  });
}

function inParts(
  template: Template,
  scope: JsonObject,
  step: string,
  where: string,
): { value: Json; shown: Json } {
  const part = (inner: Template) => resolvePartly(inner, scope, step, where);
  switch (template.kind) {
    case 'literal':
      return { value: template.value, shown: template.value };
    case 'expression':
      return { value: UNKNOWN, shown: asWritten(template.expression) };
    case 'text': {
      const texts = template.parts.map((each) => {
        if (typeof each === 'string') return each;
        if (readsUnknown(each, scope)) return asWritten(each);
        return String(part({ kind: 'text', parts: ['', each] }).value);
      });
      return { value: UNKNOWN, shown: texts.join('') };
    }
    case 'array': {
      const items = template.items.map(part);
      return { value: items.map((item) => item.value), shown: items.map((item) => item.shown) };
    }
    case 'object': {
      const value: JsonObject = {};
      const shown: JsonObject = {};
      for (const [key, inner] of template.entries) {
        const field = part(inner);
        setField(value, key, field.value);
        setField(shown, key, field.shown);
      }
      return { value, shown };
    }
  }
}

function asWritten(expression: Expression): string {
  return `{{ ${expression.source.trim()} }}`;
}
