/**
 * Expressions: JMESPath over the scope of a step.
 *
 * An expression is parsed once and evaluated against a scope as often as wanted. Evaluation is bounded (see budget.ts),
 * reads own properties only, never mutates the scope, and throws nothing but EvaluationError. The language is the JMESPath
 * specification with its functions, plus `$` for the scope, hyphens in names, and `.0` for `[0]`.
 */
import type { Json, JsonObject } from '../blueprint/json.ts';
import type { Ast } from './ast.ts';
import { type Budget, createBudget } from './budget.ts';
import { EvaluationError } from './errors.ts';
import { type Compiled, compileAst } from './evaluate.ts';
import { measure } from './measure.ts';
import { parse } from './parse.ts';

export interface Expression {
  source: string;
  ast: Ast;
  /** Where the source begins in the string it was written in, in UTF-16 units; 0 for an expression by itself. */
  start: number;
}

const compiledOf = new WeakMap<Ast, Compiled>();

/**
 * @param start where the source begins in the string around it.
 * @throws ExpressionSyntaxError with an offset into `source`.
 */
export function parseExpression(source: string, start = 0): Expression {
  return { source, ast: parse(source), start };
}

/**
 * The value of an expression; what it does not name is null. The value shares structure with the scope.
 * @param budget what may be built, 16 MiB by default; one budget can serve several evaluations.
 * @throws EvaluationError
 */
export function evaluateExpression(
  expression: Expression,
  scope: JsonObject,
  budget: Budget = createBudget(),
): Json {
  let compiled = compiledOf.get(expression.ast);
  if (compiled === undefined) {
    compiled = compileAst(expression.ast);
    compiledOf.set(expression.ast, compiled);
  }
  try {
    const value = compiled.run(scope, { scope, budget, once: [] });
    if (compiled.repeats && value !== null && typeof value === 'object') measure(value, budget.maxBytes);
    return value;
  } catch (error) {
    if (!(error instanceof EvaluationError) || error.expression !== undefined) throw error;
    throw new EvaluationError(error.message, error.kind, expression.source);
  }
}
