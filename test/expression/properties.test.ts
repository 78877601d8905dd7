/** What holds for every template, expression and value, whatever it is. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Json, JsonObject } from '../../lib/blueprint/json.ts';
import { EvaluationError, ExpressionSyntaxError } from '../../lib/expression/errors.ts';
import { evaluateExpression, parseExpression } from '../../lib/expression/expression.ts';
import { lintExpression } from '../../lib/expression/lint.ts';
import { printAst } from '../../lib/expression/print.ts';
import { references } from '../../lib/expression/references.ts';
import { printText, scanText } from '../../lib/expression/scan.ts';
import { evaluateTemplate, parseTemplate, templateExpressions } from '../../lib/expression/template.ts';
import { expressionSource, scopeData } from './arbitraries.ts';

const json = fc.jsonValue({ maxDepth: 4 }) as fc.Arbitrary<Json>;
/** Strings made of what templates are made of. */
const templateText = fc
  .array(
    fc.oneof(
      fc.constantFrom('{{', '}}', '{', '}', '\\', "'", '"', '`', ' ', 'a', '.b', '{%', '%}', '[?', ']', '$'),
      fc.string({ maxLength: 3 }),
    ),
    { maxLength: 14 },
  )
  .map((parts) => parts.join(''));
const trap = templateText.map((text) => `{{ secret }}${text}\\{{ secret }}{% secret %}`);

describe('templates', () => {
  test('never evaluate data: what a scope holds arrives as it is', () => {
    fc.assert(
      fc.property(trap, fc.string(), (data, before) => {
        const scope: JsonObject = { data, list: [data], secret: 'SECRET' };
        const { template, problems } = parseTemplate({
          whole: '{{ data }}',
          text: `${printText([before, { source: 'data' }])}`,
          list: '{{ list }}',
          joined: "{{ join('', list) }}",
          asJson: 'x{{ list }}',
        });
        expect(problems).toEqual([]);
        expect(evaluateTemplate(template, scope)).toEqual({
          whole: data,
          text: before + data,
          list: [data],
          joined: data,
          asJson: `x${JSON.stringify([data])}`,
        });
      }),
    );
  });

  test('scanning is the inverse of printing', () => {
    const parts = fc.array(
      fc.oneof(
        templateText,
        fc.constantFrom("'{{'", 'a.b', '{a: {b: c}}', '`"}}"`').map((source) => ({ source })),
      ),
      { maxLength: 6 },
    );
    fc.assert(
      fc.property(parts, (given) => {
        const { template, problems } = parseTemplate(printText(given));
        expect(problems).toEqual([]);
        const scope: JsonObject = { a: { b: 'B' }, c: 'C' };
        const values = given.map((part) => {
          if (typeof part === 'string') return part;
          const value = evaluateExpression(parseExpression(part.source), scope);
          return typeof value === 'string' ? value : JSON.stringify(value);
        });
        const value = evaluateTemplate(template, scope);
        expect(typeof value === 'string' ? value : JSON.stringify(value)).toBe(values.join(''));
      }),
    );
  });

  test('printing what was scanned changes nothing that is read', () => {
    fc.assert(
      fc.property(templateText, (text) => {
        const { parts, unclosedAt } = scanText(text);
        if (unclosedAt !== undefined) return;
        const again = scanText(printText(parts)).parts;
        const flat = (list: typeof parts): unknown[] =>
          list.map((part) => (typeof part === 'string' ? part : [part.source]));
        const braces = (list: unknown[]): string => JSON.stringify(list).replaceAll('["\'{\'"]', '"{"');
        expect(braces(merged(flat(again)))).toBe(braces(merged(flat(parts))));
      }),
    );
  });

  test('without a template a value comes out as the same value', () => {
    fc.assert(
      fc.property(json, (value) => {
        fc.pre(!JSON.stringify(value).includes('{{'));
        expect(parseTemplate(value)).toEqual({ template: { kind: 'literal', value }, problems: [] });
      }),
    );
  });

  test('any input is parsed without an exception, and evaluated with none but EvaluationError', () => {
    const anything = fc.letrec<{ value: Json }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        templateText,
        expressionSource.map((source) => `{{ ${source} }}`),
        fc.array(tie('value'), { maxLength: 3 }),
        fc.dictionary(fc.oneof(templateText, fc.constantFrom('__proto__', 'constructor')), tie('value'), {
          maxKeys: 3,
        }),
      ),
    })).value;
    fc.assert(
      fc.property(anything, scopeData, (value, scope) => {
        const before = JSON.stringify([value, scope]);
        const { template, problems } = parseTemplate(value);
        for (const problem of problems) expect(problem.offset).toBeGreaterThanOrEqual(0);
        templateExpressions(template);
        onlyEvaluationErrors(() => evaluateTemplate(template, scope));
        expect(JSON.stringify([value, scope]), 'nothing is mutated').toBe(before);
      }),
    );
  });
});

