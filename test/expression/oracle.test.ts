/**
 * The same expressions and data through our evaluator and through @jmespath-community/jmespath: what is JMESPath in both must
 * have the same value. Where 1.3.0 answers something else, the expression is left out by a pattern below, with the reason.
 */
import { search } from '@jmespath-community/jmespath';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Json } from '../../lib/blueprint/json.ts';
import { EvaluationError } from '../../lib/expression/errors.ts';
import { evaluateExpression, parseExpression } from '../../lib/expression/expression.ts';
import { expressionSource, scopeData } from './arbitraries.ts';

const DIFFERENT: [pattern: RegExp, reason: string][] = [
  [/__proto__|constructor/, 'it reads what objects inherit'],
  [/\[[-\d]*:/, 'it slices strings too'],
  [/sort_by\(/, 'it turns the order of elements with equal strings around'],
  [/[<>]/, 'it does not order strings, the reference implementation does'],
  [
    /\.[a-z_]+\(/,
    'after a dot it answers null for any function of null; the specification calls the function',
  ],
  [
    /\b(contains|merge)\(/,
    'it searches text for what is no text, and takes anything for the second argument of merge',
  ],
  [/\*\.[^ ]*[.[]/, 'it answers null for x.*.a.b, which is the b of every a'],
  [/\]\.[[{]/, 'it makes a list of nulls out of a null element, where the specification has null'],
];

/** Our two additions to names and indexes, as it writes them. */
const translated = (source: string): string =>
  source.replaceAll('list-x', '"list-x"').replace(/\.0\b/g, '[0]');

test('values are those of the other implementation', () => {
  fc.assert(
    fc.property(expressionSource, scopeData, (source, scope) => {
      fc.pre(!DIFFERENT.some(([pattern]) => pattern.test(source)));
      const ours = outcome(() => evaluateExpression(parseExpression(source), scope));
      expect(ours).toEqual(outcome(() => search(scope, translated(source)) as Json));
    }),
    { numRuns: 1500 },
  );
});

test.each([
  ['x.*.a.b', { x: { y: { a: { b: 1 } }, z: { a: { b: 2 } } } }, [1, 2]],
  ['x.type(@)', {}, 'null'],
  ['x[?`true`].[a]', { x: [null, { a: 1 }] }, [[1]]],
  ['"a" < \'b\'', { a: 'a' }, true],
  ['a[1:]', { a: 'abc' }, null],
  ["sort_by(x, &'k')", { x: [1, 2] }, [1, 2]],
])('where they differ, ours is what the specification says: %s', (source, scope, value) => {
  expect(evaluateExpression(parseExpression(source), scope)).toEqual(value);
  expect(search(scope, source), 'no longer differs: take it from the list').not.toEqual(value);
});

function outcome(run: () => Json): { value: Json } | 'fails' {
  try {
    return { value: run() };
  } catch (error) {
    if (error instanceof EvaluationError) return 'fails';
    if (error instanceof Error && error.name !== 'RangeError') return 'fails';
    throw error;
  }
}
