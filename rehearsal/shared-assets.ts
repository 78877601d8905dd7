/**
 * The functions' assets, made once for all deployments of a rehearsal: they differ in props alone, which the bundles do not know. For
 * an update of a stack there may be other blueprints in them.
 */
import { cp, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type PreparedAssets, prepareAssets } from '../infra/assets.ts';
import { writeDocuments } from '../infra/blueprints/read-folder.ts';
import type { JsonObject } from '../lib/blueprint/json.ts';

type Prepare = typeof prepareAssets;

export interface SharedAssets {
  prepare: Prepare;
  /** The same with these blueprints, by their file names, instead of those that ship. `folder` is made for them. */
  withBlueprints(folder: string, blueprints: Readonly<Record<string, JsonObject>>): Prepare;
  /** Removes what was made. */
  remove(): Promise<void>;
}

export function shareAssets(): SharedAssets {
  let made: Promise<PreparedAssets> | undefined;
  const prepare: Prepare = async (root, props) => {
    made ??= prepareAssets(root, props);
    // Each synth gives its assets back; the last one is `remove`.
    return { ...(await made), remove: () => Promise.resolve() };
  };
  return {
    prepare,
    withBlueprints: (folder, blueprints) => async (root, props) => {
      const shared = await prepare(root, props);
      const [sources, runEvents] = [join(folder, 'blueprints'), join(folder, 'run-events')];
      await mkdir(sources, { recursive: true });
      for (const [name, blueprint] of Object.entries(blueprints)) {
        await writeFile(join(sources, name), JSON.stringify(blueprint));
      }
      await cp(shared.assets['run-events'], runEvents, { recursive: true });
      await rm(join(runEvents, 'blueprints'), { recursive: true });
      writeDocuments(sources, props.functions.callTool.timeoutSeconds, runEvents);
      return { ...shared, blueprints: sources, assets: { ...shared.assets, 'run-events': runEvents } };
    },
    async remove() {
      await (await made?.catch(() => undefined))?.remove();
    },
  };
}
