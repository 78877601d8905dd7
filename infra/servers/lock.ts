/**
 * The committed lock of the npm packages that mcp.json names: `package.json` and `package-lock.json` of this folder, which
 * `scripts/servers-lock.ts` writes. What is installed at synth is what the lock says, to the byte; a lock that does not fit
 * mcp.json, or that would install anything but tarballs of a registry by their checksums, is refused.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AwsServer } from './aws-servers.ts';

export const LOCK_COMMAND = 'node scripts/run.js scripts/servers-lock.ts';

export interface Lock {
  /** Text of the two files. */
  manifest: string;
  lock: string;
  packages: Record<string, LockedPackage>;
}

export interface LockedPackage {
  version?: string;
  resolved?: string;
  integrity?: string;
  link?: boolean;
  optional?: boolean;
  hasInstallScript?: boolean;
  dependencies?: Record<string, string>;
}

/** The packages that servers need, by name. */
export function packagesOf(servers: readonly AwsServer[]): Record<string, string> {
  const wanted = servers.flatMap(({ package: each }) => (each === undefined ? [] : [each]));
  return Object.fromEntries(wanted.map(({ name, version }) => [name, version] as const).sort());
}

/** Reads the lock in a folder against what is needed. */
export function readLock(
  folder: string,
  wanted: Record<string, string>,
): { lock: Lock } | { problems: string[] } {
  let manifest: string;
  let text: string;
  try {
    manifest = readFileSync(join(folder, 'package.json'), 'utf8');
    text = readFileSync(join(folder, 'package-lock.json'), 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return { problems: [`the lock of the servers cannot be read (${code}); run ${LOCK_COMMAND}`] };
  }
  const problems: string[] = [];
  const { dependencies = {} } = parse<{ dependencies?: Record<string, string> }>(manifest);
  const { packages = {}, lockfileVersion } = parse<{
    packages?: Record<string, LockedPackage>;
    lockfileVersion?: number;
  }>(text);
  if (lockfileVersion !== 3) problems.push(`package-lock.json is not of version 3; run ${LOCK_COMMAND}`);
  problems.push(...differences(wanted, dependencies, packages));
  problems.push(...Object.entries(packages).flatMap(([place, each]) => unsafe(place, each)));
  return problems.length > 0 ? { problems } : { lock: { manifest, lock: text, packages } };
}

function parse<T extends object>(text: string): Partial<T> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Partial<T>) : {};
  } catch {
    return {};
  }
}

function differences(
  wanted: Record<string, string>,
  dependencies: Record<string, string>,
  packages: Record<string, LockedPackage>,
): string[] {
  const root = packages['']?.dependencies ?? {};
  const names = new Set([...Object.keys(wanted), ...Object.keys(dependencies), ...Object.keys(root)]);
  return [...names].sort().flatMap((name) => {
    const version = wanted[name];
    const locked = [dependencies[name], root[name], packages[`node_modules/${name}`]?.version];
    if (version === undefined)
      return [`the lock has ${name}, which mcp.json does not name; run ${LOCK_COMMAND}`];
    if (locked.every((each) => each === version)) return [];
    const has = locked.find((each) => each !== version);
    const what = has === undefined ? 'no such package' : `${name}@${has}`;
    return [`mcp.json names ${name}@${version}, and the lock has ${what}; run ${LOCK_COMMAND}`];
  });
}

/** Of one entry: whether npm would take it from anywhere but a registry, or unchecked. */
function unsafe(place: string, locked: LockedPackage): string[] {
  if (place === '') return [];
  const at = `package-lock.json: ${place}`;
  const { resolved, integrity, link } = locked;
  if (link === true) return [`${at} is a link to a folder; name packages of the npm registry alone`];
  if (resolved !== undefined && !resolved.startsWith('https://')) {
    return [`${at} comes from ${JSON.stringify(resolved)}; name packages of the npm registry alone`];
  }
  if (integrity === undefined) return [`${at} has no checksum; run ${LOCK_COMMAND}`];
  return [];
}
