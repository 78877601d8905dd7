/** The functions that Step Functions adds to JSONata, and what it makes of results. */
import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Json } from '../../../../lib/blueprint/json.ts';
import { execute, machine } from './execute.ts';
import { virtualClock } from './virtual-clock.ts';

/** The value of an expression, or the cause of its failure. */
async function evaluate(expression: string, input: Json = {}, options: Parameters<typeof execute>[1] = {}) {
  const { outcome } = await execute(
    machine({ P: { Type: 'Pass', Output: `{% ${expression} %}`, End: true } }),
    {
      input,
      ...options,
    },
  );
  if (outcome.status === 'SUCCEEDED') return outcome.output;
  return `${outcome.error}: ${outcome.cause?.replace(/^.*specified for the field 'Output' /, '')}`;
}

const digest = (algorithm: string, text: string) => createHash(algorithm).update(text).digest('hex');

test.each<[string, Json]>([
  ['$partition([1,2,3,4,5], 2)', [[1, 2], [3, 4], [5]]],
  ['$partition([], 2)', []],
  ['$partition(["a"], 9)', [['a']]],
  ['$range(0, 9, 3)', [0, 3, 6, 9]],
  ['$range(5, 1, -2)', [5, 3, 1]],
  ['$range(1, 1, 1)', 1],
  ['$count($range(1, 1000, 1))', 1000],
  ['$hash("a", "MD5")', digest('md5', 'a')],
  ['$hash("a", "SHA-1")', digest('sha1', 'a')],
  ['$hash("a", "SHA-256")', digest('sha256', 'a')],
  ['$hash("a", "SHA-384")', digest('sha384', 'a')],
  ['$hash("a", "SHA-512")', digest('sha512', 'a')],
  ['$parse(\'{"a": [1, null]}\')', { a: [1, null] }],
  ['$parse("null")', null],
  ['$random(7) = $random(7)', true],
  ['$random(7) = $random(8)', false],
  ['$random() < 1 and $random() >= 0', true],
  ['$uuid() = $uuid()', false],
  ['$contains($uuid(), /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)', true],
  ['$states.context.Execution.Name', 'run'],
  ['$exists($states.result)', false],
])('%s', async (expression, expected) => {
  expect(await evaluate(expression)).toEqual(expected);
});

test.each([
  ['$eval("1")', 'threw an error during evaluation. T1006: Attempted to invoke a non-function'],
  ['$range(1, 2000, 1)', 'threw an error during evaluation. $range makes at most 1000 numbers, not 2000'],
  [
    '$range(1, 2, 0)',
    'threw an error during evaluation. T0410: Argument 3 of function "range" does not match function signature',
  ],
  [
    '$hash("a", "CRC32")',
    'threw an error during evaluation. T0410: Argument 2 of function "hash" does not match function signature',
  ],
  [
    '$partition([1], 0)',
    'threw an error during evaluation. T0410: Argument 2 of function "partition" does not match function signature',
  ],
  ['$parse("{")', 'threw an error during evaluation. The argument of $parse is not valid JSON'],
  ['$states.input.nothing', 'returned nothing (undefined).'],
  ['$uppercase', 'returned an unsupported result type.'],
  ['{"a": function($x) {$x}}', 'returned an unsupported result type.'],
  ['$error("mine")', 'threw an error during evaluation. D3137: mine'],
])('%s fails', async (expression, problem) => {
  expect(await evaluate(expression)).toBe(`States.QueryEvaluationError: ${problem}`);
});

test('$ and $$ have no value', async () => {
  expect(await evaluate('$exists($) or $exists($$)', { a: 1 })).toBe(false);
});

test('time is the clock of the host', async () => {
  const clock = virtualClock(Date.UTC(2030, 4, 6, 7, 8, 9, 10));
  expect(await evaluate('[$now(), $millis(), $now("[Y]/[M01]")]', {}, { clock })).toEqual([
    '2030-05-06T07:08:09.010Z',
    Date.UTC(2030, 4, 6, 7, 8, 9, 10),
    '2030/05',
  ]);
});

describe('values', () => {
  test('any JSON goes through an expression unchanged', async () => {
    await fc.assert(
      fc.asyncProperty(fc.jsonValue(), async (value) => {
        // An array of one is one, and an empty one is nothing, for JSONata; inside an object both stay.
        const input = { value: JSON.parse(JSON.stringify(value)) as Json };
        expect(await evaluate('$states.input', input)).toEqual(input);
      }),
      { numRuns: 50 },
    );
  });

  test('a template keeps what is no expression, to the letter', async () => {
    const Output = {
      a: ' {% 1 %}',
      b: '{% 1 %} ',
      c: '{%%',
      d: [null, true, 0.5, '{% 1 + 1 %}'],
      'k.$': '$.x',
      __proto__: 1,
    };
    const { outcome } = await execute(machine({ P: { Type: 'Pass', Output, End: true } }));
    expect(outcome).toEqual({ status: 'SUCCEEDED', output: { ...Output, d: [null, true, 0.5, 2] } });
  });

  test('names of the prototype are data', async () => {
    const input = JSON.parse('{"__proto__": {"polluted": 1}, "constructor": 2}') as Json;
    const { outcome } = await execute(
      machine({
        P: {
          Type: 'Pass',
          Output: { copy: '{% $states.input %}', n: '{% $states.input.constructor %}' },
          End: true,
        },
      }),
      { input },
    );
    expect(outcome.status === 'SUCCEEDED' && JSON.stringify(outcome.output)).toBe(
      '{"copy":{"__proto__":{"polluted":1},"constructor":2},"n":2}',
    );
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });
});
