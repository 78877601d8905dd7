/**
 * What is wrong with a blueprint, said once. An error keeps it from being saved, a warning does not.
 *
 * The table of codes is lib/blueprint/diagnostic-codes.ts; docs/errors.md is made from it. A code is stable: it is never
 * renamed and never reused.
 */
import { DIAGNOSTIC_CODES, type DiagnosticCode } from './diagnostic-codes.ts';

type Severity = 'error' | 'warning';

export interface Diagnostic {
  code: DiagnosticCode;
  severity: Severity;
  /** JSON pointer (RFC 6901) into the blueprint; empty for the blueprint itself. */
  pointer: string;
  /** One line that stands by itself: `steps/2/params/ns: unknown step "list-ns"; ... Did you mean "namespaces"?` */
  message: string;
  /** What came, as it would be written, cut to a line. */
  got: string;
  /** What is allowed there. */
  expected: string;
  /** The likely fix. */
  hint: string;
}

/** What a check says beside code and place. */
export interface DiagnosticText {
  /** The sentence without its place. */
  message: string;
  got: string;
  /** Default: the code's rule. */
  expected?: string;
  /** Default: the name that was meant, else the code's example of a fix. */
  hint?: string;
  /** A name that was probably meant: added to the message as a question. */
  meant?: string | undefined;
}

const MAX_GOT = 80;

/** A diagnostic of a code of the table; the message begins with the place. */
export function diagnostic(code: DiagnosticCode, pointer: string, text: DiagnosticText): Diagnostic {
  const { message, meant, got } = text;
  const { severity, why, fix } = DIAGNOSTIC_CODES[code];
  const sentence = meant === undefined ? message : `${message}. Did you mean "${meant}"?`;
  return {
    code,
    severity,
    pointer,
    message: `${pointer === '' ? 'blueprint' : pointer.slice(1)}: ${sentence}`,
    got,
    expected: text.expected ?? why,
    hint: text.hint ?? (meant === undefined ? exampleOf(fix) : `write "${meant}"`),
  };
}

/** Most fixes of the table are pieces of a blueprint, the others sentences. */
function exampleOf(fix: string): string {
  return /^[[{"]/.test(fix) ? `for example ${fix}` : fix;
}

/** An error among them keeps a blueprint from being saved. */
export function hasError(diagnostics: readonly Diagnostic[]): boolean {
  return diagnostics.some(({ severity }) => severity === 'error');
}

/** A value as it is quoted in `got`: its JSON, cut to a line. */
export function quoteValue(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (typeof value === 'string') return cut(JSON.stringify(value.slice(0, MAX_GOT + 1)));
  if (Array.isArray(value)) return `an array of ${value.length}`;
  if (typeof value === 'object' && value !== null) return 'an object';
  return cut(String(value));
}

/** A pointer and one more segment, escaped as RFC 6901 says. */
export function childPointer(pointer: string, key: string | number): string {
  return `${pointer}/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

/** Errors first, then in the order of the document: by pointer, indexes as numbers. A new array. */
export function sortDiagnostics(diagnostics: readonly Diagnostic[]): Diagnostic[] {
  const keyed = diagnostics.map((each) => ({ each, segments: each.pointer.split('/') }));
  keyed.sort(
    (a, b) =>
      Number(a.each.severity === 'warning') - Number(b.each.severity === 'warning') ||
      compareSegments(a.segments, b.segments),
  );
  return keyed.map(({ each }) => each);
}

function compareSegments(a: string[], b: string[]): number {
  for (let i = 0; i < Math.min(a.length, b.length); i++) {
    const [x, y] = [a[i] ?? '', b[i] ?? ''];
    if (x === y) continue;
    const numbers = /^\d+$/.test(x) && /^\d+$/.test(y);
    if (numbers) return Number(x) - Number(y);
    return x < y ? -1 : 1;
  }
  return a.length - b.length;
}

function cut(text: string): string {
  return text.length > MAX_GOT ? `${text.slice(0, MAX_GOT)}...` : text;
}
