import fc from 'fast-check';
import { expect, it } from 'vitest';
import { includes } from '../../lib/expression/text-search.ts';

it('answers what the built-in search answers', () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'b', 'é', '😀'), maxLength: 400 });
  fc.assert(
    fc.property(text, text, fc.nat(400), fc.nat(400), (where, what, from, to) => {
      const part = where.slice(Math.min(from, to), Math.max(from, to));
      expect(includes(where, what)).toBe(where.includes(what));
      expect(includes(where, part)).toBe(true);
      expect(includes(where, `${part}b${part}`)).toBe(where.includes(`${part}b${part}`));
    }),
  );
});

it('takes no time that grows with the product of the lengths', () => {
  const half = 'a'.repeat(1_000_000);
  const began = performance.now();
  expect(includes(half.repeat(4), `${half}b${half}`)).toBe(false);
  expect(performance.now() - began).toBeLessThan(5000);
});
