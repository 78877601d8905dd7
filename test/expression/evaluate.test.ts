import { describe, expect, test } from 'vitest';
import type { Json, JsonObject } from '../../lib/blueprint/json.ts';
import { EvaluationError } from '../../lib/expression/errors.ts';
import { evaluateExpression, parseExpression } from '../../lib/expression/expression.ts';
import { functionNames } from '../../lib/expression/functions.ts';
import { truthy } from '../../lib/expression/values.ts';

const scope: JsonObject = {
  params: { ns: 'web', limit: 2 },
  steps: {
    'list-pods': {
      items: [
        { name: 'a', ns: 'web', node: 'n1', tags: ['x', 'y'] },
        { name: 'b', ns: 'db', node: 'n2', tags: [] },
        { name: 'c', ns: 'web', node: 'n2' },
      ],
    },
    nodes: [
      { id: 'n1', up: true },
      { id: 'n2', up: false },
    ],
    rows: [null, 1, null, 'x'],
  },
};

function evaluate(source: string, data: JsonObject = scope): Json {
  return evaluateExpression(parseExpression(source), data);
}

function failureOf(source: string, data: JsonObject = scope): EvaluationError {
  try {
    evaluate(source, data);
  } catch (error) {
    if (error instanceof EvaluationError) return error;
    throw error;
  }
  throw new Error(`${source} has a value`);
}

describe('beyond the specification', () => {
  test.each<[string, Json]>([
    ['$', scope],
    ['$.params.ns', 'web'],
    ['steps.list-pods.items[?ns == $.params.ns].name', ['a', 'c']],
    ['steps.list-pods.items[*].{n: name, ns: $.params.ns} | [0]', { n: 'a', ns: 'web' }],
    ['steps.list-pods.items[?contains($.steps.nodes[?up].id, node)].name', ['a']],
    ['sort_by(steps.list-pods.items, &$.params.limit)[].name', ['a', 'b', 'c']],
    ['steps.list-pods.items | [?ns == $.params.ns] | length(@)', 2],
    ['steps.list-pods.items.0.name', 'a'],
    ['steps.list-pods.items[*].tags.0', ['x']],
    ['steps.nodes.5', null],
    ['params.0', null],
    ["'b' > 'a'", true],
    ["'2026-11-30' >= '2026-12-01'", false],
    ["'b' > `1`", null],
    ["'\u{1F600}' > '\uFFFD'", true],
    ["length('a\u{1F600}')", 2],
    ["reverse('a\u{1F600}')", '\u{1F600}a'],
    ["to_number('007')", null],
    ["to_number('1e999')", null],
    ["to_number('')", null],
    ["starts_with('/a/b', '/')", true],
  ])('%s', (source, value) => {
    expect(evaluate(source)).toEqual(value);
  });
});

describe('the traps that the lint warns about are as it says', () => {
  test.each<[string, Json]>([
    ['!params.missing', null],
    ['!(params.missing)', true],
    ["steps.list-pods.items[?ns == 'web'][0]", []],
    ["steps.list-pods.items[?ns == 'web'] | [0].name", 'a'],
    ['steps.list-pods.items[?ns == "web"]', []],
    ['steps.nodes[?up == true]', []],
    ['steps.nodes[?up == `true`].id', ['n1']],
    ['steps.list-pods.items[?ns == params.ns]', []],
    ['steps.rows[?@ == null]', []],
    ['length(steps.rows[?@ == `null`])', 0],
    ['length(steps.rows[?@ == `null`].type(@))', 2],
    ['length(steps.rows)', 4],
    ['length(steps.rows[])', 2],
    ["join(',', [params.ns, params.missing][])", 'web'],
  ])('%s', (source, value) => {
    expect(evaluate(source)).toEqual(value);
  });
});

