/**
 * docs/errors.md: every diagnostic code and every run-time error kind on one page, from the two tables. A test fails when
 * the committed page differs.
 */
import { DIAGNOSTIC_CODES, type DiagnosticCode } from './diagnostic-codes.ts';
import { ERROR_KIND_TEXTS } from './error-kinds.ts';
import { ERROR_KINDS, RETRIED_KINDS } from './errors.ts';

const GROUPS: Record<string, string> = {
  1: 'Shape',
  2: 'Names',
  3: 'Templates and expressions',
  4: 'References',
  5: 'Sub-workflows',
  6: 'Tools',
  7: 'Flow',
  8: 'Expressions that are probably not meant',
  9: 'State machine',
};

/** The text of docs/errors.md. */
export function renderErrorsDoc(): string {
  return `${[...intro(), ...kinds(), ...diagnostics()].join('\n')}\n`;
}

function intro(): string[] {
  return [
    '# Errors',
    '',
    '<!-- Generated from lib/blueprint/diagnostic-codes.ts and lib/blueprint/error-kinds.ts by `npm run generate`. -->',
    '',
    'Two lists: [what can fail while a run goes on](#run-time-errors), and',
    '[what is wrong with a blueprint](#diagnostics) before it is saved.',
    '',
  ];
}

function kinds(): string[] {
  const lines = [
    '## Run-time errors',
    '',
    "A failed step has one error, of the same shape everywhere (`results.ID.error`, the run's `errors`, an item of a loop):",
    '`{ step, path, index, kind, message, attempts, server, tool }`. The kind is also the error name in the state machine.',
    '',
    'Nothing is retried unless the blueprint says so (`errorStrategy.maxRetries`), and then only the kinds marked below.',
    '',
    '| kind | when | retried | what to do |',
    '|---|---|---|---|',
  ];
  for (const kind of ERROR_KINDS) {
    const { when, remedy } = ERROR_KIND_TEXTS[kind];
    const retried = RETRIED_KINDS.includes(kind) ? 'by `maxRetries`' : 'no';
    lines.push(`| \`${kind}\` | ${cell(when)} | ${retried} | ${cell(remedy)} |`);
  }
  return [...lines, ''];
}

function diagnostics(): string[] {
  const lines = [
    '## Diagnostics',
    '',
    'Every diagnostic is `{ code, severity, pointer, message, got, expected, hint }`; all of a blueprint come at once. An',
    'error keeps it from being saved, a warning does not. Codes are stable: never renamed, never reused.',
    '',
  ];
  const codes = Object.keys(DIAGNOSTIC_CODES) as DiagnosticCode[];
  for (const [digit, title] of Object.entries(GROUPS)) {
    lines.push(`### ${title}`, '');
    for (const code of codes.filter((each) => each.charAt(2) === digit)) lines.push(...entry(code));
  }
  return lines.slice(0, -1);
}

function entry(code: DiagnosticCode): string[] {
  const { severity, title, why, bad, fix } = DIAGNOSTIC_CODES[code];
  return [
    `#### ${code} ${title}`,
    '',
    `*${severity}* · ${why}`,
    '',
    '```',
    `wrong: ${bad}`,
    `right: ${fix}`,
    '```',
    '',
  ];
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|');
}
