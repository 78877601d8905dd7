/**
 * The folders that become the functions' assets: made anew for each synth, outside of the project, and copied by the CDK into
 * its output. The same sources give the same bytes (scripts/functions.js), so an asset's hash changes with its content alone.
 */
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { writeDocuments } from './blueprints/read-folder.ts';
import type { FunctionName } from './names.ts';
import type { EngineProps } from './props.ts';
import { type PreparedServers, prepareServers } from './servers/prepare-servers.ts';

export type Assets = Readonly<Record<FunctionName, string>>;

interface Bundler {
  bundleFunction(name: string, outFolder: string): Promise<void>;
}

export interface PreparedAssets {
  assets: Assets;
  servers: PreparedServers;
  /** Folder of the blueprints that the stack owns. */
  blueprints: string;
  /** Removes the folders. */
  remove(): Promise<void>;
}

/**
 * Makes the folders: each function's bundle, in call-tool's the downstream servers that mcp.json names, in run-events' the documents
 * of the blueprints that the stack owns.
 * @throws SynthFault where mcp.json has what AWS does not allow, or a blueprint has errors
 */
export async function prepareAssets(root: string, props: EngineProps): Promise<PreparedAssets> {
  const folder = await mkdtemp(join(tmpdir(), 'mwe-assets-'));
  const remove = () => rm(folder, { recursive: true, force: true });
  const assets: Assets = {
    'mcp-endpoint': join(folder, 'mcp-endpoint'),
    'call-tool': join(folder, 'call-tool'),
    'run-events': join(folder, 'run-events'),
  };
  try {
    // Not bundled into this program: it finds the project by its own place.
    const bundler = (await import(pathToFileURL(join(root, 'scripts', 'functions.js')).href)) as Bundler;
    for (const [name, out] of Object.entries(assets)) {
      await mkdir(out);
      await bundler.bundleFunction(name, out);
    }
    const blueprints = join(root, 'blueprints');
    writeDocuments(blueprints, props.functions.callTool.timeoutSeconds, assets['run-events']);
    const servers = await prepareServers({
      mcpJson: join(root, 'mcp.json'),
      outFolder: assets['call-tool'],
      trustTogether: props.trustTogether,
      root,
    });
    return { assets, servers, blueprints, remove };
  } catch (error) {
    await remove();
    throw error;
  }
}
