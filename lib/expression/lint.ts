/**
 * Expressions that are wrong, or valid and probably not meant.
 *
 * Errors (`unknown-function`, `wrong-arity`, `wrong-argument`) are certain to fail when evaluated; the others are
 * the traps of JMESPath that authors fall into, each with the usual fix written out. Nothing here looks at data.
 */
import { type Ast, isProjection, type PathStep, soleStep } from './ast.ts';
import type { Expression } from './expression.ts';
import { lintCall } from './lint-calls.ts';
import {
  ERRORS,
  type LintContext,
  type LintEnvironment,
  type LintFinding,
  lintQuotedString,
} from './lint-findings.ts';
import { printAst } from './print.ts';
import { type Current, ELEMENT, mayBeNull, SCOPE } from './static-types.ts';

export type { LintEnvironment, LintFinding } from './lint-findings.ts';

/** All findings, in the order of the source. Never throws. */
export function lintExpression(expression: Expression, environment: LintEnvironment): LintFinding[] {
  const findings: LintFinding[] = [];
  const known = environment.mayBeNull?.bind(environment) ?? (() => true);
  const context: LintContext = {
    environment,
    report(code, offset, message, hint) {
      findings.push({ code, severity: ERRORS.has(code) ? 'error' : 'warning', offset, message, hint });
    },
    isNullable: (node, current) => mayBeNull(node, current, known),
  };
  lintNode(expression.ast, SCOPE, true, context);
  return findings.sort((a, b) => a.offset - b.offset);
}

/** @param wide a pipe may be written here without parentheses */
function lintNode(node: Ast, current: Current, wide: boolean, context: LintContext): void {
  switch (node.type) {
    case 'literal':
      return;
    case 'path':
      lintPath(node, current, wide, context);
      return;
    case 'not':
      lintNode(node.operand, current, false, context);
      return;
    case 'compare':
      for (const [side, other] of [
        [node.left, node.right],
        [node.right, node.left],
      ] as const) {
        if (other.type !== 'literal') lintQuotedString(side, context);
        lintNode(side, current, false, context);
      }
      return;
    case 'and':
    case 'or':
      node.operands.forEach((operand, index) => {
        if (node.type === 'or' && index > 0) lintQuotedString(operand, context);
        lintNode(operand, current, false, context);
      });
      return;
    case 'pipe': {
      let value = current;
      for (const stage of node.stages) {
        lintNode(stage, value, false, context);
        value = { isScope: value.isScope && isItself(stage), mayBeNull: context.isNullable(stage, value) };
      }
      return;
    }
    case 'reference':
      lintNode(node.expression, ELEMENT, true, context);
  }
}

/** `@` and `$`, after which the current value is what it was. */
function isItself(node: Ast): boolean {
  return node.type === 'path' && node.steps.length === 0 && node.start.type === 'current';
}

function lintPath(node: Ast & { type: 'path' }, current: Current, wide: boolean, context: LintContext): void {
  const { start, steps } = node;
  let first = current;
  if (start.type === 'root') first = SCOPE;
  else if (start.type !== 'current') {
    lintNode(start, current, false, context);
    first = { isScope: false, mayBeNull: context.isNullable(start, current) };
  } else if (!start.written) lintBareName(node, current, context);
  if (start.type === 'not' && steps.length > 0) lintNot(node, start, context);

  const valueBefore = (index: number): Current => {
    const last = steps[index - 1];
    if (last === undefined) return first;
    if (isProjection(last)) return ELEMENT;
    const before: Ast = { ...node, steps: steps.slice(0, index) };
    return { isScope: false, mayBeNull: context.isNullable(before, current) };
  };
  steps.forEach((step, index) => {
    lintStep(step, () => valueBefore(index), context);
    if (step.type === 'index') lintIndex(node, index, wide, context);
    if (step.type === 'filter') lintNullFilter(node, step, index, context);
  });
}

