/**
 * The folders that become the functions' assets: made anew for each synth, outside of the project, and copied by the CDK into
 * its output. The same sources give the same bytes (scripts/functions.js), so an asset's hash changes with its content alone.
 */
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { FunctionName } from './names.ts';

export type Assets = Readonly<Record<FunctionName, string>>;

interface Bundler {
  bundleFunction(name: string, outFolder: string): Promise<void>;
}

/** Bundles the three functions below a fresh folder. @returns their folders, and what removes all of it. */
export async function bundleAssets(root: string): Promise<{ assets: Assets; remove(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'mwe-assets-'));
  const assets: Assets = {
    'mcp-endpoint': join(folder, 'mcp-endpoint'),
    'call-tool': join(folder, 'call-tool'),
    'run-events': join(folder, 'run-events'),
  };
  // Not bundled into this program: it finds the project by its own place.
  const bundler = (await import(pathToFileURL(join(root, 'scripts', 'functions.js')).href)) as Bundler;
  for (const [name, out] of Object.entries(assets)) {
    await mkdir(out);
    await bundler.bundleFunction(name, out);
  }
  return { assets, remove: () => rm(folder, { recursive: true, force: true }) };
}
