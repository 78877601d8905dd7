/**
 * TypeScript to something Node runs, by esbuild. Node 20 cannot read TypeScript, and one bundled file starts several
 * times faster than hundreds of small ones.
 *
 * A bundle is made only when a source is newer than it, so starting the engine twice costs one build.
 */
import { mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const SOURCES = ['lib', 'functions', 'infra', 'rehearsal', 'bench', 'examples', 'scripts', 'test'];

/**
 * What stays outside the bundle: dynalite loads its operations by name at run time and has a native part, esbuild is a
 * program, vitest belongs to tests, the CDK finds its own files beside its modules.
 */
const EXTERNAL = [
  'dynalite',
  'esbuild',
  'vitest',
  'gpt-tokenizer',
  'fast-check',
  'aws-cdk-lib',
  'constructs',
  'cdk-nag',
];

/** Newest modification below a folder, in epoch milliseconds. */
function newest(folder) {
  let time = 0;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    time = Math.max(time, entry.isDirectory() ? newest(path) : statSync(path).mtimeMs);
  }
  return time;
}

function isFresh(output) {
  const built = statSync(output, { throwIfNoEntry: false })?.mtimeMs;
  if (built === undefined) return false;
  const sources = SOURCES.map((folder) => join(ROOT, folder)).filter((folder) =>
    statSync(folder, { throwIfNoEntry: false }),
  );
  const lock = statSync(join(ROOT, 'package-lock.json')).mtimeMs;
  return built > Math.max(lock, ...sources.map(newest));
}

/** Chunks of bundles that nobody makes any more; a process may still load those of a younger one. */
const OLD_MS = 7 * 24 * 3_600_000;

/**
 * Bundles `entry` (a path from the root) into `dist/` unless that is fresh. Answers the bundle's path. What is loaded later stands
 * in chunks beside it, named by their content: in one file, modules that import each other in a circle would be run in another order
 * than Node runs them.
 * Every file appears by a rename and the entry last, so two that build at once do not read each other's halves.
 */
export async function bundle(entry) {
  const output = join(ROOT, 'dist', relative(ROOT, join(ROOT, entry)).replace(/\.ts$/, '.js'));
  if (isFresh(output)) return output;
  const { build, stop } = await import('esbuild');
  const folder = dirname(output);
  try {
    const { outputFiles } = await build({
      entryPoints: [join(ROOT, entry)],
      outdir: folder,
      write: false,
      bundle: true,
      splitting: true,
      chunkNames: 'chunks/[name]-[hash]',
      // ES modules of packages that have both: a CommonJS one that is loaded later has no named exports.
      mainFields: ['module', 'main'],
      platform: 'node',
      target: 'node20',
      format: 'esm',
      // No source map: names stay readable, and it would double the size that every start reads.
      external: EXTERNAL,
      logLevel: 'error',
      // CommonJS packages inside an ESM bundle still call require.
      banner: {
        js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);",
      },
    });
    mkdirSync(join(folder, 'chunks'), { recursive: true });
    removeOld(join(folder, 'chunks'));
    const entryLast = [...outputFiles].sort((a, b) => Number(a.path === output) - Number(b.path === output));
    for (const { path, contents } of entryLast) {
      const temporary = `${path}.${process.pid}`;
      writeFileSync(temporary, contents);
      renameSync(temporary, path);
    }
  } finally {
    // Its service is a child process, and would stay as long as we do.
    await stop();
  }
  return output;
}

function removeOld(folder) {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    const written = statSync(path, { throwIfNoEntry: false })?.mtimeMs;
    if (written !== undefined && Date.now() - written > OLD_MS) rmSync(path, { force: true });
  }
}