/** @param valueBefore what the step is taken of; few steps ask, and to answer takes a walk of the path. */
function lintStep(step: PathStep, valueBefore: () => Current, context: LintContext): void {
  switch (step.type) {
    case 'filter':
      lintNode(step.condition, ELEMENT, true, context);
      return;
    case 'multi-list': {
      const value = valueBefore();
      for (const item of step.items) lintNode(item, value, true, context);
      return;
    }
    case 'multi-hash': {
      const value = valueBefore();
      for (const entry of step.entries) lintNode(entry.value, value, true, context);
      return;
    }
    case 'call': {
      const value = valueBefore();
      lintCall(step, value, context);
      for (const arg of step.args) lintNode(arg, value, true, context);
      return;
    }
    case 'field':
    case 'index':
    case 'slice':
    case 'flatten':
    case 'list-wildcard':
    case 'object-wildcard':
      return;
  }
}

/** The first name of a path that starts at the current value. */
function lintBareName(node: Ast & { type: 'path' }, current: Current, context: LintContext): void {
  const [step] = node.steps;
  if (step?.type !== 'field' || step.quoted) return;
  const { name, offset } = step;
  const isWord = name === 'true' || name === 'false' || (name === 'null' && current.isScope);
  if (isWord && node.steps.length === 1) {
    context.report(
      'bare-literal',
      offset,
      `${name} without backticks is a field of that name, not the value ${name}`,
      `write \`${name}\``,
    );
    return;
  }
  if (current.isScope || !context.environment.roots.has(name)) return;
  context.report(
    'root-without-dollar',
    offset,
    `here ${name} is a field of the value that is looked at (an element, what stands before the dot or pipe), not the ${name} of the scope`,
    `write ${printAst({ ...node, start: { type: 'root' } })}; if the field is meant, write @.${name}`,
  );
}

/** `!a.b` is `(!a).b`, which is always null. */
function lintNot(node: Ast & { type: 'path' }, not: Ast & { type: 'not' }, context: LintContext): void {
  const { operand } = not;
  const whole: Ast =
    operand.type === 'path' && node.steps[0]?.type !== 'flatten'
      ? { ...operand, steps: [...operand.steps, ...node.steps] }
      : { ...node, start: operand };
  const written = printAst({ ...node, start: not });
  context.report(
    'not-binds-tighter',
    not.offset,
    `! binds tighter than what follows, so this is ${written}, which is always null`,
    `write ${printAst({ type: 'not', operand: whole, offset: not.offset })}`,
  );
}

/** `L[?x == 'y'][0]` takes the first of each element, not the first element. */
function lintIndex(node: Ast & { type: 'path' }, index: number, wide: boolean, context: LintContext): void {
  const before = node.steps[index - 1];
  if (before?.type !== 'filter' && before?.type !== 'flatten') return;
  const step = node.steps[index];
  if (step?.type !== 'index') return;
  const list: Ast = { ...node, steps: node.steps.slice(0, index) };
  const rest: Ast = { ...node, start: { type: 'current', written: false }, steps: node.steps.slice(index) };
  const piped = printAst({ type: 'pipe', stages: [list, rest], offset: node.offset });
  context.report(
    'index-in-projection',
    step.offset,
    `[${step.index}] applies to each element, not to the list that ${before.type === 'filter' ? 'the filter' : '[]'} gives`,
    `write ${wide ? piped : `(${piped})`}`,
  );
}

/** A projection leaves nulls out, so what a filter for nulls gives is always empty. */
function lintNullFilter(
  node: Ast & { type: 'path' },
  step: PathStep & { type: 'filter' },
  index: number,
  context: LintContext,
): void {
  const rest = node.steps.slice(index + 1);
  if (!keepsOnlyNulls(step.condition) || rest.some((next) => next.type === 'call')) return;
  const counted: Ast = { ...node, steps: node.steps.slice(0, index) };
  const list = counted.type === 'path' && counted.steps.length === 0 ? '' : printAst(counted);
  context.report(
    'null-items-dropped',
    step.offset,
    'a filter leaves null elements out of what it gives, so this list is always empty and its length 0',
    `count nulls with length(${list}[?@ == \`null\`].type(@)); of a loop, results.LOOP.failed and results.LOOP.skipped have the numbers`,
  );
}

function keepsOnlyNulls(condition: Ast): boolean {
  if (condition.type !== 'compare' || condition.operator !== '==') return false;
  const { left, right } = condition;
  return (isItself(left) && isNull(right)) || (isNull(left) && isItself(right));
}

/** `` `null` ``, or the field `null`, which is null for all that is no object. */
function isNull(node: Ast): boolean {
  if (node.type === 'literal') return node.value === null;
  const step = soleStep(node);
  return step?.type === 'field' && step.name === 'null';
}
