/**
 * The same expressions and data through our evaluator and through @jmespath-community/jmespath: whatever is JMESPath in both
 * must have the same value. Where the two differ on purpose, the expression is left out below, with the reason.
 */
import { search } from '@jmespath-community/jmespath';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Json } from '../../lib/blueprint/json.ts';
import { EvaluationError } from '../../lib/expression/errors.ts';
import { evaluateExpression, parseExpression } from '../../lib/expression/expression.ts';
import { expressionSource, scopeData } from './arbitraries.ts';

test('values are those of the other implementation', () => {
  let compared = 0;
  fc.assert(
    fc.property(expressionSource, scopeData, (source, scope) => {
      const ours = outcome(() => evaluateExpression(parseExpression(source), scope));
      const theirs = outcome(() => search(scope, source) as Json);
      compared++;
      expect(ours).toEqual(theirs);
    }),
    { numRuns: 3000 },
  );
  expect(compared).toBeGreaterThan(500);
});

function outcome(run: () => Json): { value: Json } | 'fails' {
  try {
    return { value: run() };
  } catch (error) {
    if (error instanceof EvaluationError || !String(error).includes('RangeError')) return 'fails';
    throw error;
  }
}
