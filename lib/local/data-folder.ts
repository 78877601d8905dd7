/**
 * The data folder: everything the engine keeps on one machine, readable by its user alone, used by one process at a time.
 *
 * The lock is a file that names the process which has it. One left behind by a process that is gone (killed, or before a
 * restart of the machine) is taken over; of two processes that try it together one wins.
 */
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { chmod, link, mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

export interface DataFolder {
  path: string;
  /** A folder of its own in it, created. */
  subfolder(name: string): Promise<string>;
  /** Writes `endpoints.json`: the URLs by name. */
  writeEndpoints(endpoints: Readonly<Record<string, string>>): Promise<void>;
  /** Lets the folder go. `endpoints.json` goes with it: nothing listens there any more. */
  release(): Promise<void>;
}

/** Another process uses the folder. */
export class DataFolderInUse extends Error {
  readonly code = 'EDATAINUSE';
  readonly pid: number;

  constructor(path: string, pid: number) {
    super(`The data folder ${path} is in use by process ${pid}.`);
    this.name = 'DataFolderInUse';
    this.pid = pid;
  }
}

interface LockOwner {
  pid: number;
  /** Unique to one opening. */
  token: string;
  /** When the process began, where the system tells: a number that a later process of the same id does not share. */
  started?: string;
}

const LOCK = 'engine.lock';
const ENDPOINTS = 'endpoints.json';
/** A takeover is two file operations; one that is older was interrupted. */
const TAKEOVER_MS = 10_000;

/** Creates the folder where it is missing, and locks it. Throws `DataFolderInUse`, or Node's error where it cannot. */
export async function openDataFolder(path: string): Promise<DataFolder> {
  await makeFolders(path);
  // A folder that was there before may be open to others.
  await chmod(path, 0o700);
  const owner: LockOwner = { pid: process.pid, token: randomUUID(), ...startOf(process.pid) };
  await lock(path, owner);
  return {
    path,
    async subfolder(name) {
      const folder = join(path, name);
      await mkdir(folder, { recursive: true, mode: 0o700 });
      return folder;
    },
    async writeEndpoints(endpoints) {
      const draft = join(path, `${ENDPOINTS}.${owner.token}`);
      await writeFile(draft, `${JSON.stringify(endpoints, null, 2)}\n`, { mode: 0o600 });
      await rename(draft, join(path, ENDPOINTS));
    },
    async release() {
      if ((await readLock(path))?.token !== owner.token) return;
      await rm(join(path, ENDPOINTS), { force: true });
      await rm(join(path, LOCK), { force: true });
    },
  };
}

/**
 * Makes a folder and those above it. Node's own `recursive` never ends where a parent is there and still nothing can be
 * made in it (`/proc`).
 */
async function makeFolders(path: string): Promise<void> {
  const make = async (): Promise<void> => {
    try {
      await mkdir(path, { mode: 0o700 });
    } catch (error) {
      const isFolder = await stat(path).then(
        (found) => found.isDirectory(),
        () => false,
      );
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || !isFolder) throw error;
    }
  };
  try {
    await make();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || dirname(path) === path) throw error;
    await makeFolders(dirname(path));
    await make();
  }
}

async function lock(path: string, owner: LockOwner): Promise<void> {
  if (await createLock(path, owner)) return;
  const found = await readLock(path);
  if (found !== undefined && isAlive(found)) throw new DataFolderInUse(path, found.pid);
  // Removing the old lock and making a new one are two steps. Who makes this folder does them, alone.
  const takeover = join(path, `${LOCK}.takeover`);
  try {
    await mkdir(takeover);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    const since = await stat(takeover).catch(() => undefined);
    if (since === undefined || Date.now() - since.mtimeMs < TAKEOVER_MS) {
      throw new DataFolderInUse(path, found?.pid ?? 0);
    }
    await rm(takeover, { recursive: true, force: true });
    await lock(path, owner);
    return;
  }
  try {
    const current = await readLock(path);
    if (current !== undefined && isAlive(current)) throw new DataFolderInUse(path, current.pid);
    await rm(join(path, LOCK), { force: true });
    if (!(await createLock(path, owner))) throw new DataFolderInUse(path, (await readLock(path))?.pid ?? 0);
  } finally {
    await rm(takeover, { recursive: true, force: true });
  }
}

/** Creates the lock file, with its content from the first moment on; false where there is one. */
async function createLock(path: string, owner: LockOwner): Promise<boolean> {
  const draft = join(path, `${LOCK}.${owner.token}`);
  await writeFile(draft, JSON.stringify(owner), { mode: 0o600 });
  try {
    await link(draft, join(path, LOCK));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    await rm(draft, { force: true });
  }
}

async function readLock(path: string): Promise<LockOwner | undefined> {
  try {
    const owner: unknown = JSON.parse(await readFile(join(path, LOCK), 'utf8'));
    return typeof owner === 'object' && owner !== null && 'pid' in owner ? (owner as LockOwner) : undefined;
  } catch (error) {
    // No lock, or none of ours.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT' || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Whether the process that made a lock still runs. A later process of the same id (1 in a container) has another start. */
function isAlive(owner: LockOwner): boolean {
  try {
    process.kill(owner.pid, 0);
  } catch (error) {
    // EPERM: it is there, and another user's.
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false;
  }
  const started = startOf(owner.pid).started;
  return owner.started === undefined || started === undefined || owner.started === started;
}

/** Start time of a process and the boot it belongs to, on Linux; elsewhere the process id alone has to do. */
function startOf(pid: number): { started?: string } {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    // The command's name may hold spaces and parentheses; fields are counted from its last one. Field 22 is the start.
    const status = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const start = status.slice(status.lastIndexOf(')') + 2).split(' ')[19];
    return start === undefined ? {} : { started: `${boot}/${start}` };
  } catch {
    return {};
  }
}
