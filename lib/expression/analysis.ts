/** Questions about a tree that its compilation asks: what can be kept, and what can grow. */
import { type Ast, isProjection } from './ast.ts';

/** True where the value is the same whatever the current value is: every path in it starts at `$`. */
export function dependsOnScopeOnly(node: Ast): boolean {
  switch (node.type) {
    case 'literal':
      return true;
    case 'path':
      if (node.start.type === 'root') return true;
      if (node.start.type === 'current') {
        const [first] = node.steps;
        return !node.start.written && first?.type === 'call' && first.args.every(argumentDependsOnScopeOnly);
      }
      return dependsOnScopeOnly(node.start);
    case 'not':
      return dependsOnScopeOnly(node.operand);
    case 'compare':
      return dependsOnScopeOnly(node.left) && dependsOnScopeOnly(node.right);
    case 'and':
    case 'or':
      return node.operands.every(dependsOnScopeOnly);
    case 'pipe':
      return node.stages[0] !== undefined && dependsOnScopeOnly(node.stages[0]);
    case 'reference':
      return false;
  }
}

/** The expression of `&` is evaluated with the elements of the list beside it, so it adds no dependence. */
function argumentDependsOnScopeOnly(arg: Ast): boolean {
  return arg.type === 'reference' || dependsOnScopeOnly(arg);
}

/** Worth keeping: more than following fields. */
export function isWorkOverLists(node: Ast): boolean {
  switch (node.type) {
    case 'literal':
      return false;
    case 'path':
      return (
        node.steps.some((step) => step.type !== 'field' && step.type !== 'index') ||
        (node.start.type !== 'root' && node.start.type !== 'current' && isWorkOverLists(node.start))
      );
    case 'not':
      return isWorkOverLists(node.operand);
    case 'compare':
      return isWorkOverLists(node.left) || isWorkOverLists(node.right);
    case 'and':
    case 'or':
      return node.operands.some(isWorkOverLists);
    case 'pipe':
      return node.stages.some(isWorkOverLists);
    case 'reference':
      return false;
  }
}

/**
 * True where a result can hold one value in several places: a list or object put together by hand, or what answers the
 * same value for many elements. Without them a result, written down, is never larger than its sources.
 */
export function repeats(node: Ast, perElement: boolean): boolean {
  switch (node.type) {
    case 'literal':
      return perElement;
    case 'path': {
      if (node.start.type === 'root') {
        if (perElement) return true;
      } else if (node.start.type !== 'current' && repeats(node.start, perElement)) return true;
      let inside = perElement;
      for (const step of node.steps) {
        if (step.type === 'multi-list' || step.type === 'multi-hash') return true;
        if (step.type === 'call' && (inside || step.args.some((arg) => argumentRepeats(step.name, arg))))
          return true;
        if (isProjection(step)) inside = true;
      }
      return false;
    }
    case 'not':
    case 'compare':
      return false;
    case 'and':
    case 'or':
      return node.operands.some((operand) => repeats(operand, perElement));
    case 'pipe':
      return node.stages.some((stage) => repeats(stage, perElement));
    case 'reference':
      return repeats(node.expression, true);
  }
}

/** Of the functions that take an expression only `map` answers with its values. */
function argumentRepeats(name: string, arg: Ast): boolean {
  return (arg.type !== 'reference' || name === 'map') && repeats(arg, false);
}
