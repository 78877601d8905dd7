/**
 * The JMESPath compliance cases, read from the folder that JMESPATH_COMPLIANCE names.
 *
 * Cases that our grammar answers otherwise on purpose stand in compliance-exceptions.json with what happens instead and
 * why; one that begins to pass fails here, so the list cannot go stale.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Json, JsonObject } from '../../lib/blueprint/json.ts';
import { EvaluationError, ExpressionSyntaxError } from '../../lib/expression/errors.ts';
import { evaluateExpression, parseExpression } from '../../lib/expression/expression.ts';
import exceptions from './compliance-exceptions.json' with { type: 'json' };

interface Case {
  expression: string;
  result?: Json;
  error?: string;
}

const folder = process.env.JMESPATH_COMPLIANCE;

function outcomeOf(expression: string, given: Json): { result: Json } | { error: string } {
  try {
    return { result: evaluateExpression(parseExpression(expression), given as JsonObject) };
  } catch (error) {
    if (error instanceof ExpressionSyntaxError || error instanceof EvaluationError)
      return { error: error.message };
    throw error;
  }
}

function passes(one: Case, given: Json): boolean {
  const outcome = outcomeOf(one.expression, given);
  if (one.error !== undefined) return 'error' in outcome;
  try {
    expect(outcome).toEqual({ result: one.result });
    return true;
  } catch {
    return false;
  }
}

if (folder === undefined || !existsSync(folder)) {
  const why = folder === undefined ? 'JMESPATH_COMPLIANCE is not set' : 'JMESPATH_COMPLIANCE names no folder';
  test.skip(`JMESPath compliance: ${why}; it is the folder of the cases`, () => {});
} else {
  const files = readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .sort();
  const seen = new Set<string>();

  describe.each(files)('%s', (file) => {
    const groups = JSON.parse(readFileSync(join(folder, file), 'utf8')) as { given: Json; cases: Case[] }[];
    const cases = groups.flatMap(({ given, cases }) =>
      cases.map((one) => [one.expression, one, given] as const),
    );
    test.each(cases)('%s', (expression, one, given) => {
      const exception = exceptions.find((entry) => entry.file === file && entry.expression === expression);
      if (exception === undefined) {
        const expected = one.error === undefined ? { result: one.result } : { error: expect.any(String) };
        expect(outcomeOf(expression, given)).toEqual(expected);
      } else {
        seen.add(`${file} ${expression}`);
        expect(passes(one, given), 'passes, so take it from compliance-exceptions.json').toBe(false);
      }
    });
  });

  test('every exception is a case of the suite', () => {
    expect(
      exceptions.map((entry) => `${entry.file} ${entry.expression}`).filter((id) => !seen.has(id)),
    ).toEqual([]);
  });
}
