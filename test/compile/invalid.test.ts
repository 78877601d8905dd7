/** Every case of test/corpus/invalid; `npm run corpus` rewrites what is expected. */
import { describe, expect, test } from 'vitest';
import { DIAGNOSTIC_CODES } from '../../lib/blueprint/diagnostic-codes.ts';
import { diagnosticsOf, invalidCases } from './invalid-corpus.ts';

const cases = invalidCases();

describe('test/corpus/invalid', () => {
  test.each(cases)('%s', (name, invalid) => {
    const before = structuredClone(invalid);
    const found = diagnosticsOf(invalid);
    expect(found).toEqual(invalid.diagnostics);
    expect(found.map(({ code }) => code)).toContain(name.slice(0, name.indexOf('-')));
    expect(invalid).toEqual(before);
  });

  test.each(Object.keys(DIAGNOSTIC_CODES))('%s has a case', (code) => {
    expect(cases.some(([name]) => name.startsWith(`${code}-`))).toBe(true);
  });

  test.each(cases)('each diagnostic of %s stands by itself', (_, { diagnostics }) => {
    for (const { code, severity, pointer, message, got, expected, hint } of diagnostics) {
      for (const part of [got, expected, hint]) expect(part).toMatch(/\S/);
      expect(severity).toBe(DIAGNOSTIC_CODES[code].severity);
      expect(message.startsWith(pointer === '' ? 'blueprint: ' : `${pointer.slice(1)}: `)).toBe(true);
      expect(message).not.toMatch(/undefined|\[object|NaN|\n/);
    }
  });
});
