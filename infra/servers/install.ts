/**
 * `npm ci` for Lambda's platform, from the committed lock: no script of any package runs, and npm itself sees neither AWS
 * credentials nor anything else of the environment that it does not need. What was installed is kept in the project's `dist/` under
 * the lock's hash, so that the next synth needs neither npm nor a network.
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cp, mkdir, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { SynthFault } from '../synth-fault.ts';
import type { Lock } from './lock.ts';
import { type Inspection, inspectInstalled } from './native.ts';

/** Source: npm docs, "npm ci", "config": os, cpu and libc choose among optional dependencies. */
const ARGUMENTS = [
  'ci',
  '--ignore-scripts',
  '--omit=dev',
  '--os=linux',
  '--cpu=arm64',
  '--libc=glibc',
  '--bin-links=false',
  '--install-strategy=hoisted',
  '--prefer-offline',
  '--audit=false',
  '--fund=false',
  '--update-notifier=false',
];

/** What npm may know: where programs, its own settings and the network are. */
const NEEDED =
  /^(PATH|HOME|USERPROFILE|APPDATA|LOCALAPPDATA|SystemRoot|ComSpec|PATHEXT|TMPDIR|TEMP|TMP|LANG|https?_proxy|no_proxy|NODE_EXTRA_CA_CERTS|SSL_CERT_FILE|SSL_CERT_DIR|npm_config_.*)$/i;

/** The part of an environment that npm gets. */
export function npmEnvironment(env: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).filter(
      (each): each is [string, string] => each[1] !== undefined && NEEDED.test(each[0]),
    ),
  );
}

/** What no program loads: declarations for TypeScript, and maps for whoever debugs. */
const NEVER_LOADED = /\.(d\.[cm]?ts|map)$/;

export interface Installed {
  /** With package.json, package-lock.json and node_modules; not to be changed. */
  folder: string;
  inspection: Inspection;
}

/**
 * Installs what a lock says, without what no program loads, and looks at what came.
 * @param cacheFolder where it is kept, and found again
 * @throws SynthFault where npm fails
 */
export async function installLocked(lock: Lock, cacheFolder: string): Promise<Installed> {
  const hash = createHash('sha256')
    .update(JSON.stringify([lock.manifest, lock.lock, ARGUMENTS, String(NEVER_LOADED)]))
    .digest('hex')
    .slice(0, 32);
  const kept = join(cacheFolder, hash);
  if (!(await exists(kept))) await install(lock, cacheFolder, kept);
  const inspection = JSON.parse(await readFile(join(kept, 'inspection.json'), 'utf8')) as Inspection;
  return { folder: join(kept, 'asset'), inspection };
}

async function install(lock: Lock, cacheFolder: string, kept: string): Promise<void> {
  await mkdir(cacheFolder, { recursive: true });
  const making = await mkdtemp(join(cacheFolder, 'making-'));
  try {
    const folder = join(making, 'asset');
    await mkdir(folder);
    await writeFile(join(folder, 'package.json'), lock.manifest);
    await writeFile(join(folder, 'package-lock.json'), lock.lock);
    await runNpm(folder);
    await removeNeverLoaded(folder);
    const inspection = await inspectInstalled(folder, lock.packages);
    await writeFile(join(making, 'inspection.json'), JSON.stringify(inspection));
    // Whoever comes second finds the first's, which is the same.
    await rename(making, kept).catch(async (error: unknown) => {
      if (!(await exists(kept))) throw error;
    });
  } finally {
    await rm(making, { recursive: true, force: true });
  }
}

async function removeNeverLoaded(folder: string): Promise<void> {
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (entry.isFile() && NEVER_LOADED.test(entry.name)) await rm(join(entry.parentPath, entry.name));
  }
}

async function runNpm(cwd: string): Promise<void> {
  const windows = process.platform === 'win32';
  try {
    await promisify(execFile)(windows ? 'npm.cmd' : 'npm', ARGUMENTS, {
      cwd,
      env: npmEnvironment(process.env),
      shell: windows,
      maxBuffer: 16 * 1024 * 1024,
    });
  } catch (cause) {
    const { stderr = '', message } = cause as Error & { stderr?: string };
    const lines = stderr.split('\n').filter((line) => line.startsWith('npm error') && line.length > 10);
    const reason = lines.length === 0 ? [message] : lines.slice(0, 5);
    throw new SynthFault('the packages of the stdio servers cannot be installed (npm ci):', reason);
  }
}

/** Copies what was installed into an asset. */
export async function copyInstalled(folder: string, outFolder: string): Promise<void> {
  await mkdir(dirname(outFolder), { recursive: true });
  await cp(folder, outFolder, { recursive: true });
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
