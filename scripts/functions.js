/**
 * The bundles that Lambda loads, by esbuild: `functions/NAME/index.ts` to `index.mjs`, chunks and source maps.
 *
 * What always holds: the same sources give the same bytes, wherever the project and the output stand (the CDK names an
 * asset by its content, so a byte that differs deploys the function anew); what is imported dynamically is a chunk of its
 * own, so that a start reads no more than it needs; every output is minified and has its source map beside it.
 *
 * `node scripts/functions.js FOLDER` writes all of them.
 */
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ROOT } from './bundle.js';

export const FUNCTIONS = ['mcp-endpoint', 'call-tool', 'run-events'];

/**
 * Node 24 runs on Lambda, and Node 20 has to run the bundles in the rehearsal. What esbuild writes for the older one
 * differs only where a source says `using`.
 */
const TARGET = 'node20';

/** esbuild's stand-in for a `require` that a CommonJS package makes; where it is, there must be a real one. */
const NEEDS_REQUIRE = 'Dynamic require of ';
const REQUIRE = `import{createRequire as __cr}from"node:module";const require=__cr(import.meta.url);\n`;

/** zod brings its messages in fifty languages, a fifth of a bundle; everything here is said in English. */
const ENGLISH_ALONE = {
  name: 'english-alone',
  setup(build) {
    build.onLoad({ filter: /[\\/]zod[\\/]v4[\\/]locales[\\/]index\.js$/ }, ({ path }) => ({
      contents: "export { default as en } from './en.js';",
      resolveDir: dirname(path),
    }));
  },
};

/**
 * Bundles one function.
 * @param {string} name a folder of functions/
 * @param {string} outFolder where to; files of an earlier bundle in it are not removed
 * @param {{ entry?: string, external?: string[] }} [options] for benchmarks: another entry, packages to leave outside
 * @returns {Promise<void>}
 * @throws what esbuild finds wrong
 */
export async function bundleFunction(name, outFolder, options = {}) {
  const { build } = await import('esbuild');
  const entry = options.entry ?? join('functions', name, 'index.ts');
  // Nothing of where the output goes may reach its bytes: esbuild is told the same folder always, and writes nothing.
  const outdir = join(ROOT, 'dist', 'functions', name);
  const { outputFiles } = await build({
    absWorkingDir: ROOT,
    entryPoints: { index: entry },
    outdir,
    write: false,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: TARGET,
    // ES modules of the packages where there are both: unused parts of them can be left out.
    mainFields: ['module', 'main'],
    outExtension: { '.js': '.mjs' },
    chunkNames: 'chunks/[name]-[hash]',
    external: options.external ?? [],
    plugins: [ENGLISH_ALONE],
    minify: true,
    treeShaking: true,
    sourcemap: 'external',
    sourcesContent: false,
    legalComments: 'none',
    logLevel: 'error',
  });
  const texts = new Map(outputFiles.map((file) => [relative(outdir, file.path), file.text]));
  for (const [path, text] of texts) {
    const file = join(outFolder, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, path.endsWith('.map') ? mapText(texts, path, text, outdir) : codeText(text));
  }
}

function codeText(text) {
  return text.includes(NEEDS_REQUIRE) ? REQUIRE + text : text;
}

/** A source map whose sources are paths from the project's root, and which knows of the line that `codeText` adds. */
function mapText(texts, path, text, outdir) {
  const map = JSON.parse(text);
  const folder = dirname(join(outdir, path));
  map.sources = map.sources.map((source) => (isAbsolute(source) ? source : fromRoot(folder, source)));
  if (texts.get(path.slice(0, -'.map'.length))?.includes(NEEDS_REQUIRE)) map.mappings = `;${map.mappings}`;
  return JSON.stringify(map);
}

function fromRoot(folder, source) {
  return relative(ROOT, resolve(folder, source)).split('\\').join('/');
}

/** Bundles all functions into folders of their names below `outFolder`, which is emptied first. */
export async function bundleFunctions(outFolder) {
  await rm(outFolder, { recursive: true, force: true });
  for (const name of FUNCTIONS) await bundleFunction(name, join(outFolder, name));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [folder] = process.argv.slice(2);
  if (folder === undefined) {
    console.error('usage: node scripts/functions.js FOLDER');
    process.exit(2);
  }
  await bundleFunctions(folder);
  const { stop } = await import('esbuild');
  await stop();
}