describe('only own properties are data', () => {
  const odd = JSON.parse(
    '{"own": {"__proto__": {"x": 1}, "constructor": "c"}, "none": {}, "list": []}',
  ) as JsonObject;

  test.each<[string, Json]>([
    ['none.__proto__', null],
    ['none.constructor', null],
    ['none.toString', null],
    ['list.length', null],
    ['list.__proto__', null],
    ['__proto__', null],
    ['constructor.name', null],
    ['own.__proto__.x', 1],
    ['own.constructor', 'c'],
    ['keys(own)', ['__proto__', 'constructor']],
    ['values(own)', [{ x: 1 }, 'c']],
    ['own.*', [{ x: 1 }, 'c']],
    ['own == `{"constructor": "c"}`', false],
    ['none == own', false],
  ])('%s', (source, value) => {
    expect(evaluate(source, odd)).toEqual(value);
  });

  test.each(['{__proto__: own.__proto__, a: `1`}', 'merge(own, `{"a": 1}`)', 'own', 'merge(none, own)'])(
    'an object built by %s keeps its prototype',
    (source) => {
      const value = evaluate(source, odd) as JsonObject;
      expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
      expect(Object.hasOwn(value, '__proto__')).toBe(true);
      expect(JSON.parse(JSON.stringify(value))).toEqual(value);
      expect(({} as JsonObject).x).toBeUndefined();
    },
  );
});

test.each<[Json, boolean]>([
  [null, false],
  [false, false],
  ['', false],
  [[], false],
  [{}, false],
  [0, true],
  [' ', true],
  ['false', true],
  [[null], true],
  [JSON.parse('{"__proto__": 1}') as Json, true],
])('the truth of %j is %s', (value, truth) => {
  expect(truthy(value)).toBe(truth);
});

describe('failures name the function and the types, never the data', () => {
  test.each([
    [
      'length(params.missing)',
      'the argument of length() is null, and it takes a string, an array or an object',
    ],
    [
      "join(',', steps.rows)",
      'element 0 of the list given to join() is null, and it takes strings (convert with to_string)',
    ],
    ["join(',', params.ns)", 'argument 2 of join() is a string, and it takes an array'],
    [
      'sort_by(steps.nodes, &up)',
      'the key of element 0 of the list given to sort_by() is a boolean, and it takes numbers or strings',
    ],
    ['sort(steps.rows[])', 'the list given to sort() mixes numbers and strings'],
    ['sort_by(steps.nodes, id)', 'argument 2 of sort_by() is null, and it takes an expression (&...)'],
    ['abs(&a)', 'the argument of abs() is an expression (&), and it takes a number'],
    ['nope(@)', 'there is no function nope()'],
    ['length()', 'length() takes 1 argument, not 0'],
    ['merge()', 'merge() takes at least 1 argument, not 0'],
    ['sum(`[1e308, 1e308]`)', 'sum() comes to a number that JSON cannot hold'],
  ])('%s', (source, message) => {
    expect(failureOf(source)).toMatchObject({ message, kind: 'TemplateError', expression: source });
  });
});

test('the functions are those of the specification', () => {
  expect(functionNames()).toEqual(
    (
      'abs avg ceil contains ends_with floor join keys length map max max_by merge min min_by not_null reverse sort sort_by ' +
      'starts_with sum to_array to_number to_string type values'
    ).split(' '),
  );
});

describe('depth', () => {
  const deep = (depth: number): Json => JSON.parse('['.repeat(depth) + ']'.repeat(depth)) as Json;
  const data: JsonObject = { a: deep(100_000), b: deep(100_000), c: deep(100_001) };

  test('values of any depth are passed on and compared', () => {
    expect(evaluate('a', data)).toBe(data.a);
    expect(evaluate('a == b', data)).toBe(true);
    expect(evaluate('a == c', data)).toBe(false);
    expect(evaluate('contains(c, b)', data)).toBe(true);
    expect(evaluate('a[] | length(@)', data)).toBe(1);
  });

  test.each(['to_string(a)', '[a, b]', '{x: a}'])('%s writes no value deeper than 512', (source) => {
    expect(failureOf(source, data).message).toBe('comes to a value nested deeper than 512');
  });
});
