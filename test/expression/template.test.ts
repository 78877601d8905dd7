import { describe, expect, test } from 'vitest';
import type { Json, JsonObject } from '../../lib/blueprint/json.ts';
import { EvaluationError } from '../../lib/expression/errors.ts';
import { printText, scanText } from '../../lib/expression/scan.ts';
import {
  evaluateTemplate,
  parseTemplate,
  type TemplateProblem,
  templateExpressions,
} from '../../lib/expression/template.ts';

const scope: JsonObject = {
  text: 'plain',
  number: 1.5,
  yes: true,
  nothing: null,
  list: [1, 'two', null],
  object: { a: { b: [] } },
  trap: '{{ text }} and {% raw %} \\{{ x }}',
};

function evaluate(value: Json): Json {
  const { template, problems } = parseTemplate(value);
  expect(problems).toEqual([]);
  return evaluateTemplate(template, scope);
}

describe('a string that is one template keeps the type', () => {
  test.each<[string, Json]>([
    ['{{ text }}', 'plain'],
    ['{{number}}', 1.5],
    ['{{ yes }}', true],
    ['{{ nothing }}', null],
    ['{{ missing.at.all }}', null],
    ['{{ list }}', [1, 'two', null]],
    ['{{ object }}', { a: { b: [] } }],
    ["{{ '}}' }}", '}}'],
    ["{{ 'a\\'}}' }}", "a'}}"],
    ['{{ `"}}"` }}', '}}'],
    ['{{ "a}}b" }}', null],
    ['{{ {a: {b: text}} }}', { a: { b: 'plain' } }],
    ['{{{a: {b: text}}}}', { a: { b: 'plain' } }],
    ['{{\n  text\n}}', 'plain'],
  ])('%s', (value, result) => {
    expect(evaluate(value)).toEqual(result);
  });
});

describe('within a text', () => {
  test.each<[string, string]>([
    ['no template, }} and {% raw %} { too', 'no template, }} and {% raw %} { too'],
    [' {{ text }}', ' plain'],
    ['{{ text }}{{ number }}', 'plain1.5'],
    ['n={{ number }}, y={{ yes }}', 'n=1.5, y=true'],
    ['{{ list }} {{ object }}', '[1,"two",null] {"a":{"b":[]}}'],
    ['{"a":{{ number }}}', '{"a":1.5}'],
    ["{{ missing || '' }}!", '!'],
    ['\\{{ text }}', '{{ text }}'],
    ['\\\\{{ text }}', '\\plain'],
    ['\\\\\\{{ text }}', '\\{{ text }}'],
    ['\\\\server\\{{{{ text }}', '\\\\server{{plain'],
    ['C:\\dir\\x {{ text }}', 'C:\\dir\\x plain'],
    ['\\{\\{ text }}', '\\{\\{ text }}'],
    ['<{{ trap }}>', '<{{ text }} and {% raw %} \\{{ x }}>'],
  ])('%s', (value, result) => {
    expect(evaluate(value)).toBe(result);
  });

  test.each(['{{ nothing }}!', 'x{{ missing.at }}'])('null is an error: %s', (value) => {
    const { template } = parseTemplate(value);
    expect(() => evaluateTemplate(template, scope)).toThrow(EvaluationError);
    expect(() => evaluateTemplate(template, scope)).toThrow(
      "is null, and null has no text: give a default, e.g. {{ x || '' }}",
    );
  });
});

describe('arrays and objects', () => {
  test('are evaluated inside, at any depth; null stays', () => {
    expect(evaluate({ a: ['{{ number }}', { b: '{{ nothing }}' }], c: 1, 'd\\{{e': 'x' })).toEqual({
      a: [1.5, { b: null }],
      c: 1,
      'd{{e': 'x',
    });
  });

  test('what has no template is the same value, not a copy', () => {
    const literal = { a: [1, { b: 'x }} {%' }] };
    expect(parseTemplate(literal).template).toEqual({ kind: 'literal', value: literal });
    expect(evaluate(literal)).toBe(literal);
  });

  test('__proto__ is a key like any other', () => {
    const value = evaluate(JSON.parse('{"__proto__": "{{ text }}", "constructor": "{{ number }}"}') as Json);
    expect(JSON.stringify(value)).toBe('{"__proto__":"plain","constructor":1.5}');
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
  });
});

