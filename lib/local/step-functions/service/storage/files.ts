/**
 * Files of the data folder: whole documents that are replaced atomically, and logs that are only appended to.
 *
 * Names are hashes, never text from outside. Folders are 0700, files 0600. What is written is handed to the operating
 * system before a promise resolves, so it survives the death of this process; it is not forced to the platter (no
 * fsync), as with the DynamoDB stand-in beside it. A log's lines are gathered for a few milliseconds and written together;
 * `flush` resolves when all that was appended before it is written. The first failed write makes every later flush
 * fail with the same error: nothing is acknowledged that is not stored.
 */
import { createHash } from 'node:crypto';
import { appendFile, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';

const GATHER_MS = 10;

export function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

export async function makeFolder(path: string): Promise<void> {
  await mkdir(path, { recursive: true, mode: 0o700 });
}

let temporaries = 0;

/** Replaces the file in one step: a reader sees the old text or the new one, a crash leaves one of them. */
export async function replaceFile(path: string, text: string): Promise<void> {
  temporaries += 1;
  const temporary = `${path}.${process.pid}.${temporaries}.tmp`;
  try {
    await writeFile(temporary, text, { mode: 0o600 });
  } catch (error) {
    if (!isMissing(error)) throw error;
    await makeFolder(dirname(path));
    await writeFile(temporary, text, { mode: 0o600 });
  }
  await rename(temporary, path);
}

export async function readIfPresent(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

export async function removeFile(path: string): Promise<void> {
  await rm(path, { force: true });
}

export function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}

export interface LogWriter {
  append(path: string, text: string): void;
  /** All that was appended so far, to `path` or to any file, is written. */
  flush(path?: string): Promise<void>;
  close(): Promise<void>;
}

export function createLogWriter(): LogWriter {
  const waiting = new Map<string, string[]>();
  const writing = new Map<string, Promise<void>>();
  let failure: unknown;
  let timer: NodeJS.Timeout | undefined;

  /** Writes of one file follow one another; each takes all that has gathered by then. */
  function start(path: string): Promise<void> {
    const before = writing.get(path) ?? Promise.resolve();
    const write = before.then(async () => {
      const lines = waiting.get(path);
      if (lines === undefined) return;
      waiting.delete(path);
      const text = lines.join('');
      try {
        await appendFile(path, text, { mode: 0o600 });
      } catch (error) {
        if (!isMissing(error)) throw error;
        await makeFolder(dirname(path));
        await appendFile(path, text, { mode: 0o600 });
      }
    });
    const settled = write.catch((error: unknown) => {
      failure ??= error;
    });
    const tracked = settled.then(() => {
      if (writing.get(path) === tracked) writing.delete(path);
    });
    writing.set(path, tracked);
    return tracked;
  }

  async function flush(path?: string): Promise<void> {
    const paths = path === undefined ? [...new Set([...waiting.keys(), ...writing.keys()])] : [path];
    await Promise.all(paths.map((each) => (waiting.has(each) ? start(each) : writing.get(each))));
    if (failure !== undefined) throw failure;
  }

  return {
    append(path, text) {
      const lines = waiting.get(path);
      if (lines === undefined) waiting.set(path, [text]);
      else lines.push(text);
      timer ??= setTimeout(() => {
        timer = undefined;
        for (const each of waiting.keys()) void start(each);
      }, GATHER_MS);
    },
    flush,
    async close() {
      if (timer !== undefined) clearTimeout(timer);
      timer = undefined;
      await flush();
    },
  };
}
