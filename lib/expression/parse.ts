/**
 * Source to syntax tree: JMESPath's grammar with `$`, hyphens in names and `.0`.
 *
 * Binding, loosest first: `|`, `||`, `&&`, comparisons, paths. `!` binds tighter than `.`, so `!a.b` is `(!a).b`; only
 * an index follows its operand directly (`!a[0]`), or, once a projection has begun, what belongs to that projection.
 * The parser is recursive and counts its depth, so a source cannot exhaust the stack.
 */
import { MAX_EXPRESSION_BYTES, MAX_EXPRESSION_DEPTH } from '../blueprint/limits.ts';
import { type Ast, type HashEntry, isProjection, type PathStart, type PathStep } from './ast.ts';
import { ExpressionSyntaxError } from './errors.ts';
import { printName } from './print.ts';
import { type Token, tokenize } from './tokens.ts';

/** @throws ExpressionSyntaxError, also where the source is over 2 KiB (UTF-8) or nests over 32 deep. */
export function parse(source: string): Ast {
  const bytes = Buffer.byteLength(source);
  if (bytes > MAX_EXPRESSION_BYTES) {
    throw new ExpressionSyntaxError(
      `an expression has at most ${MAX_EXPRESSION_BYTES} bytes, and this one has ${bytes}`,
      0,
      'move part of it into a step of its own',
      'too-long',
    );
  }
  const tokens = new TokenReader(source, tokenize(source));
  if (tokens.peek().type === 'end') {
    throw new ExpressionSyntaxError('an expression is missing here', 0);
  }
  const ast = parsePipe(tokens);
  if (tokens.peek().type !== 'end') throw tokens.unexpected();
  return ast;
}

/** The place in the token list, and how deep the parser stands. */
class TokenReader {
  readonly source: string;
  readonly tokens: Token[];
  at = 0;
  depth = 0;

  constructor(source: string, tokens: Token[]) {
    this.source = source;
    this.tokens = tokens;
  }

  peek(ahead = 0): Token {
    const token = this.tokens[Math.min(this.at + ahead, this.tokens.length - 1)];
    if (token === undefined) throw new Error('the token list ends in a token');
    return token;
  }

  next(): Token {
    const token = this.peek();
    this.at++;
    return token;
  }

  skip(type: Token['type']): boolean {
    if (this.peek().type !== type) return false;
    this.at++;
    return true;
  }

  expect(type: Token['type']): Token {
    if (this.peek().type !== type) throw this.unexpected(type);
    return this.next();
  }

  enter(): void {
    this.depth++;
    if (this.depth > MAX_EXPRESSION_DEPTH) {
      throw new ExpressionSyntaxError(
        `an expression nests at most ${MAX_EXPRESSION_DEPTH} deep`,
        this.peek().offset,
        'move part of it into a step of its own',
        'too-deep',
      );
    }
  }

  /** The complaint about the token that stands here. */
  unexpected(expected?: string): ExpressionSyntaxError {
    const token = this.peek();
    const what =
      token.type === 'end'
        ? 'the expression ends too early'
        : `unexpected ${JSON.stringify(this.source.slice(token.offset, token.end))}`;
    const wanted = expected === undefined ? '' : `; expected ${expected}`;
    return new ExpressionSyntaxError(what + wanted, token.offset, hintFor(token, this.tokens[this.at - 1]));
  }
}

/** What the author of an unexpected token usually meant. */
function hintFor(token: Token, before: Token | undefined): string | undefined {
  if (token.type === 'number') return `a number is written between backticks: \`${token.number}\``;
  if (token.type === '{') return 'the braces of a template stand once around the whole expression';
  if (token.type === '*') return 'JMESPath has no arithmetic';
  const word = token.type === 'name' ? token.name : undefined;
  if (word === 'and') return 'write &&';
  if (word === 'or') return 'write ||';
  if (word === 'not' || (before?.type === 'name' && before.name === 'not')) return 'write !';
  const name = nameIn(token);
  if (name === undefined) return undefined;
  if (before?.type === '[') {
    return `a field is read with a dot, .${printName(name)}; a filter is written [?condition]`;
  }
  return before?.type === '.'
    ? `a field that needs quotes takes double ones: .${JSON.stringify(name)}`
    : undefined;
}

/** What a token would be as the name of a field. */
function nameIn(token: Token): string | undefined {
  if (token.type === 'name' || token.type === 'quoted') return token.name;
  return token.type === 'literal' && typeof token.value === 'string' ? token.value : undefined;
}

