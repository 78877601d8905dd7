/**
 * The syntax tree of an expression.
 *
 * A path is a start and a flat list of accesses, so that `a.b.c.d` costs no nesting: what nests here is what nests in
 * the source (brackets, projections, `!`), and that is bounded by MAX_EXPRESSION_DEPTH. `[]` closes the projections
 * before it, so it is always the first access of its path: `a[*].b[].c` is the path `[].c` that starts at `a[*].b`.
 * Every node knows the offset, in UTF-16 units of the source, at which it begins.
 */
import type { Json } from '../blueprint/json.ts';

export type Comparator = '==' | '!=' | '<' | '<=' | '>' | '>=';

export type Ast =
  | { type: 'path'; start: PathStart; steps: PathStep[]; offset: number }
  | { type: 'literal'; value: Json; form: 'json' | 'raw'; offset: number }
  | { type: 'not'; operand: Ast; offset: number }
  | { type: 'compare'; operator: Comparator; left: Ast; right: Ast; offset: number }
  | { type: 'and' | 'or'; operands: Ast[]; offset: number }
  | { type: 'pipe'; stages: Ast[]; offset: number }
  /** `&expression`, only as an argument of a function. */
  | { type: 'reference'; expression: Ast; offset: number };

/** Where a path begins: the current value (`@`, or nothing written), the scope (`$`), or the value of an expression. */
export type PathStart = { type: 'current'; written: boolean } | { type: 'root' } | Ast;

export type PathStep =
  | { type: 'field'; name: string; quoted: boolean; offset: number }
  | { type: 'index'; index: number; offset: number }
  | { type: 'slice'; start: number | null; stop: number | null; step: number; offset: number }
  | { type: 'list-wildcard'; offset: number }
  | { type: 'object-wildcard'; offset: number }
  | { type: 'filter'; condition: Ast; offset: number }
  | { type: 'flatten'; offset: number }
  | { type: 'multi-list'; items: Ast[]; offset: number }
  | { type: 'multi-hash'; entries: HashEntry[]; offset: number }
  | FunctionCall;

export interface HashEntry {
  key: string;
  value: Ast;
  offset: number;
}

export interface FunctionCall {
  type: 'call';
  name: string;
  args: Ast[];
  offset: number;
}

/** True for an access after which the rest of the path applies to each element, nulls being left out. */
export function isProjection(step: PathStep): boolean {
  switch (step.type) {
    case 'slice':
    case 'list-wildcard':
    case 'object-wildcard':
    case 'filter':
    case 'flatten':
      return true;
    default:
      return false;
  }
}

/** The one access of a path that is nothing else, e.g. the field of `name` or `"name"`; undefined otherwise. */
export function soleStep(node: Ast): PathStep | undefined {
  if (node.type !== 'path' || node.start.type !== 'current' || node.start.written) return undefined;
  return node.steps.length === 1 ? node.steps[0] : undefined;
}

/** The sub-expressions of an access, which are evaluated with the value before it (filter: with each element). */
export function stepChildren(step: PathStep): Ast[] {
  switch (step.type) {
    case 'filter':
      return [step.condition];
    case 'multi-list':
      return step.items;
    case 'multi-hash':
      return step.entries.map((entry) => entry.value);
    case 'call':
      return step.args;
    default:
      return [];
  }
}
