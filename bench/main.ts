/** `npm run bench -- [--json FILE] [--only compile,tokens,start,cost,loop] [--quick]`: figures, told and never asserted. */
import { writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { benchColdStart } from './cold-start.ts';
import { benchCompile } from './compile.ts';
import { benchCost } from './cost.ts';
import { benchLoop } from './loop.ts';
import type { Figure } from './measure.ts';
import { benchStart } from './start.ts';
import { benchTokens } from './tokens.ts';

const { values } = parseArgs({
  options: { json: { type: 'string' }, only: { type: 'string' }, quick: { type: 'boolean' } },
});

const SECTIONS: Record<string, () => Promise<Figure[]>> = {
  compile: benchCompile,
  tokens: benchTokens,
  start: benchStart,
  cost: benchCost,
  loop: () => benchLoop({ quick: values.quick === true }),
  cold: () => benchColdStart({ quick: values.quick === true }),
};

const wanted = values.only?.split(',') ?? Object.keys(SECTIONS);
const unknown = wanted.filter((name) => !Object.hasOwn(SECTIONS, name));
if (unknown.length > 0) {
  console.error(`--only ${unknown.join(',')}: the sections are ${Object.keys(SECTIONS).join(', ')}`);
  process.exit(2);
}
const figures: Figure[] = [];
for (const name of wanted) {
  console.log(`\n${name}`);
  for (const figure of (await SECTIONS[name]?.()) ?? []) {
    const aim = figure.aim === undefined ? '' : `   (aim: ${figure.aim})`;
    console.log(`  ${figure.name.padEnd(84)} ${String(figure.value).padStart(8)} ${figure.unit}${aim}`);
    figures.push(figure);
  }
}
if (values.json !== undefined)
  await writeFile(values.json, `${JSON.stringify({ node: process.version, figures }, null, 2)}\n`);
