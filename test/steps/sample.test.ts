import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Json } from '../../lib/blueprint/json.ts';
import { bytesOf, sampleOf } from '../../lib/steps/sample.ts';

describe('a sample', () => {
  it.each([
    ['small', 'small', 100],
    [null, null, 10],
    ['x'.repeat(500), `${'x'.repeat(100)}… (500 characters)`, 150],
    [[1, 2, 3, 4, 5, 6, 7, 8].map(() => 'y'.repeat(50)), ['y'.repeat(50), '… 7 more'], 90],
    [{ log: 'z'.repeat(1000), n: 1 }, { log: `${'z'.repeat(100)}… (1000 characters)`, n: 1 }, 160],
  ])('of %o', (value, sample, maxBytes) => {
    expect(sampleOf(value as Json, maxBytes)).toEqual(sample);
  });

  it('is JSON, small, and leaves the value as it is', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 8 }), (value) => {
        const before = JSON.stringify(value);
        const sample = sampleOf(value as Json, 300);
        expect(JSON.stringify(value)).toBe(before);
        expect(bytesOf(sample)).toBeLessThanOrEqual(Math.max(300, 400));
        if (Buffer.byteLength(before) <= 300) expect(sample).toEqual(value);
      }),
    );
  });
});
