/**
 * Expressions that are certain to fail, or valid and probably not meant. lib/expression finds them; this brings what the
 * blueprint knows (which names are roots here, what can be null) and the codes.
 */

import type { DiagnosticCode } from '../../blueprint/diagnostic-codes.ts';
import { quoteValue } from '../../blueprint/diagnostics.ts';
import { lintExpression } from '../../expression/lint.ts';
import type { LintCode } from '../../expression/lint-findings.ts';
import { nullKnowledge } from './nullability.ts';
import type { Outline } from './outline.ts';
import { rootsAt } from './references.ts';
import type { Report } from './report.ts';
import type { ParsedSite } from './templates.ts';
import type { Catalog } from './tools.ts';

const CODES: Record<LintCode, DiagnosticCode> = {
  'unknown-function': 'BP307',
  'wrong-arity': 'BP308',
  'wrong-argument': 'BP310',
  'quoted-string': 'BP801',
  'bare-literal': 'BP802',
  'not-binds-tighter': 'BP803',
  'index-in-projection': 'BP804',
  'root-without-dollar': 'BP805',
  'null-argument': 'BP806',
  'null-items-dropped': 'BP807',
};

/** What is allowed, where the rule of the code does not say it. */
const EXPECTED: Partial<Record<LintCode, string>> = {
  'unknown-function': 'a function of JMESPath',
  'wrong-arity': 'as many arguments as the function takes',
  'wrong-argument': 'an argument of a type that the function takes',
};

export function checkLints(
  sites: readonly ParsedSite[],
  outline: Outline,
  catalog: Catalog | undefined,
  report: Report,
): void {
  for (const site of sites) {
    if (site.expressions.length === 0) continue;
    const environment = {
      roots: new Set(rootsAt(site)),
      mayBeNull: nullKnowledge(site, outline, catalog),
    };
    for (const { expression, pointer } of site.expressions) {
      for (const { code, offset, message, hint } of lintExpression(expression, environment)) {
        report.add(CODES[code], pointer, {
          message: `${message} (character ${expression.start + offset + 1})`,
          got: quoteValue(expression.source.trim()),
          ...(EXPECTED[code] === undefined ? {} : { expected: EXPECTED[code] }),
          hint,
        });
      }
    }
  }
}
