/**
 * Native parts of the installed packages. No install script runs, so a package that compiles or downloads its native part does
 * not have it; one that ships it in a package of its own, or prebuilt for several platforms, does. Found by the files themselves:
 * Lambda runs ELF for arm64 (here called aarch64) and nothing else.
 */
import { open, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { LockedPackage } from './lock.ts';

/** Source: ELF for the Arm 64-bit Architecture, e_machine. */
const EM_AARCH64 = 183;
/** Source: Lambda quotas: 250 MB unzipped for a function; the bundle has the rest. */
const MAX_BYTES = 230 * 1024 * 1024;

export interface Inspection {
  /** The packages cannot run in the function. */
  problems: string[];
  /** They may not be able to. */
  warnings: string[];
}

/** @param folder with node_modules in it */
export async function inspectInstalled(
  folder: string,
  packages: Record<string, LockedPackage>,
): Promise<Inspection> {
  const problems: string[] = [];
  const warnings: string[] = [];
  const addons = new Map<string, boolean[]>();
  const builders = new Set<string>();
  let bytes = 0;
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    bytes += (await stat(path)).size;
    const place = placeOf(
      path
        .slice(folder.length + 1)
        .split('\\')
        .join('/'),
      packages,
    );
    if (place === undefined) continue;
    if (entry.name === 'binding.gyp') builders.add(place);
    if (entry.name.endsWith('.node')) {
      addons.set(place, [...(addons.get(place) ?? []), await isForLambda(path)]);
    }
  }
  for (const [place, fits] of addons) {
    if (!fits.includes(true))
      problems.push(`${place} has a native part for other platforms alone. ${fix(place)}`);
  }
  for (const [place, { hasInstallScript }] of Object.entries(packages)) {
    if (hasInstallScript !== true || addons.get(place)?.includes(true) === true) continue;
    if (builders.has(place)) {
      problems.push(
        `${place} compiles a native part when it is installed, which is not done here. ${fix(place)}`,
      );
    } else if (!addons.has(place)) {
      warnings.push(`${place} has an install script, which was not run: it may lack what the script makes`);
    }
  }
  if (bytes > MAX_BYTES) {
    problems.push(
      `the packages of the stdio servers have ${Math.round(bytes / 1024 / 1024)} MiB, and a function takes ${MAX_BYTES / 1024 / 1024}; serve some of them elsewhere and give their "url"`,
    );
  }
  return { problems, warnings };
}

function fix(place: string): string {
  const name = place.slice(place.lastIndexOf('node_modules/') + 'node_modules/'.length);
  return `Take a version of the server that uses ${name} prebuilt for linux arm64 (an optional dependency, or a folder "prebuilds"), or serve it elsewhere and give its "url"`;
}

/** The package that a file belongs to: the longest place that the path is below. */
function placeOf(path: string, packages: Record<string, LockedPackage>): string | undefined {
  let end = path.length;
  for (;;) {
    end = path.lastIndexOf('/', end - 1);
    if (end <= 0) return undefined;
    const place = path.slice(0, end);
    if (place !== '' && Object.hasOwn(packages, place)) return place;
  }
}

async function isForLambda(path: string): Promise<boolean> {
  const file = await open(path);
  try {
    const head = Buffer.alloc(20);
    await file.read(head, 0, 20, 0);
    return (
      head.subarray(0, 4).equals(Buffer.from('\x7fELF', 'latin1')) && head.readUInt16LE(18) === EM_AARCH64
    );
  } finally {
    await file.close();
  }
}
