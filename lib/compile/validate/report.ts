/** What the checks of one validation share: where they report to, and the budget of what is costly to say. */

import type { DiagnosticCode } from '../../blueprint/diagnostic-codes.ts';
import { type Diagnostic, type DiagnosticText, diagnostic } from '../../blueprint/diagnostics.ts';
import { nearestName } from '../../blueprint/suggest.ts';

/** Names compared in one validation at most: a blueprint with thousands of wrong names stays fast to refuse. */
const MAX_COMPARISONS = 200_000;

/** Names of servers' tools and arguments are texts from outside: what cannot be seen, or is no name, is not suggested. */
const SHOWN = /^[^\p{C}\p{Z}]{1,200}$/u;

export interface Report {
  diagnostics: Diagnostic[];
  add(code: DiagnosticCode, pointer: string, text: DiagnosticText): void;
  /** The nearest of the names, as long as the budget lasts. */
  nearest(name: string, candidates: readonly string[]): string | undefined;
}

export function createReport(): Report {
  const diagnostics: Diagnostic[] = [];
  let comparisons = 0;
  return {
    diagnostics,
    add: (code, pointer, text) => {
      diagnostics.push(diagnostic(code, pointer, text));
    },
    nearest: (name, candidates) => {
      comparisons += candidates.length;
      const near = comparisons > MAX_COMPARISONS ? undefined : nearestName(name, candidates);
      return near !== undefined && SHOWN.test(near) ? near : undefined;
    },
  };
}