function parsePipe(tokens: TokenReader): Ast {
  tokens.enter();
  const offset = tokens.peek().offset;
  const stages = [parseOr(tokens)];
  while (tokens.skip('|')) stages.push(parseOr(tokens));
  tokens.depth--;
  return only(stages) ?? { type: 'pipe', stages, offset };
}

function parseOr(tokens: TokenReader): Ast {
  const offset = tokens.peek().offset;
  const operands = [parseAnd(tokens)];
  while (tokens.skip('||')) operands.push(parseAnd(tokens));
  return only(operands) ?? { type: 'or', operands, offset };
}

function parseAnd(tokens: TokenReader): Ast {
  const offset = tokens.peek().offset;
  const operands = [parseComparison(tokens)];
  while (tokens.skip('&&')) operands.push(parseComparison(tokens));
  return only(operands) ?? { type: 'and', operands, offset };
}

function parseComparison(tokens: TokenReader): Ast {
  const offset = tokens.peek().offset;
  const depth = tokens.depth;
  let left = parsePath(tokens);
  for (let token = tokens.peek(); token.type === 'comparator'; token = tokens.peek()) {
    tokens.next();
    tokens.enter();
    left = { type: 'compare', operator: token.operator, left, right: parsePath(tokens), offset };
  }
  tokens.depth = depth;
  return left;
}

function only(nodes: Ast[]): Ast | undefined {
  return nodes.length === 1 ? nodes[0] : undefined;
}

/** A path, or the operand of `!` (which takes no dot, filter or `[]` until it has begun a projection). */
function parsePath(tokens: TokenReader, operandOfNot = false): Ast {
  const offset = tokens.peek().offset;
  const depth = tokens.depth;
  let start = parseStart(tokens);
  let steps: PathStep[] = [];
  let projecting = false;
  let open = isValue(start);
  const take = (step: PathStep): void => {
    if (isProjection(step)) {
      projecting = true;
      tokens.enter();
    }
    steps.push(step);
  };
  for (;;) {
    const token = tokens.peek();
    if (!open) {
      take(parseFirstStep(tokens));
      open = true;
    } else if (token.type === '[]') {
      if (operandOfNot) break;
      if (steps.length > 0) start = toNode(start, steps, offset);
      steps = [];
      take({ type: 'flatten', offset: tokens.next().offset });
    } else if (token.type === '[') {
      take(parseBracket(tokens));
    } else if (operandOfNot && !projecting && !isIndexAfterDot(tokens)) {
      break;
    } else if (token.type === '[?') {
      take(parseFilter(tokens));
    } else if (token.type === '.') {
      tokens.next();
      take(parseAfterDot(tokens));
    } else {
      break;
    }
  }
  tokens.depth = depth;
  return toNode(start, steps, offset);
}

/** `.0` is `[0]` to the letter, also behind `!`. */
function isIndexAfterDot(tokens: TokenReader): boolean {
  return tokens.peek().type === '.' && tokens.peek(1).type === 'number';
}

function toNode(start: PathStart, steps: PathStep[], offset: number): Ast {
  if (steps.length === 0 && start.type !== 'current' && start.type !== 'root') return start;
  return { type: 'path', start, steps, offset };
}

function isValue(start: PathStart): boolean {
  return start.type !== 'current' || start.written;
}

function parseStart(tokens: TokenReader): PathStart {
  const token = tokens.peek();
  switch (token.type) {
    case '@':
      tokens.next();
      return { type: 'current', written: true };
    case '$':
      tokens.next();
      return { type: 'root' };
    case 'literal':
      tokens.next();
      return { type: 'literal', value: token.value, form: token.form, offset: token.offset };
    case '!': {
      tokens.next();
      tokens.enter();
      const operand = parsePath(tokens, true);
      return { type: 'not', operand, offset: token.offset };
    }
    case '(': {
      tokens.next();
      const inner = parsePipe(tokens);
      tokens.expect(')');
      return inner;
    }
    default:
      return { type: 'current', written: false };
  }
}

