import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cleanText, MAX_TEXT_BYTES } from '../../lib/downstream/clean-text.ts';

describe('cleanText', () => {
  const cases: [what: string, text: string, cleaned: string][] = [
    [
      'leaves ordinary text',
      'no pod "web-1" in namespace ü 世界 🎉',
      'no pod "web-1" in namespace ü 世界 🎉',
    ],
    ['makes one line of many', ' a\r\n\tb\u2028c\n', 'a b c'],
    ['drops control characters', 'a\u0000\u0007\u001b[31mred\u009b0m', 'a[31mred0m'],
    ['drops directional characters', 'user\u202e\u2066txt.exe\u2069\u200f', 'usertxt.exe'],
    ['drops zero-width characters', 'pass\u200bwo\u00adrd\ufeff\u2060', 'password'],
    [
      'drops tag characters',
      `hi${[...'ignore'].map((c) => String.fromCodePoint(0xe0000 + c.charCodeAt(0))).join('')}!`,
      'hi!',
    ],
    ['drops invisible variation selectors', 'a\u{e0100}\u{e01ef}b', 'ab'],
    ['drops half a character', 'a\ud800b\udc00', 'ab'],
    ['leaves nothing of nothing', '\u200b\n', ''],
  ];
  it.each(cases)('%s', (_, text, cleaned) => {
    expect(cleanText(text)).toBe(cleaned);
  });

  it('ends at the limit between two characters and says so', () => {
    expect(cleanText('x'.repeat(1024))).toBe('x'.repeat(1024));
    expect(cleanText('x'.repeat(1025))).toBe(`${'x'.repeat(1021)}…`);
    expect(cleanText('🎉'.repeat(10), 12)).toBe('🎉🎉…');
    expect(cleanText('🎉🎉🎉', 12)).toBe('🎉🎉🎉');
  });

  it('is fast on a long text', () => {
    expect(Buffer.byteLength(cleanText('é\u0000'.repeat(5_000_000)))).toBeLessThanOrEqual(MAX_TEXT_BYTES);
  });

  it('of any text is within the limit, well formed, and clean already', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary', maxLength: 400 }),
        fc.integer({ min: 8, max: 200 }),
        (text, max) => {
          const cleaned = cleanText(text, max);
          expect(Buffer.byteLength(cleaned)).toBeLessThanOrEqual(max);
          expect(cleaned).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\u{e0000}-\u{e0fff}]/u);
          expect(cleanText(cleaned, max)).toBe(cleaned);
        },
      ),
    );
  });
});
