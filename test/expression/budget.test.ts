import { describe, expect, test } from 'vitest';
import type { Json, JsonObject } from '../../lib/blueprint/json.ts';
import { createBudget } from '../../lib/expression/budget.ts';
import { EvaluationError } from '../../lib/expression/errors.ts';
import { evaluateExpression, parseExpression } from '../../lib/expression/expression.ts';
import { evaluateTemplate, parseTemplate } from '../../lib/expression/template.ts';

const scope: JsonObject = {
  big: 'x'.repeat(2 * 1024 * 1024),
  list: Array.from({ length: 20_000 }, (_, index) => ({ id: index, key: `k${index % 100}` })),
  other: Array.from({ length: 20_000 }, (_, index) => ({ id: index, on: index % 2 === 0 })),
};

function evaluate(source: string): Json {
  return evaluateExpression(parseExpression(source), scope);
}

function failureOf(run: () => unknown): EvaluationError {
  try {
    run();
  } catch (error) {
    if (error instanceof EvaluationError) return error;
    throw error;
  }
  throw new Error('it has a value');
}

describe('what is built is measured while it is built', () => {
  const quadruple = (times: number): string => Array(times).fill('[@,@,@,@]').join(' | ');

  test.each([
    ['shared parts, written down', quadruple(20)],
    ['shared parts to text', `to_string(${quadruple(20)})`],
    ['shared parts, made one list', `list | ${quadruple(12)} | ${Array(12).fill('[]').join(' | ')}`],
    ['map in map', 'map(&map(&map(&[@,@,@,@], $.list), $.list), list)'],
    ['one string many times', 'map(&$.big, list)'],
    ['a literal many times', `map(&'${'y'.repeat(1000)}', list)`],
    ['join', `join($.big, list[].key)`],
    ['hashes', `list[*].{a: $.big}`],
    ['merge', `list[*].merge(@, {b: $.big})`],
    ['a result as default', 'list[*].not_null(nope, $.big)'],
    ['to_string of each', 'list[*].to_string([@, $.big])'],
  ])('%s', (_what, source) => {
    const before = process.memoryUsage().rss;
    expect(failureOf(() => evaluate(source))).toMatchObject({
      kind: 'ResultTooLarge',
      message: 'builds a value of more than 16 MiB',
    });
    expect(process.memoryUsage().rss - before, 'bytes').toBeLessThan(300 * 1024 * 1024);
  });

  test.each([
    ['one of each', quadruple(12), 'walks 16 million values, and they are text of 80 MB', 'ResultTooLarge'],
    ['filters over shared lists', `list | ${quadruple(9)} | ${'[*]'.repeat(9)}[?nope]`, 'visits', undefined],
  ])('%s ends in bounded time', (_what, source, _why, kind) => {
    const began = performance.now();
    const failure = failureOf(() => evaluate(source));
    if (kind !== undefined) expect(failure.kind).toBe(kind);
    expect(performance.now() - began).toBeLessThan(10_000);
  });
});

describe('what is dropped is given back', () => {
  test.each<[string, Json]>([
    ['length(list[?length(to_string(@)) > `0`])', 20_000],
    ['length(list[?contains($.other[?on].id, id)])', 10_000],
    ['length(list[?length([@,@,@,@]) == `4`])', 20_000],
    ['sum(map(&length(to_string($.big)), list[:10]))', 20_971_520],
  ])('%s', (source, value) => {
    expect(evaluate(source)).toEqual(value);
  });

  test('what depends on the scope alone is evaluated once: a join of 20,000 with 20,000 is linear', () => {
    const began = performance.now();
    expect(evaluate('length(list[?length($.other[?on]) == `10000`])')).toBe(20_000);
    expect(performance.now() - began).toBeLessThan(3000);
  });
});

test('a part of the scope that is only passed on costs nothing, however large', () => {
  const budget = createBudget(1000);
  expect(evaluateExpression(parseExpression('list'), scope, budget)).toBe(scope.list);
  expect(evaluateExpression(parseExpression('list[0]'), scope, budget)).toEqual({ id: 0, key: 'k0' });
  expect(failureOf(() => evaluateExpression(parseExpression('list[?id]'), scope, budget)).message).toBe(
    'builds a value of more than 1000 bytes',
  );
});

test('a template counts as the whole that it comes to', () => {
  const { template } = parseTemplate({ rows: Array(9).fill('{{ big }}') });
  expect(failureOf(() => evaluateTemplate(template, scope))).toMatchObject({ kind: 'ResultTooLarge' });
  const text = parseTemplate('{{ big }}'.repeat(9)).template;
  expect(failureOf(() => evaluateTemplate(text, scope))).toMatchObject({ kind: 'ResultTooLarge' });
});

describe('work that leaves nothing behind is counted too', () => {
  const texts = Array.from({ length: 4000 }, (_, n) => `${'y'.repeat(4000)}${n}`);
  const rows = Array.from({ length: 20_000 }, (_, n) => ({ k: `k${n}`, v: n }));
  const heavy: JsonObject = { texts, rows, object: Object.fromEntries(rows.map((row) => [row.k, row])) };

  test.each([
    'rows[?merge(@, $.object).nope]',
    "rows[?contains(join(k, $.texts), 'nope')]",
    'rows[?sort([[k], $.texts][])[0] == k]',
    'rows[?length(to_string([k, $.texts])) == v]',
  ])(
    '%s',
    (source) => {
      const began = performance.now();
      const run = () => evaluateExpression(parseExpression(source), heavy);
      expect(failureOf(run).message).toMatch(/looks at more than 25,000,000 elements|more than 16 MiB/);
      expect(performance.now() - began).toBeLessThan(30_000);
    },
    60_000,
  );

  test('and a large value still may be joined, sorted and merged', () => {
    for (const source of ['sort(texts)', "join('', texts)", 'merge(object, object, {a: texts})']) {
      expect(evaluateExpression(parseExpression(source), heavy)).not.toBe(null);
    }
  });
});
