/**
 * Servers that are npm packages, as the ecosystem writes them: `"command": "npx", "args": ["-y", "PACKAGE@1.2.3", …]`.
 *
 * On one machine such a server starts at once and without a network where that version is installed beside mcp.json, else npx
 * fetches it. On AWS it is installed at synth, so there the package must be named by its exact version: `parsePackage` says what
 * is wrong with any other name, and nothing that npm could take for an option, a path or an address gets to npm.
 */
import { readFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import type { ServerConfig } from './config.ts';

export interface PackageServer {
  name: string;
  version: string;
  /** What the server itself is given. */
  args: readonly string[];
}

/** Source: npm docs, package.json, "name" (new names: lower case, URL-safe, at most 214 characters). */
const PART = '[a-z0-9][a-z0-9._~-]*';
const PACKAGE_NAME = new RegExp(`^(?:@${PART}/)?${PART}$`);
const MAX_NAME = 214;
/** Source: semver.org, 2.0.0, without build metadata, which a registry does not keep apart. */
const NUMBER = '(?:0|[1-9]\\d*)';
const IDENTIFIER = `(?:${NUMBER}|\\d*[A-Za-z-][0-9A-Za-z-]*)`;
const EXACT_VERSION = new RegExp(
  `^${NUMBER}\\.${NUMBER}\\.${NUMBER}(?:-${IDENTIFIER}(?:\\.${IDENTIFIER})*)?$`,
);
const YES = ['-y', '--yes'];

/** True for a server that npx would start. */
export function isNpx(command: string): boolean {
  return command === 'npx';
}

/** The package that an npx server names, or in one sentence why it cannot be installed. */
export function parsePackage(args: readonly string[]): PackageServer | { problem: string } {
  const [first, ...others] = args;
  const [spec, ...rest] = first !== undefined && YES.includes(first) ? others : args;
  if (spec === undefined) {
    return { problem: 'npx is given no package; write "args": ["-y", "PACKAGE@1.2.3", …]' };
  }
  const parsed = parseSpec(spec);
  return 'problem' in parsed ? parsed : { ...parsed, args: rest };
}

function parseSpec(spec: string): { name: string; version: string } | { problem: string } {
  const shown = JSON.stringify(spec);
  const refuse = (what: string) => ({
    problem: `${shown} is ${what}; name a package of the npm registry by its exact version, "PACKAGE@1.2.3"`,
  });
  if (spec.startsWith('-')) {
    return {
      problem: `${shown} is an option of npx; only "-y" or "--yes" may stand before the package, options of the server after it`,
    };
  }
  if (/^(file:|link:|workspace:|\.|\/|~|[A-Za-z]:[\\/])|\.(tgz|tar|tar\.gz)$/i.test(spec)) {
    return refuse('a file');
  }
  if (/^(git[+:@]|(github|gitlab|bitbucket|gist):)/i.test(spec) || /^[^@/]+\/[^/@]+(#.*)?$/.test(spec)) {
    return refuse('a git repository');
  }
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(spec)) return refuse('an address');
  const at = spec.indexOf('@', 1);
  const name = at === -1 ? spec : spec.slice(0, at);
  const version = at === -1 ? undefined : spec.slice(at + 1);
  if (!PACKAGE_NAME.test(name) || name.length > MAX_NAME) return refuse("no npm package's name");
  if (version === undefined || version === '') {
    return { problem: `${shown} has no version; write "${name}@1.2.3" with the exact one` };
  }
  if (EXACT_VERSION.test(version)) return { name, version };
  if (/^npm:/i.test(version)) return refuse('an alias');
  if (/^(git|github|gitlab|bitbucket|gist)[+:@]/i.test(version)) return refuse('a git repository');
  if (/^(file|link|workspace):/i.test(version)) return refuse('a file');
  if (version.includes('://')) return refuse('an address');
  const what = /^[A-Za-z][\w-]*$/.test(version) ? 'a tag' : 'a range or no exact version';
  return {
    problem: `${shown}: "${version}" is ${what}, which may be another package tomorrow; write the exact version, "${name}@1.2.3"`,
  };
}

/** What is read of a package's package.json. */
interface Manifest {
  version?: unknown;
  bin?: unknown;
}

/**
 * The program of an installed package, as npx chooses it: the only one, or the one that has the package's own name.
 * @param folder the package's
 * @returns the file, absolute; undefined: the package has none
 */
export function programOf(folder: string, name: string): string | undefined {
  const { bin } = readManifest(folder) ?? {};
  const file = typeof bin === 'string' ? bin : chosen(bin, name);
  if (file === undefined) return undefined;
  const path = join(folder, file);
  return relative(folder, path).startsWith('..') ? undefined : path;
}

function chosen(bin: unknown, name: string): string | undefined {
  if (typeof bin !== 'object' || bin === null) return undefined;
  const programs = Object.entries(bin).filter(
    (each): each is [string, string] => typeof each[1] === 'string',
  );
  const own = name.slice(name.indexOf('/') + 1);
  const [only, second] = programs;
  if (only !== undefined && second === undefined) return only[1];
  return programs.find(([program]) => program === own)?.[1];
}

function readManifest(folder: string): Manifest | undefined {
  try {
    return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
  } catch {
    return undefined;
  }
}

/**
 * An npx server whose exact version is installed in `folder` or above, started from there. Any other is answered as it is.
 *
 *     npx -y PACKAGE@1.2.3 .   →   node node_modules/PACKAGE/dist/index.js .
 */
export function fromInstalled(server: ServerConfig, folder: string): ServerConfig {
  if (server.transport !== 'stdio' || !isNpx(server.command)) return server;
  const parsed = parsePackage(server.args);
  if ('problem' in parsed) return server;
  for (let place = folder; ; place = dirname(place)) {
    const installed = join(place, 'node_modules', ...parsed.name.split('/'));
    if (readManifest(installed)?.version === parsed.version) {
      const program = programOf(installed, parsed.name);
      return program === undefined ? server : { ...server, command: 'node', args: [program, ...parsed.args] };
    }
    if (dirname(place) === place || place.endsWith(`${sep}node_modules`)) return server;
  }
}
