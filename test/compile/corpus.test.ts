/**
 * The corpus: a blueprint for every construct and for nesting, with the machine it compiles to. A difference is either a
 * mistake or a change of the compiler, which `npm run corpus` then writes down.
 */
import { describe, expect, it } from 'vitest';
import type { Json } from '../../lib/blueprint/json.ts';
import { validateBlueprint } from '../../lib/compile/validate.ts';
import { validateDefinition } from '../../lib/local/step-functions/validate/validate.ts';
import { compileCorpus, readCorpusFiles } from '../../scripts/corpus.ts';
import { machineFaults } from './machine-faults.ts';

const cases = compileCorpus();
const written = readCorpusFiles();

describe('the corpus', () => {
  it('holds a machine and an estimate for each blueprint, and no other', () => {
    expect(Object.keys(written)).toEqual(cases.flatMap(({ files }) => Object.keys(files)).sort());
  });

  it.each(cases)('$name compiles to what is written', ({ files }) => {
    for (const [file, text] of Object.entries(files)) {
      expect(written[file], `${file} differs; if that is meant, run "npm run corpus"`).toBe(text);
    }
  });

  it.each(cases)('$name is valid, with nothing to warn about', ({ blueprint }) => {
    expect(validateBlueprint(blueprint as unknown as Json).diagnostics).toEqual([]);
  });

  it('compiles without diagnostics, to machines that pass every guard, and changes no blueprint', () => {
    const before = structuredClone(cases.map(({ blueprint }) => blueprint));
    const again = compileCorpus();
    expect(cases.map(({ blueprint }) => blueprint)).toEqual(before);
    for (const [i, { name, compiled }] of cases.entries()) {
      expect([name, compiled.diagnostics]).toEqual([name, []]);
      expect([name, machineFaults(compiled.definition)]).toEqual([name, []]);
      expect([name, validateDefinition(compiled.text, 'STANDARD')]).toEqual([name, []]);
      expect([name, again[i]?.compiled.text]).toEqual([name, compiled.text]);
    }
  });
});
