/**
 * Buckets and objects on disk: `bucket-<name>/<first two digits>/<sha256 of the key>`, so no key can name a path.
 *
 * What always holds: a reader sees an object whole, as it was before a write or after it; two writes of one key happen
 * in some order, so a conditional write has one winner; a write that does not end leaves nothing.
 */
import { createHash, randomUUID } from 'node:crypto';
import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { type ObjectMeta, openObject, writeObject } from './object-file.ts';

export interface ObjectStore {
  /** False: there is one already. */
  createBucket(bucket: string): Promise<boolean>;
  deleteBucket(bucket: string): Promise<void>;
  hasBucket(bucket: string): boolean;
  buckets(): { name: string; createdAt: string }[];
  head(bucket: string, key: string): Promise<ObjectMeta | undefined>;
  /** Opens an object: read its bytes [from, to] with `stream`, or `discard` it. One of the two must be called. */
  open(bucket: string, key: string): Promise<OpenedObject | undefined>;
  /**
   * Writes an object from `chunks`; `complete` is called when all bytes are there. `mayReplace` looks at the object that
   * stands there, with no other write in between, and throws where it may not be replaced.
   */
  write(
    bucket: string,
    key: string,
    chunks: AsyncIterable<Uint8Array>,
    complete: () => Omit<ObjectMeta, 'key'>,
    mayReplace?: (current: ObjectMeta | undefined) => void,
  ): Promise<ObjectMeta>;
  remove(bucket: string, key: string): Promise<void>;
  /** Every object's metadata in the order of their keys' UTF-8 bytes. */
  sorted(bucket: string): Promise<ObjectMeta[]>;
}

interface OpenedObject {
  meta: ObjectMeta;
  stream(from: number, to: number): Readable;
  discard(): Promise<void>;
}

const BUCKET = 'bucket-';

/** Opens the folder; leftovers of writes that never ended are removed. */
export async function openObjects(folder: string): Promise<ObjectStore> {
  const temporary = join(folder, 'tmp');
  await rm(temporary, { recursive: true, force: true });
  await mkdir(temporary, { recursive: true, mode: 0o700 });

  const createdAt = new Map<string, string>();
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (!entry.isDirectory() || !entry.name.startsWith(BUCKET)) continue;
    const { birthtime } = await stat(join(folder, entry.name));
    createdAt.set(entry.name.slice(BUCKET.length), birthtime.toISOString());
  }
  /** Metadata of each bucket by key: read from disk at the first listing, kept up since. */
  const indexes = new Map<string, Promise<Map<string, ObjectMeta>>>();
  /** The index in order; dropped with every change. */
  const inOrder = new Map<string, ObjectMeta[]>();
  const inTurn = createTurns();

  const folderOf = (bucket: string): string => join(folder, `${BUCKET}${bucket}`);
  const fileOf = (bucket: string, key: string): string => {
    const hash = createHash('sha256').update(key).digest('hex');
    return join(folderOf(bucket), hash.slice(0, 2), hash);
  };

  async function noteChange(bucket: string, key: string, meta: ObjectMeta | undefined): Promise<void> {
    const index = await indexes.get(bucket);
    if (meta === undefined) index?.delete(key);
    else index?.set(key, meta);
    inOrder.delete(bucket);
  }

  async function headFile(path: string): Promise<ObjectMeta | undefined> {
    const opened = await openObject(path);
    await opened?.file.close();
    return opened?.meta;
  }

  async function loadIndex(bucket: string): Promise<Map<string, ObjectMeta>> {
    const index = new Map<string, ObjectMeta>();
    for (const part of await readdir(folderOf(bucket))) {
      for (const name of await readdir(join(folderOf(bucket), part))) {
        const meta = await headFile(join(folderOf(bucket), part, name));
        if (meta !== undefined) index.set(meta.key, meta);
      }
    }
    return index;
  }

  return {
    async createBucket(bucket) {
      if (createdAt.has(bucket)) return false;
      await mkdir(folderOf(bucket), { recursive: true, mode: 0o700 });
      createdAt.set(bucket, new Date().toISOString());
      return true;
    },
    async deleteBucket(bucket) {
      await rm(folderOf(bucket), { recursive: true, force: true });
      createdAt.delete(bucket);
      indexes.delete(bucket);
      inOrder.delete(bucket);
    },
    hasBucket: (bucket) => createdAt.has(bucket),
    buckets: () =>
      [...createdAt]
        .map(([name, made]) => ({ name, createdAt: made }))
        .sort((a, b) => compareKeys(a.name, b.name)),
    head: (bucket, key) => headFile(fileOf(bucket, key)),
    async open(bucket, key) {
      const opened = await openObject(fileOf(bucket, key));
      if (opened === undefined) return undefined;
      const { file, meta } = opened;
      return {
        meta,
        stream: (from, to) => file.createReadStream({ start: from, end: to }),
        discard: () => file.close(),
      };
    },
    async write(bucket, key, chunks, complete, mayReplace) {
      const draft = join(temporary, randomUUID());
      try {
        const meta = await writeObject(draft, chunks, () => ({ key, ...complete() }));
        return await inTurn(`${bucket}/${key}`, async () => {
          const target = fileOf(bucket, key);
          if (mayReplace !== undefined) mayReplace(await headFile(target));
          await moveTo(draft, target);
          await noteChange(bucket, key, meta);
          return meta;
        });
      } catch (error) {
        await rm(draft, { force: true });
        throw error;
      }
    },
    remove: (bucket, key) =>
      inTurn(`${bucket}/${key}`, async () => {
        await rm(fileOf(bucket, key), { force: true });
        await noteChange(bucket, key, undefined);
      }),
    async sorted(bucket) {
      const known = inOrder.get(bucket);
      if (known !== undefined) return known;
      const loading = indexes.get(bucket) ?? loadIndex(bucket);
      indexes.set(bucket, loading);
      loading.catch(() => indexes.delete(bucket));
      const list = [...(await loading).values()].sort((a, b) => compareKeys(a.key, b.key));
      inOrder.set(bucket, list);
      return list;
    },
  };
}

/** Renames into a folder that is made where it is missing. */
async function moveTo(draft: string, target: string): Promise<void> {
  try {
    await rename(draft, target);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    await mkdir(dirname(target), { recursive: true, mode: 0o700 });
    await rename(draft, target);
  }
}

/** Order of UTF-8 bytes, which is not that of JavaScript's strings past U+FFFF. */
export function compareKeys(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

/** Runs what has the same name one after the other, in the order of asking. */
function createTurns(): <T>(name: string, work: () => Promise<T>) => Promise<T> {
  const last = new Map<string, Promise<void>>();
  return (name, work) => {
    const turn = (last.get(name) ?? Promise.resolve()).then(work);
    const settled: Promise<void> = turn.then(
      () => finish(),
      () => finish(),
    );
    const finish = (): void => {
      if (last.get(name) === settled) last.delete(name);
    };
    last.set(name, settled);
    return turn;
  };
}
