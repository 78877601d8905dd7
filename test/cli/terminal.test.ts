/** What a terminal is given: no escape sequence, and JSON that reads back as the value. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { jsonLines, plain } from '../../lib/cli/terminal.ts';

describe('plain text', () => {
  it.each([
    ['\u001b[31mred\u001b[0m', '[31mred[0m'],
    ['a\u009b2Jb', 'a2Jb'],
    ['user\u202egpj.exe', 'usergpj.exe'],
    ['over\rwritten', 'overwritten'],
    ['two\n\tlines', 'two\n\tlines'],
    ['not\u{e0041}\u{e007f} \u200bseen\ufeff', 'not seen'],
    ['ß 👩‍💻', 'ß 👩‍💻'],
  ])('%j is %j', (text, expected) => {
    expect(plain(text)).toBe(expected);
  });
});

describe('JSON', () => {
  it('loses nothing to the cleaning', () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: 'binary' }), (value) => {
        const text = plain(jsonLines(value));
        expect(text).toBe(jsonLines(value));
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
    expect(jsonLines('a\u202eb\u009b')).toBe('"a\\u202eb\\u009b"');
    expect(jsonLines('a\u{e0041}b')).toBe('"a\\udb40\\udc41b"');
  });
});
