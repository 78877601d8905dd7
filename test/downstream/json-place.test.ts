import fc from 'fast-check';
import { expect, it } from 'vitest';
import { jsonPlace } from '../../lib/downstream/json-place.ts';

it.each([
  ['{"a": 1,}', ' (line 1, column 9)'],
  ['{"a": hello}', ' (line 1, column 7)'],
  ['{\n  "a": 1\n  "b": 2\n}', ' (line 3, column 3)'],
  ["{'a': 1}", ' (line 1, column 2)'],
  ['{"a": "x\ny"}', ' (line 1, column 9)'],
  ['[1, 2', ' (it ends too early)'],
  ['"abc', ' (it ends too early)'],
  ['', ' (it ends too early)'],
  ['tru', ' (it ends too early)'],
  ['nul!', ' (line 1, column 4)'],
  ['{} {}', ' (line 1, column 4)'],
  ['// a comment\n{}', ' (line 1, column 1)'],
  ['01', ' (line 1, column 2)'],
])('%j%s', (text, place) => {
  expect(() => JSON.parse(text)).toThrow();
  expect(jsonPlace(text)).toBe(place);
});

it('what stands before the place is the beginning of some JSON', () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 3 }), fc.nat(), (json, at) => {
      const cut = at % (json.length + 1);
      // \u0001 is allowed nowhere in JSON.
      const text = `${json.slice(0, cut)}\u0001${json.slice(cut)}`;
      const before = json.slice(0, cut).split('\n');
      expect(jsonPlace(text)).toBe(` (line ${before.length}, column ${(before.at(-1) ?? '').length + 1})`);
    }),
  );
});
