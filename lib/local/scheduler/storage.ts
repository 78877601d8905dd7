/**
 * Schedules and groups: held in memory, each a small file of its own. Every change is on disk before it is seen, so a
 * restart loses nothing.
 */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import {
  hashOf,
  makeFolder,
  readIfPresent,
  removeFile,
  replaceFile,
} from '../step-functions/service/storage/files.ts';
import { type Group, type Schedule, scheduleKey } from './records.ts';

export interface Shelf<T> {
  get(key: string): T | undefined;
  /** By key, in the order of its code units. */
  all(): T[];
  save(item: T): Promise<void>;
  remove(key: string): Promise<void>;
}

export interface SchedulerStore {
  groups: Shelf<Group>;
  schedules: Shelf<Schedule>;
}

/** @param dataDir a folder of the scheduler's own; made with mode 0700 where it is missing. */
export async function openSchedulerStore(dataDir: string): Promise<SchedulerStore> {
  return {
    groups: await openShelf<Group>(join(dataDir, 'groups'), (group) => group.name),
    schedules: await openShelf<Schedule>(join(dataDir, 'schedules'), ({ group, name }) =>
      scheduleKey(group, name),
    ),
  };
}

async function openShelf<T>(folder: string, keyOf: (item: T) => string): Promise<Shelf<T>> {
  await makeFolder(folder);
  const items = new Map<string, T>();
  for (const file of await readdir(folder)) {
    const path = join(folder, file);
    if (!file.endsWith('.json')) {
      await removeFile(path); // what a crash left of a replacement
      continue;
    }
    const text = await readIfPresent(path);
    if (text === undefined) continue;
    const item = JSON.parse(text) as T;
    items.set(keyOf(item), item);
  }
  const fileOf = (key: string): string => join(folder, `${hashOf(key)}.json`);
  return {
    get: (key) => items.get(key),
    all: () => [...items].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, item]) => item),
    async save(item) {
      const key = keyOf(item);
      await replaceFile(fileOf(key), JSON.stringify(item));
      items.set(key, item);
    },
    async remove(key) {
      await removeFile(fileOf(key));
      items.delete(key);
    },
  };
}
