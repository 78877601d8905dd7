/** Where the files that ship with the product are: beside the bundle's folder, or this source's. */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The root of the installation: the nearest folder upwards that has a package.json. */
export function projectRoot(from: string = dirname(fileURLToPath(import.meta.url))): string {
  let folder = from;
  while (!existsSync(join(folder, 'package.json'))) {
    const parent = dirname(folder);
    if (parent === folder) throw new Error('the installation is incomplete: its package.json is missing');
    folder = parent;
  }
  return folder;
}
