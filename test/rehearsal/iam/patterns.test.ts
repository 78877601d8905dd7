/** Wildcards against the obvious, slow definition. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { matchesPattern } from '../../../rehearsal/iam/patterns.ts';

/** Every way to read the pattern, tried one after the other. */
function slowly(pattern: string, text: string): boolean {
  const [first, rest] = [pattern[0], pattern.slice(1)];
  if (first === undefined) return text === '';
  if (first === '*') return slowly(rest, text) || (text !== '' && slowly(pattern, text.slice(1)));
  return text !== '' && (first === '?' || first === text[0]) && slowly(rest, text.slice(1));
}

describe('matchesPattern', () => {
  const letters = (alphabet: string[]) => fc.string({ unit: fc.constantFrom(...alphabet), maxLength: 8 });

  it('agrees with its definition', () => {
    fc.assert(
      fc.property(letters(['a', 'b', '*', '?']), letters(['a', 'b', ':']), (pattern, text) => {
        expect(matchesPattern(pattern, text)).toBe(slowly(pattern, text));
      }),
      { numRuns: 2_000 },
    );
  });

  it('takes no time over many stars', () => {
    expect(matchesPattern(`${'*a'.repeat(40)}b`, 'a'.repeat(2_000))).toBe(false);
  });
});
