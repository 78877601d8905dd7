/** The reader of JSON that speaks like the service's. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  duplicateNames,
  jsonSyntaxError,
} from '../../../../lib/local/step-functions/validate/json-syntax.ts';

const LITERALS = "(JSON String, Number, Array, Object or token 'null', 'true' or 'false')";

test.each([
  ['not a definition', `Unrecognized token 'not': was expecting ${LITERALS}`, 1, 4],
  ["{'a': 1}", "Unexpected character (''' (code 39)): was expecting double-quote to start field name", 1, 3],
  ['{"a":1,}', "Unexpected character ('}' (code 125)): was expecting double-quote to start field name", 1, 9],
  [
    '{"a" 1}',
    "Unexpected character ('1' (code 49)): was expecting a colon to separate field name and value",
    1,
    7,
  ],
  ['[1 2]', "Unexpected character ('2' (code 50)): was expecting comma to separate Array entries", 1, 5],
  ['{"a":\n  tru}', `Unrecognized token 'tru': was expecting ${LITERALS}`, 2, 6],
  ['{"a": [1', 'Unexpected end-of-input: expected close marker for Array', 1, 9],
  ['"abc', 'Unexpected end-of-input: was expecting closing quote for a string value', 1, 5],
])('%s', (text, message, line, column) => {
  expect(jsonSyntaxError(text)).toEqual({
    message,
    source: `[Source: (String)"${text}"; line: ${line}, column: ${column}]`,
  });
});

test('a long source is cut', () => {
  const { source } = jsonSyntaxError(`[${' '.repeat(600)}x]`) ?? { source: '' };
  expect(source).toMatch(/\[truncated 103 chars\]; line: 1, column: 603\]$/);
});

test('whatever is JSON has no error, whatever has one is not JSON', () => {
  fc.assert(
    fc.property(
      fc.json(),
      fc.nat(),
      fc.constantFrom('', '{', '}', '[', ']', ',', ':', '"', 'x', '1'),
      (text, at, insert) => {
        expect(jsonSyntaxError(text)).toBeUndefined();
        const offset = at % (text.length + 1);
        const broken = text.slice(0, offset) + insert + text.slice(offset + 1);
        if (jsonSyntaxError(broken) !== undefined) expect(() => JSON.parse(broken)).toThrow();
      },
    ),
  );
});

test('names that stand twice, with the way to them', () => {
  expect(duplicateNames('{"a":1,"b":{"c":[{"d":1,"\\u0064":2}]},"a":2}')).toEqual([
    { name: 'd', path: ['b', 'c', 0] },
    { name: 'a', path: [] },
  ]);
  expect(duplicateNames('{"__proto__":1,"constructor":2}')).toEqual([]);
});