/** The access that a path without a start begins with; it reads the current value. */
function parseFirstStep(tokens: TokenReader): PathStep {
  const token = tokens.peek();
  switch (token.type) {
    case 'name':
    case 'quoted':
      return parseFieldOrCall(tokens);
    case '*':
      tokens.next();
      return { type: 'object-wildcard', offset: token.offset };
    case '[]':
      tokens.next();
      return { type: 'flatten', offset: token.offset };
    case '[?':
      return parseFilter(tokens);
    case '{':
      return parseMultiHash(tokens);
    case '[': {
      const inner = tokens.peek(1).type;
      const isSpecifier =
        inner === 'number' || inner === ':' || (inner === '*' && tokens.peek(2).type === ']');
      return isSpecifier ? parseBracket(tokens) : parseMultiList(tokens);
    }
    default:
      throw tokens.unexpected();
  }
}

function parseAfterDot(tokens: TokenReader): PathStep {
  const token = tokens.peek();
  switch (token.type) {
    case 'name':
    case 'quoted':
      return parseFieldOrCall(tokens);
    case '*':
      tokens.next();
      return { type: 'object-wildcard', offset: token.offset };
    case '{':
      return parseMultiHash(tokens);
    case '[':
      return parseMultiList(tokens);
    case 'number':
      if (token.number < 0 || Object.is(token.number, -0)) throw tokens.unexpected();
      tokens.next();
      return { type: 'index', index: token.number, offset: token.offset };
    default:
      throw tokens.unexpected();
  }
}

function parseFieldOrCall(tokens: TokenReader): PathStep {
  const token = tokens.next();
  if (token.type !== 'name' && token.type !== 'quoted') throw new Error('called at a name');
  if (tokens.peek().type !== '(') {
    return { type: 'field', name: token.name, quoted: token.type === 'quoted', offset: token.offset };
  }
  if (token.type === 'quoted') {
    throw new ExpressionSyntaxError('the name of a function stands without quotes', token.offset);
  }
  tokens.next();
  const args: Ast[] = [];
  while (!tokens.skip(')')) {
    if (args.length > 0 && !tokens.skip(',')) throw tokens.unexpected(', or )');
    args.push(parseArgument(tokens));
  }
  return { type: 'call', name: token.name, args, offset: token.offset };
}

function parseArgument(tokens: TokenReader): Ast {
  const token = tokens.peek();
  if (!tokens.skip('&')) return parsePipe(tokens);
  return { type: 'reference', expression: parsePipe(tokens), offset: token.offset };
}

/** `[0]`, `[*]`, `[1:2]`; not a list of expressions. */
function parseBracket(tokens: TokenReader): PathStep {
  const offset = tokens.expect('[').offset;
  if (tokens.skip('*')) {
    tokens.expect(']');
    return { type: 'list-wildcard', offset };
  }
  const parts: (number | null)[] = [null];
  for (let token = tokens.peek(); token.type !== ']'; token = tokens.peek()) {
    if (token.type === ':' && parts.length < 3) parts.push(null);
    else if (token.type === 'number' && parts.at(-1) === null) parts[parts.length - 1] = token.number;
    else if (token.type === 'number') throw tokens.unexpected(']');
    else throw tokens.unexpected('a number, * or ?');
    tokens.next();
  }
  tokens.next();
  const [first = null, stop = null, step = null] = parts;
  if (parts.length === 1) {
    if (first === null) throw new Error('the tokenizer reads [] as one token');
    return { type: 'index', index: first, offset };
  }
  if (step === 0) throw new ExpressionSyntaxError('the step of a slice cannot be 0', offset);
  return { type: 'slice', start: first, stop, step: step ?? 1, offset };
}

function parseFilter(tokens: TokenReader): PathStep {
  const offset = tokens.expect('[?').offset;
  const condition = parsePipe(tokens);
  tokens.expect(']');
  return { type: 'filter', condition, offset };
}

function parseMultiList(tokens: TokenReader): PathStep {
  const offset = tokens.expect('[').offset;
  const items: Ast[] = [];
  do items.push(parsePipe(tokens));
  while (tokens.skip(','));
  tokens.expect(']');
  return { type: 'multi-list', items, offset };
}

function parseMultiHash(tokens: TokenReader): PathStep {
  const offset = tokens.expect('{').offset;
  const entries: HashEntry[] = [];
  do {
    const key = tokens.peek();
    if (key.type !== 'name' && key.type !== 'quoted') throw tokens.unexpected('a name');
    tokens.next();
    tokens.expect(':');
    entries.push({ key: key.name, value: parsePipe(tokens), offset: key.offset });
  } while (tokens.skip(','));
  tokens.expect('}');
  return { type: 'multi-hash', entries, offset };
}
