/** The findings of the lint: their codes, their shape, and what the checks share. */
import { type Ast, soleStep } from './ast.ts';
import { printString } from './print.ts';
import type { Current } from './static-types.ts';

export type LintCode =
  | 'unknown-function'
  | 'wrong-arity'
  | 'wrong-argument'
  | 'quoted-string'
  | 'bare-literal'
  | 'not-binds-tighter'
  | 'index-in-projection'
  | 'root-without-dollar'
  | 'null-argument'
  | 'null-items-dropped';

export interface LintEnvironment {
  /** Names that have a meaning in the scope here: `params`, `steps`, the loop's name, ... */
  roots: ReadonlySet<string>;
  /** Whether a path into the scope, root first, can be null. Without it every path can. */
  mayBeNull?(path: string[]): boolean;
}

export interface LintFinding {
  code: LintCode;
  severity: 'error' | 'warning';
  /** Into the expression, in UTF-16 units. */
  offset: number;
  message: string;
  /** The usual fix, with the expression as it would be written where that can be said. */
  hint: string;
}

/** What the checks of one expression share. */
export interface LintContext {
  environment: LintEnvironment;
  report(code: LintCode, offset: number, message: string, hint: string): void;
  isNullable(node: Ast, current: Current): boolean;
}

export const ERRORS: ReadonlySet<LintCode> = new Set(['unknown-function', 'wrong-arity', 'wrong-argument']);

/** `"Running"` names a field; a string is `'Running'`. */
export function lintQuotedString(node: Ast, context: LintContext): void {
  const step = soleStep(node);
  if (step?.type !== 'field' || !step.quoted) return;
  context.report(
    'quoted-string',
    step.offset,
    `${JSON.stringify(step.name)} is read as the field of that name, not as a string`,
    `write ${printString(step.name)}`,
  );
}
