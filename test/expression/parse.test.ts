import { describe, expect, test } from 'vitest';
import type { Ast } from '../../lib/expression/ast.ts';
import { ExpressionSyntaxError } from '../../lib/expression/errors.ts';
import { parseExpression } from '../../lib/expression/expression.ts';
import { printAst } from '../../lib/expression/print.ts';

function faultOf(source: string): ExpressionSyntaxError {
  try {
    parseExpression(source);
  } catch (error) {
    if (error instanceof ExpressionSyntaxError) return error;
    throw error;
  }
  throw new Error(`${source} was read without a fault`);
}

describe('what is refused, where, and what was meant', () => {
  test.each<[source: string, offset: number, message: string, hint?: string]>([
    ['', 0, 'an expression is missing here'],
    ['a.', 2, 'the expression ends too early'],
    ['a..b', 2, 'unexpected "."'],
    ['items[?n > 5]', 11, 'unexpected "5"', 'a number is written between backticks: `5`'],
    ['{a: 1}', 4, 'unexpected "1"', 'a number is written between backticks: `1`'],
    ['a = b', 2, 'unexpected "="', 'equality is =='],
    ['a + b', 2, 'unexpected "+"', 'JMESPath has no arithmetic; texts are put together with join'],
    ['a - b', 2, 'unexpected "-"', 'JMESPath has no arithmetic; texts are put together with join'],
    ['a * b', 2, 'unexpected "*"', 'JMESPath has no arithmetic'],
    ['a and b', 2, 'unexpected "and"', 'write &&'],
    ['a or b', 2, 'unexpected "or"', 'write ||'],
    ['not a', 4, 'unexpected "a"', 'write !'],
    [
      "a['b']",
      2,
      'unexpected "\'b\'"; expected a number, * or ?',
      'a field is read with a dot, .b; a filter is written [?condition]',
    ],
    [
      'a["b c"]',
      2,
      'unexpected "\\"b c\\""; expected a number, * or ?',
      'a field is read with a dot, ."b c"; a filter is written [?condition]',
    ],
    ["a.'b'", 2, 'unexpected "\'b\'"', 'a field that needs quotes takes double ones: ."b"'],
    ['`foo`', 0, 'between backticks stands JSON, and this is none', "write the string as 'foo'"],
    ["a == 'x", 5, "the quote ' is not closed"],
    ['foo(a', 5, 'the expression ends too early; expected , or )'],
    ['[?a == b', 8, 'the expression ends too early; expected ]'],
    [
      '{{ x }}',
      1,
      'unexpected "{"; expected a name',
      'the braces of a template stand once around the whole expression',
    ],
    ['größe', 2, 'unexpected "ö"', 'a name with other letters than A to Z is written between double quotes'],
    ['a[::0]', 1, 'the step of a slice cannot be 0'],
    ['"length"(a)', 0, 'the name of a function stands without quotes'],
    ['a.-1', 2, 'unexpected "-1"', 'a number is written between backticks: `-1`'],
  ])('%s', (source, offset, message, hint) => {
    const fault = faultOf(source);
    expect({ offset: fault.offset, message: fault.message, hint: fault.hint }).toEqual({
      offset,
      message,
      hint,
    });
    expect(fault.kind).toBe('syntax');
  });
});

describe('limits', () => {
  test('2 KiB are read, one byte more is not', () => {
    expect(() => parseExpression(`'${'x'.repeat(2046)}'`)).not.toThrow();
    expect(faultOf(`'${'x'.repeat(2047)}'`)).toMatchObject({ kind: 'too-long' });
    expect(faultOf(`'${'é'.repeat(1024)}'`), 'bytes count, not characters').toMatchObject({
      kind: 'too-long',
    });
  });

  test.each([
    ['parentheses', '(', 'a', ')'],
    ['!', '!', 'a', ''],
    ['multi-selects', '[', 'a', ']'],
    ['hashes', '{a: ', 'b', '}'],
    ['calls', 'not_null(', 'a', ')'],
    ['filters', 'a[?', 'b', ']'],
    ['expressions', 'map(&', 'a', ',b)'],
    ['projections', 'a', '', '[*]'],
    ['flattening', 'a', '', '[]'],
    ['comparisons', 'a', '', ' == a'],
  ])('%s nest 31 deep, and not 33', (_what, open, middle, close) => {
    const nested = (depth: number): string =>
      middle === '' ? open + close.repeat(depth) : open.repeat(depth) + middle + close.repeat(depth);
    expect(() => parseExpression(nested(31))).not.toThrow();
    expect(faultOf(nested(33))).toMatchObject({ kind: 'too-deep' });
    if (nested(300).length <= 2048) expect(faultOf(nested(300))).toMatchObject({ kind: 'too-deep' });
  });

  test.each([
    ['fields', 'a'.padEnd(2047, '.a')],
    ['indexes', `a${'[0]'.repeat(600)}`],
    ['stages', Array(500).fill('a').join(' | ')],
    ['operands', Array(400).fill('a').join(' || ')],
  ])('a long chain of %s does not nest', (_what, source) => {
    expect(() => parseExpression(source)).not.toThrow();
  });
});

describe('one grammar', () => {
  test.each([
    ['steps.list-pods.items', 'steps.list-pods.items'],
    ['a.0.b', 'a[0].b'],
    ['a.0.1', 'a[0][1]'],
    ['a-1', 'a-1'],
    ['a[-1]', 'a[-1]'],
    ['$.a', '$.a'],
    ['a[?b==$.c]', 'a[?b == $.c]'],
    ['!a.b', '(!a).b'],
    ['!a[0]', '!(a[0])'],
    ['!a[*].b', '!(a[*].b)'],
    ['!(a.b)', '!(a.b)'],
    ['a || b && c == d', 'a || b && c == d'],
    ['(a || b) && c', '(a || b) && c'],
    ['a | b || c', 'a | b || c'],
    ['(a | b).c', '(a | b).c'],
    ['a == b == c', 'a == b == c'],
    ['a == (b == c)', 'a == (b == c)'],
    ['[*].a[]', '[*].a[]'],
    ['(a[*])[0]', '(a[*])[0]'],
    ['a.[*]', 'a.[(*)]'],
    ['{"a b": c, d: `[1, "`"]`}'.replace('"`"', '"\\`"'), '{"a b": c, d: `[1,"\\`"]`}'],
    ["'it\\'s'", "'it\\'s'"],
    ['sort_by(a, &b | c)', 'sort_by(a, &b | c)'],
    ['a[1:], a'.slice(0, 5), 'a[1:]'],
    ['a[::-1].b', 'a[::-1].b'],
  ])('%s is %s', (source, printed) => {
    expect(printAst(parseExpression(source).ast)).toBe(printed);
    expect(withoutOffsets(parseExpression(printed).ast)).toEqual(withoutOffsets(parseExpression(source).ast));
  });

  test('offsets lead back to the source', () => {
    const source = 'steps.pods[?  ns == $.params.ns].length(@)';
    const { ast } = parseExpression(source, 7);
    if (ast.type !== 'path') throw new Error('not a path');
    const starts = ast.steps.map((step) => source.slice(step.offset, step.offset + 4));
    expect(starts).toEqual(['step', 'pods', '[?  ', 'leng']);
    expect(parseExpression(source, 7).start).toBe(7);
  });
});

function withoutOffsets(ast: Ast): unknown {
  return JSON.parse(JSON.stringify(ast, (key, value) => (key === 'offset' ? undefined : value)));
}
