/**
 * Tokens of an expression.
 *
 * Two rules are ours, not JMESPath's: outside quotes a hyphen belongs to a name (`list-pods`; JMESPath has no minus, so
 * nothing valid changes), and `$` is a token. Everything else is JMESPath's lexical grammar.
 */
import type { Json } from '../blueprint/json.ts';
import type { Comparator } from './ast.ts';
import { ExpressionSyntaxError } from './errors.ts';

type Punctuation =
  | '.'
  | '*'
  | '['
  | ']'
  | '[?'
  | '[]'
  | '{'
  | '}'
  | '('
  | ')'
  | ','
  | ':'
  | '@'
  | '$'
  | '&'
  | '&&'
  | '|'
  | '||'
  | '!';

export type Token = { offset: number; end: number } & (
  | { type: 'name' | 'quoted'; name: string }
  | { type: 'number'; number: number }
  | { type: 'literal'; value: Json; form: 'json' | 'raw' }
  | { type: 'comparator'; operator: Comparator }
  | { type: Punctuation }
  | { type: 'end' }
);

const NAME = /[A-Za-z_][A-Za-z0-9_-]*/y;
const NUMBER = /-?[0-9]+/y;
const SPACE = /[ \t\r\n]*/y;
const PUNCTUATION = /\[\?|\[\]|&&|\|\||[.*[\]{}(),:@$&|!]/y;
const COMPARATOR = /==|!=|<=|>=|<|>/y;

/**
 * All tokens of a source, ended by one of type `end`.
 * @throws ExpressionSyntaxError for a character that begins no token, and for a quote that is not closed.
 */
export function tokenize(source: string): Token[] {
  const tokens: Token[] = [];
  let at = skipSpace(source, 0);
  while (at < source.length) {
    const token = readToken(source, at);
    tokens.push(token);
    at = skipSpace(source, token.end);
  }
  tokens.push({ type: 'end', offset: source.length, end: source.length });
  return tokens;
}

/** The offset after the quoted text that begins at `open` (a backslash takes the next character with it), or -1. */
export function endOfQuoted(source: string, open: number): number {
  const quote = source[open];
  for (let at = open + 1; at < source.length; at++) {
    if (source[at] === '\\') at++;
    else if (source[at] === quote) return at + 1;
  }
  return -1;
}

function readToken(source: string, offset: number): Token {
  const first = source[offset] ?? '';
  if (first === '"' || first === "'" || first === '`') return readQuoted(source, offset, first);
  const name = match(NAME, source, offset);
  if (name !== undefined) return { type: 'name', name, offset, end: offset + name.length };
  const number = match(NUMBER, source, offset);
  if (number !== undefined)
    return { type: 'number', number: Number(number), offset, end: offset + number.length };
  const operator = match(COMPARATOR, source, offset);
  if (operator !== undefined) {
    return { type: 'comparator', operator: operator as Comparator, offset, end: offset + operator.length };
  }
  const punctuation = match(PUNCTUATION, source, offset);
  if (punctuation !== undefined) {
    return { type: punctuation as Punctuation, offset, end: offset + punctuation.length };
  }
  throw unexpectedCharacter(source, offset);
}

function readQuoted(source: string, offset: number, quote: string): Token {
  const end = endOfQuoted(source, offset);
  if (end < 0) throw new ExpressionSyntaxError(`the quote ${quote} is not closed`, offset);
  const inner = source.slice(offset + 1, end - 1);
  if (quote === "'")
    return { type: 'literal', form: 'raw', value: inner.replaceAll("\\'", "'"), offset, end };
  if (quote === '"') return { type: 'quoted', name: readJsonString(inner, offset), offset, end };
  return { type: 'literal', form: 'json', value: readJsonLiteral(inner, offset), offset, end };
}

function readJsonString(inner: string, offset: number): string {
  try {
    return JSON.parse(`"${inner}"`) as string;
  } catch {
    throw new ExpressionSyntaxError(
      'a quoted name is written like a JSON string, and this one has a wrong escape or a control character',
      offset,
    );
  }
}

function readJsonLiteral(inner: string, offset: number): Json {
  const text = inner.replace(/\\([\s\S])/g, (pair, next: string) => (next === '`' ? '`' : pair));
  try {
    return JSON.parse(text) as Json;
  } catch {
    const word = inner.trim();
    throw new ExpressionSyntaxError(
      'between backticks stands JSON, and this is none',
      offset,
      word !== '' && !/[`'\\"]/.test(word) && word.length <= 40 ? `write the string as '${word}'` : undefined,
    );
  }
}

function unexpectedCharacter(source: string, offset: number): ExpressionSyntaxError {
  const character = String.fromCodePoint(source.codePointAt(offset) ?? 0);
  let hint: string | undefined;
  if (character === '=') hint = 'equality is ==';
  else if (character === '?')
    hint =
      'there is no conditional operator: write condition && a || b; a filter is [?condition], without a space';
  else if ('+-/%'.includes(character)) hint = 'JMESPath has no arithmetic; texts are put together with join';
  else if (/\p{L}/u.test(character))
    hint = 'a name with other letters than A to Z is written between double quotes';
  return new ExpressionSyntaxError(`unexpected ${JSON.stringify(character)}`, offset, hint);
}

function match(pattern: RegExp, source: string, offset: number): string | undefined {
  pattern.lastIndex = offset;
  return pattern.exec(source)?.[0];
}

function skipSpace(source: string, offset: number): number {
  return offset + (match(SPACE, source, offset)?.length ?? 0);
}
