/**
 * The corpus: blueprints in test/corpus/valid and, beside each, the machine that it compiles to. The machines are
 * committed, so a change of the compiler shows in a diff what it does to every construct.
 *
 *     call.json            the blueprint
 *     call.machine.json    its machine, indented
 *     call.estimate.txt    what a run of it costs
 *
 * `npm run corpus` rewrites machines and estimates, and the diagnostics of test/corpus/invalid; a test fails where what is
 * written differs from what is compiled.
 */
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { documentHash } from '../lib/blueprint/canonical.ts';
import type { Blueprint } from '../lib/blueprint/types.ts';
import { type Compiled, compileDocument } from '../lib/compile/compile.ts';
import { documentOf, TARGET } from '../test/compile/compile-blueprint.ts';
import { rewriteInvalidCorpus } from '../test/compile/invalid-corpus.ts';

/** Scripts and tests run in the repository's folder. */
const FOLDER = 'test/corpus/valid';
const MADE = ['.machine.json', '.estimate.txt'];

export interface CorpusCase {
  name: string;
  blueprint: Blueprint;
  compiled: Compiled;
  /** What stands in the files beside the blueprint, by file name. */
  files: Record<string, string>;
}

/** Every blueprint of the corpus, compiled now. */
export function compileCorpus(folder: string = FOLDER): CorpusCase[] {
  return readdirSync(folder)
    .filter((file) => file.endsWith('.json') && !isMade(file))
    .sort()
    .map((file) => {
      const name = basename(file, '.json');
      const blueprint = JSON.parse(readFileSync(join(folder, file), 'utf8')) as Blueprint;
      const document = documentOf(blueprint);
      const compiled = compileDocument(document, documentHash(document), TARGET);
      const files = {
        [`${name}.machine.json`]: `${JSON.stringify(compiled.definition, null, 2)}\n`,
        [`${name}.estimate.txt`]: `${compiled.estimate.text}\n`,
      };
      return { name, blueprint, compiled, files };
    });
}

/** What was written beside the blueprints, by file name. */
export function readCorpusFiles(folder: string = FOLDER): Record<string, string> {
  const made = readdirSync(folder).filter(isMade).sort();
  return Object.fromEntries(made.map((file) => [file, readFileSync(join(folder, file), 'utf8')]));
}

/** Rewrites all machines and estimates, and removes those without a blueprint. */
function writeCorpus(folder: string = FOLDER): string[] {
  const files = Object.assign({}, ...compileCorpus(folder).map((each) => each.files)) as Record<
    string,
    string
  >;
  for (const stale of Object.keys(readCorpusFiles(folder))) {
    if (files[stale] === undefined) rmSync(join(folder, stale));
  }
  for (const [file, text] of Object.entries(files)) writeFileSync(join(folder, file), text);
  return Object.keys(files);
}

function isMade(file: string): boolean {
  return MADE.some((ending) => file.endsWith(ending));
}

if (process.argv[1] !== undefined && basename(process.argv[1]).startsWith('corpus.')) {
  const written = writeCorpus();
  process.stdout.write(`${written.length} files written in test/corpus/valid\n`);
  const cases = rewriteInvalidCorpus();
  process.stdout.write(`${cases} files written in test/corpus/invalid\n`);
}
