/** Templates: can each be read, and is it whole where it must be? The parsed sites are what the later checks work on. */

import type { DiagnosticCode } from '../../blueprint/diagnostic-codes.ts';
import { quoteValue } from '../../blueprint/diagnostics.ts';
import type { Expression } from '../../expression/expression.ts';
import {
  parseTemplate,
  type Template,
  type TemplateProblem,
  templateExpressions,
} from '../../expression/template.ts';
import type { Report } from './report.ts';
import { type Site, WHOLE_FIELDS } from './sites.ts';

export interface ParsedSite extends Site {
  template: Template;
  expressions: { expression: Expression; pointer: string; whole: boolean }[];
}

const CODES: Record<TemplateProblem['kind'], DiagnosticCode> = {
  syntax: 'BP301',
  unclosed: 'BP302',
  'too-long': 'BP303',
  'too-deep': 'BP304',
  'template-in-key': 'BP305',
};

/** What is allowed, where the rule of the code does not say it. */
const EXPECTED: Partial<Record<TemplateProblem['kind'], string>> = {
  syntax: 'a JMESPath expression between {{ and }}',
  unclosed: 'a }} outside quotes, with braces balanced before it',
};

/** Parses every site; what cannot be read is reported and left out of the expressions. */
export function parseSites(sites: readonly Site[], report: Report): ParsedSite[] {
  return sites.map((site) => {
    const { template, problems } = parseTemplate(site.value, site.pointer);
    for (const problem of problems) reportProblem(problem, report);
    if (problems.length === 0 && WHOLE_FIELDS.includes(site.field)) checkWhole(site, template, report);
    return { ...site, template, expressions: templateExpressions(template, site.pointer) };
  });
}

function reportProblem(problem: TemplateProblem, report: Report): void {
  const { kind, pointer, offset, message, source, hint } = problem;
  const place = kind === 'template-in-key' ? '' : ` (character ${offset + 1})`;
  report.add(CODES[kind], pointer, {
    message: `${message}${place}`,
    got: quoteValue(source),
    ...(EXPECTED[kind] === undefined ? {} : { expected: EXPECTED[kind] }),
    ...(hint === undefined ? {} : { hint }),
  });
}

/** `when`, `failWhen`, `while` and `over`: a string must be one expression from end to end. */
function checkWhole(site: Site, template: Template, report: Report): void {
  if (typeof site.value !== 'string' || template.kind === 'expression') return;
  const literal = site.field === 'over' ? 'a literal array' : 'true or false';
  const got = quoteValue(site.value);
  report.add('BP306', site.pointer, {
    message: `"${site.field}" takes one whole template, or ${literal}; ${got} is a text`,
    got,
    expected: `"{{ expression }}", or ${literal}`,
    hint: howWhole(site.value.trim(), site.field, template),
  });
}

function howWhole(text: string, field: string, template: Template): string {
  if (template.kind === 'text') {
    const example = field === 'over' ? '{{ steps.pods.items }}' : '{{ params.a == `1` }}';
    return `Put all of it inside one pair of braces: "${example}".`;
  }
  if (text.startsWith('[') || text === 'true' || text === 'false')
    return 'Write it as JSON, without the quotes.';
  return `Write it as a template: "{{ ${text.slice(0, 60)} }}".`;
}
