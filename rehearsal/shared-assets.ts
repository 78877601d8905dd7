/**
 * The functions' assets, made once for all deployments of a rehearsal: they differ in props alone, which the bundles do not know.
 */
import { type PreparedAssets, prepareAssets } from '../infra/assets.ts';

export interface SharedAssets {
  prepare: typeof prepareAssets;
  /** Removes what was made. */
  remove(): Promise<void>;
}

export function shareAssets(): SharedAssets {
  let made: Promise<PreparedAssets> | undefined;
  return {
    async prepare(root, props) {
      made ??= prepareAssets(root, props);
      // Each synth gives its assets back; the last one is `remove`.
      return { ...(await made), remove: () => Promise.resolve() };
    },
    async remove() {
      await (await made?.catch(() => undefined))?.remove();
    },
  };
}