describe('expressions', () => {
  test('any string is read, or refused with an offset inside it', () => {
    fc.assert(
      fc.property(fc.oneof(templateText, expressionSource, fc.string({ unit: 'binary' })), (source) => {
        try {
          parseExpression(source);
        } catch (error) {
          if (!(error instanceof ExpressionSyntaxError)) throw error;
          expect(error.offset).toBeGreaterThanOrEqual(0);
          expect(error.offset).toBeLessThanOrEqual(source.length);
          expect(error.message).not.toBe('');
        }
      }),
      { numRuns: 500 },
    );
  });

  test('printing and reading again gives the same tree, and the same value', () => {
    fc.assert(
      fc.property(expressionSource, scopeData, (source, scope) => {
        const expression = parseExpression(source);
        const printed = parseExpression(printAst(expression.ast));
        expect(printAst(printed.ast)).toBe(printAst(expression.ast));
        const plain = (ast: unknown): string =>
          JSON.stringify(ast, (key, value) => (key === 'offset' ? undefined : value));
        expect(plain(printed.ast)).toBe(plain(expression.ast));
        expect(outcome(() => evaluateExpression(printed, scope))).toEqual(
          outcome(() => evaluateExpression(expression, scope)),
        );
      }),
      { numRuns: 500 },
    );
  });

  test('evaluation is deterministic, mutates nothing and answers JSON', () => {
    fc.assert(
      fc.property(expressionSource, scopeData, (source, scope) => {
        const before = JSON.stringify(scope);
        const first = outcome(() => evaluateExpression(parseExpression(source), scope));
        expect(outcome(() => evaluateExpression(parseExpression(source), scope))).toEqual(first);
        expect(JSON.stringify(scope)).toBe(before);
        if ('value' in first) expect(JSON.parse(JSON.stringify(first.value))).toEqual(first.value);
      }),
      { numRuns: 500 },
    );
  });

  test('what an expression does not reference does not change its value', () => {
    fc.assert(
      fc.property(expressionSource, scopeData, json, (source, scope, other) => {
        const expression = parseExpression(source);
        const reads = references(expression);
        fc.pre(!reads.some(({ root }) => root === '$'));
        const names = new Set(reads.map(({ root }) => root));
        const changed = Object.fromEntries(
          Object.entries(scope).map(([name, value]) => [name, names.has(name) ? value : other]),
        );
        expect(outcome(() => evaluateExpression(expression, { ...changed, extra: other }))).toEqual(
          outcome(() => evaluateExpression(expression, scope)),
        );
      }),
      { numRuns: 500 },
    );
  });

  test('the lint never throws, and what it calls an error fails or is never reached', () => {
    fc.assert(
      fc.property(expressionSource, (source) => {
        for (const finding of lintExpression(parseExpression(source), {
          roots: new Set(['a', 'b', 'list']),
        })) {
          expect(finding.offset).toBeLessThan(source.length);
          expect(finding.hint).not.toBe('');
        }
      }),
      { numRuns: 500 },
    );
  });
});

function merged(parts: unknown[]): unknown[] {
  const out: unknown[] = [];
  for (const part of parts.map((each) => (JSON.stringify(each) === '["\'{\'"]' ? '{' : each))) {
    const last = out.at(-1);
    if (typeof last === 'string' && typeof part === 'string') out[out.length - 1] = last + part;
    else out.push(part);
  }
  return out;
}

function outcome(run: () => Json): { value: Json } | { error: string } {
  try {
    return { value: run() };
  } catch (error) {
    if (error instanceof EvaluationError) return { error: error.message };
    throw error;
  }
}

function onlyEvaluationErrors(run: () => unknown): void {
  try {
    run();
  } catch (error) {
    if (!(error instanceof EvaluationError)) throw error;
  }
}
