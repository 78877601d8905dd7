/** Evaluates a step's templates, turning what the expression library throws into failures that name step and place. */
import { StepFailure } from '../blueprint/errors.ts';
import type { Json, JsonObject } from '../blueprint/json.ts';
import { createBudget } from '../expression/budget.ts';
import { EvaluationError } from '../expression/errors.ts';
import { evaluateTemplate, type Template } from '../expression/template.ts';
import { truthy } from '../expression/values.ts';

/** The template's value. `where` is the field, e.g. `params.namespace`. Throws TemplateError or ResultTooLarge. */
export function evaluate(template: Template, scope: JsonObject, step: string, where: string): Json {
  if (template.kind === 'literal') return template.value;
  try {
    return evaluateTemplate(template, scope, createBudget());
  } catch (error) {
    if (!(error instanceof EvaluationError)) throw error;
    const expression = error.expression?.trim() ?? sourceOf(template);
    throw new StepFailure(
      error.kind,
      `step "${step}", ${where}${expression === undefined ? '' : ` ({{ ${expression} }})`}: ${error.message}`,
      {},
      { cause: error },
    );
  }
}

/** A condition's truth, JMESPath's: false, null and whatever is empty are false. */
export function holds(template: Template, scope: JsonObject, step: string, where: string): boolean {
  return truthy(evaluate(template, scope, step, where));
}

/** The expression of a template that is one whole expression. */
export function sourceOf(template: Template): string | undefined {
  return template.kind === 'expression' ? template.expression.source.trim() : undefined;
}
