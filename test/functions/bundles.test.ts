/** What Lambda loads: its size, what is not in it, and that the same sources give the same bytes. */
import { createHash } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bundler, type FunctionName } from './stage.ts';

/**
 * KiB of code, and of code as it is downloaded, source maps not counted: what was measured and about a tenth. Of these, what a
 * start reads before its first request: `start`.
 */
const BUDGETS: Record<FunctionName, { code: number; gzip: number; start: number }> = {
  'mcp-endpoint': { code: 1800, gzip: 555, start: 945 },
  'call-tool': { code: 1890, gzip: 565, start: 1225 },
  'run-events': { code: 1125, gzip: 337, start: 570 },
};
const NAMES = Object.keys(BUDGETS) as FunctionName[];

/** By the paths of sources. The stand-ins, what builds and what deploys have no place in a function. */
const FORBIDDEN =
  /node_modules\/(dynalite|esbuild|jsonata|aws-cdk-lib|constructs|cdk-nag|vitest|aws-xray-sdk-core)\/|^(lib\/local|lib\/cli|infra|rehearsal|test|bench)\//;

let folder: string;
const files = new Map<FunctionName, Map<string, Buffer>>();

async function read(at: string): Promise<Map<string, Buffer>> {
  const found = new Map<string, Buffer>();
  for (const entry of await readdir(at, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile()) found.set(path.slice(at.length + 1), await readFile(path));
  }
  return found;
}

async function bundled(name: FunctionName, at: string): Promise<Map<string, Buffer>> {
  const { bundleFunction } = await bundler();
  await bundleFunction(name, at);
  return read(at);
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mwe-bundles-'));
  for (const name of NAMES) files.set(name, await bundled(name, join(folder, name)));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

function filesOf(name: FunctionName): Map<string, Buffer> {
  const found = files.get(name);
  if (found === undefined) throw new Error(`${name} was not bundled`);
  return found;
}

describe.each(NAMES)('%s', (name) => {
  const code = () => [...filesOf(name)].filter(([path]) => path.endsWith('.mjs'));
  const sources = () =>
    [...filesOf(name)]
      .filter(([path]) => path.endsWith('.map'))
      .flatMap(([, bytes]) => (JSON.parse(bytes.toString()) as { sources: string[] }).sources);

  it('has a source map beside each file, whose sources are of the project', async () => {
    for (const [path] of code()) expect(filesOf(name).has(`${path}.map`)).toBe(true);
    expect(sources()).toContain(`functions/${name}/index.ts`);
    for (const source of sources()) expect(source).toMatch(/^(functions|lib|node_modules)\//);
  });

  it('holds nothing of the stand-ins, the build and the deployment', () => {
    expect(sources().filter((source) => FORBIDDEN.test(source))).toEqual([]);
  });

  it('stays within its budget', () => {
    const kib = (bytes: number): number => Math.ceil(bytes / 1024);
    const size = {
      code: kib(code().reduce((sum, [, bytes]) => sum + bytes.length, 0)),
      gzip: kib(code().reduce((sum, [, bytes]) => sum + gzipSync(bytes).length, 0)),
      start: kib(startFiles(filesOf(name)).reduce((sum, bytes) => sum + bytes.length, 0)),
    };
    const { code: most, gzip, start } = BUDGETS[name];
    expect(size.code, 'code').toBeLessThanOrEqual(most);
    expect(size.gzip, 'gzip').toBeLessThanOrEqual(gzip);
    expect(size.start, 'start').toBeLessThanOrEqual(start);
  });
});

it('the same sources are the same bytes, wherever they are written', async () => {
  const again = await bundled('mcp-endpoint', join(folder, 'else', 'where', 'again'));
  expect(hashes(again)).toEqual(hashes(filesOf('mcp-endpoint')));
});

it('a source that changes changes the bytes', async () => {
  const { bundleFunction } = await bundler();
  const entry = join(folder, 'entry.ts');
  const bundle = async (text: string, at: string) => {
    await writeFile(entry, text);
    await bundleFunction('changing', join(folder, at), { entry });
    return hashes(await read(join(folder, at)));
  };
  expect(await bundle('export const a = 1;', 'one')).not.toEqual(await bundle('export const a = 2;', 'two'));
});

function hashes(all: ReadonlyMap<string, Buffer>): Record<string, string> {
  return Object.fromEntries(
    [...all].sort().map(([path, bytes]) => [path, createHash('sha256').update(bytes).digest('hex')]),
  );
}

/** index.mjs and what it imports at once, not what is loaded when it is needed. */
function startFiles(all: ReadonlyMap<string, Buffer>): Buffer[] {
  const seen = new Map<string, Buffer>();
  const visit = (path: string): void => {
    const bytes = all.get(path);
    if (bytes === undefined || seen.has(path)) return;
    seen.set(path, bytes);
    const inFolder = path.includes('/') ? path.slice(0, path.lastIndexOf('/') + 1) : '';
    for (const [, specifier = ''] of bytes.toString().matchAll(/(?:from|import)"(\.\.?\/[^"]+\.mjs)"/g)) {
      visit(new URL(specifier, `file:///${inFolder}`).pathname.slice(1));
    }
  };
  visit('index.mjs');
  return [...seen.values()];
}
