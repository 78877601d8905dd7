/** `node scripts/run.js FILE.ts [args]`: runs a TypeScript file of this repository. */
import { pathToFileURL } from 'node:url';
import { bundle } from './bundle.js';

const [entry, ...args] = process.argv.slice(2);
if (entry === undefined) {
  console.error('usage: node scripts/run.js FILE.ts [args]');
  process.exit(2);
}
const output = await bundle(entry);
process.argv.splice(1, process.argv.length, output, ...args);
await import(pathToFileURL(output).href);
