import { describe, expect, it } from 'vitest';
import { evaluateFormula, type FormulaTerm, formula } from '../../lib/compile/formula.ts';

const CASES: { terms: FormulaTerm[]; text: string; value: number }[] = [
  { terms: [], text: '0', value: 0 },
  {
    terms: [
      { each: 3, of: [] },
      { each: 4, of: [] },
    ],
    text: '7',
    value: 7,
  },
  { terms: [{ each: 1, of: ['pods'] }], text: 'pods', value: 10 },
  {
    terms: [
      { each: 12, of: [] },
      { each: 6, of: ['pods'] },
    ],
    text: '12 + 6 × pods',
    value: 72,
  },
  {
    terms: [
      { each: 2, of: ['pods', 'containers'] },
      { each: 5, of: ['pods'] },
      { each: 2, of: ['pods', 'containers'] },
    ],
    text: '4 × pods × containers + 5 × pods',
    value: 170,
  },
  {
    terms: [
      { each: 0, of: ['pods'] },
      { each: 1, of: [] },
    ],
    text: '1',
    value: 1,
  },
];

describe('a formula of loop sizes', () => {
  it.each(CASES)('$text', ({ terms, text, value }) => {
    const made = formula(terms);
    expect(made.text).toBe(text);
    expect(evaluateFormula(made, { pods: 10, containers: 3 })).toBe(value);
  });

  it('takes a loop without a size for empty', () => {
    expect(
      evaluateFormula(
        formula([
          { each: 5, of: ['pods'] },
          { each: 1, of: [] },
        ]),
        {},
      ),
    ).toBe(1);
  });
});
