/**
 * A quantity of a run as a formula of its loops' sizes: a number, and for each loop whose size is not known before the
 * run so much an item. Nested loops multiply; then the inner loop's size is its mean over the outer loop's items.
 *
 *     12 + 6 × pods + 4 × pods × containers
 *   = { base: 12, perItem: [{ each: 6, of: ['pods'] }, { each: 4, of: ['pods', 'containers'] }], text: '…' }
 */
export interface Formula {
  base: number;
  perItem: FormulaTerm[];
  /** The same for a reader. */
  text: string;
}

export interface FormulaTerm {
  each: number;
  /** Ids of the loops, outermost first. */
  of: string[];
}

/** A formula from its terms; those of the same loops are added up, and a term without loops is part of the base. */
export function formula(terms: readonly FormulaTerm[]): Formula {
  const sums = new Map<string, FormulaTerm>();
  for (const { each, of } of terms) {
    const key = of.join(' ');
    const sum = sums.get(key);
    if (sum === undefined) sums.set(key, { each, of: [...of] });
    else sum.each += each;
  }
  const base = sums.get('')?.each ?? 0;
  const perItem = [...sums.values()].filter(({ each, of }) => of.length > 0 && each !== 0);
  return { base, perItem, text: formulaText(base, perItem) };
}

/** The formula's value where the loops have these sizes; a loop without one counts as empty. */
export function evaluateFormula({ base, perItem }: Formula, sizes: Record<string, number>): number {
  return perItem.reduce(
    (sum, { each, of }) => sum + of.reduce((product, loop) => product * (sizes[loop] ?? 0), each),
    base,
  );
}

function formulaText(base: number, perItem: readonly FormulaTerm[]): string {
  const terms = perItem.map(({ each, of }) => [...(each === 1 ? [] : [each]), ...of].join(' × '));
  return [...(base === 0 && terms.length > 0 ? [] : [base]), ...terms].join(' + ');
}