describe('problems are all found, none is thrown, and a literal is left', () => {
  test.each<[Json, Partial<TemplateProblem>[]]>([
    ['{{ text', [{ kind: 'unclosed', pointer: '', offset: 0, source: '{{ text' }]],
    [
      "ab {{ 'x }}",
      [
        {
          kind: 'unclosed',
          offset: 3,
          message: "the template that begins here has a quote ' that is not closed",
        },
      ],
    ],
    ['{{ {a: text }}', [{ kind: 'unclosed', offset: 0 }]],
    ['{{ }}', [{ kind: 'syntax', offset: 3, message: 'an expression is missing here' }]],
    [
      'ab {{ a = b }} {{ c + d }}',
      [
        { kind: 'syntax', offset: 8, source: 'a = b' },
        { kind: 'syntax', offset: 20 },
      ],
    ],
    [{ 'a/b~c': ['{{ a. }}'] }, [{ kind: 'syntax', pointer: '/a~1b~0c/0', offset: 5 }]],
    [
      { x: { '{{ text }}': 1, 'a {{': 2 } },
      [
        { kind: 'template-in-key', pointer: '/x', source: '{{ text }}', offset: 3 },
        { kind: 'template-in-key', pointer: '/x', source: 'a {{', offset: 2 },
      ],
    ],
    [`{{ '${'x'.repeat(3000)}' }}`, [{ kind: 'too-long' }]],
    [`{{ ${'('.repeat(40)}a${')'.repeat(40)} }}`, [{ kind: 'too-deep' }]],
    [JSON.parse('['.repeat(50_000) + ']'.repeat(50_000)) as Json, [{ kind: 'too-deep' }]],
  ])('%#', (value, expected) => {
    const { template, problems } = parseTemplate(value);
    expect(problems).toHaveLength(expected.length);
    expected.forEach((each, index) => {
      expect(problems[index]).toMatchObject(each);
    });
    if (typeof value === 'string') expect(template).toEqual({ kind: 'literal', value });
  });

  test('pointers continue the one that is given', () => {
    expect(parseTemplate({ a: '{{' }, '/steps/0/params').problems[0]?.pointer).toBe('/steps/0/params/a');
  });
});

test('templateExpressions gives each expression with its pointer and its place in the string', () => {
  const { template } = parseTemplate({ a: '{{ text }}', b: ['x {{ number }} {{  yes }}'], c: 'none' }, '/p');
  const found = templateExpressions(template, '/p');
  expect(
    found.map(({ expression: { source, start }, pointer, whole }) => [source, start, pointer, whole]),
  ).toEqual([
    ['text', 3, '/p/a', true],
    ['number', 5, '/p/b/0', false],
    ['yes', 19, '/p/b/0', false],
  ]);
});

test('the error of a template names the expression that failed', () => {
  const { template } = parseTemplate({ a: '{{ text }}', b: 'is {{ length(nothing) }}' });
  expect(() => evaluateTemplate(template, scope)).toThrow(
    expect.objectContaining({ kind: 'TemplateError', expression: 'length(nothing)' }),
  );
});

test.each([['plain'], ['{{ not a template }}'], ['\\'], ['\\{{'], ['{{{{{']])(
  'printText writes the text %s so that it is read as text',
  (text) => {
    expect(scanText(printText([text])).parts).toEqual([text]);
    expect(evaluate(printText([text, { source: 'number' }]))).toBe(`${text}1.5`);
  },
);
