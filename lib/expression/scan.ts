/**
 * Strings to their templates: where each `{{` begins and ends.
 *
 * A template ends at the first `}}` outside quotes with braces balanced. A `{{` after an odd number of backslashes is
 * text: `\{{` reads as `{{`, and to write a backslash before a template it is doubled (`\\{{ x }}`). Nothing else
 * is special: `}}` by itself, `{%`, and every other backslash are text.
 */
import { endOfQuoted } from './tokens.ts';

/** `source` is what stands between the braces, trimmed; `start` is its offset in the string. */
export interface ScannedExpression {
  source: string;
  start: number;
}

export interface ScannedText {
  parts: (string | ScannedExpression)[];
  /** Offset of a `{{` that is not closed; the text from there on is missing in `parts`. */
  unclosedAt?: number;
  /** The quote that is open at the end, if that is why. */
  openQuote?: string;
}

export function scanText(text: string): ScannedText {
  const parts: (string | ScannedExpression)[] = [];
  let literal = '';
  let at = 0;
  for (let open = text.indexOf('{{'); open >= 0; open = text.indexOf('{{', at)) {
    const slashes = countBackslashes(text, at, open);
    literal += text.slice(at, open - slashes) + '\\'.repeat(slashes >> 1);
    if (slashes % 2 === 1) {
      literal += '{{';
      at = open + 2;
      continue;
    }
    const { close, openQuote } = findEnd(text, open + 2);
    if (close < 0) {
      return { parts, unclosedAt: open, ...(openQuote === undefined ? {} : { openQuote }) };
    }
    if (literal !== '') parts.push(literal);
    literal = '';
    const inner = text.slice(open + 2, close);
    parts.push({ source: inner.trim(), start: open + 2 + (inner.length - inner.trimStart().length) });
    at = close + 2;
  }
  literal += text.slice(at);
  if (literal !== '') parts.push(literal);
  return { parts };
}

/**
 * The string that these parts are read from: what `scanText` is the inverse of. A single brace before a template has no
 * spelling of its own and becomes `{{ '{' }}`.
 */
export function printText(parts: (string | { source: string })[]): string {
  let out = '';
  let text = '';
  for (const part of parts) {
    if (typeof part === 'string') {
      text += part;
      continue;
    }
    out += `${printBeforeTemplate(text)}{{ ${part.source} }}`;
    text = '';
  }
  return out + escapeBraces(text);
}

function printBeforeTemplate(text: string): string {
  const braces = /\{*$/.exec(text)?.[0].length ?? 0;
  if (braces % 2 === 1) return `${printBeforeTemplate(text.slice(0, -1))}{{ '{' }}`;
  return escapeBraces(text).replace(/\\+$/, (slashes) => slashes + slashes);
}

function escapeBraces(text: string): string {
  return text.replace(/(\\*)\{\{/g, (_all, slashes: string) => `${slashes}${slashes}\\{{`);
}

function countBackslashes(text: string, from: number, to: number): number {
  let count = 0;
  while (to - count > from && text[to - count - 1] === '\\') count++;
  return count;
}

/** The offset of the `}}` that ends the template whose inside begins at `from`, or -1. */
function findEnd(text: string, from: number): { close: number; openQuote?: string } {
  let depth = 0;
  let at = from;
  while (at < text.length) {
    const character = text[at];
    if (character === '"' || character === "'" || character === '`') {
      const end = endOfQuoted(text, at);
      if (end < 0) return { close: -1, openQuote: character };
      at = end;
      continue;
    }
    if (character === '{') depth++;
    else if (character === '}') {
      if (depth > 0) depth--;
      else if (text[at + 1] === '}') return { close: at };
    }
    at++;
  }
  return { close: -1 };
}
