/**
 * The history of executions: one append-only file each, an event a line, event n on line n.
 *
 * Events are found by a list of byte offsets, kept while the execution runs and rebuilt from the file when an older
 * history is read, so that a page costs one read of its own bytes. A last line that a crash cut short is dropped when
 * the execution is recovered.
 */
import { open, stat, truncate } from 'node:fs/promises';
import type { HistoryEvent } from '../../contract.ts';
import { isMissing, type LogWriter } from './files.ts';

const MAX_CACHED = 64;
const CHUNK_BYTES = 1 << 20;
const NEWLINE = 10;

/** Where each event begins, and where the last one ends. */
interface Offsets {
  starts: number[];
  end: number;
}

export interface HistoryStore {
  append(path: string, event: HistoryEvent): void;
  /** How many events there are; they have the ids 1 to that number. */
  count(path: string): Promise<number>;
  /** Events with ids `from` to `to`, both included, in order. */
  read(path: string, from: number, to: number): Promise<HistoryEvent[]>;
  /** Cuts off what a crash left of a half-written line; returns the number of whole events. */
  repair(path: string): Promise<number>;
  /** The execution has ended: its offsets may be forgotten. */
  release(path: string): void;
}

export function createHistoryStore(writer: LogWriter): HistoryStore {
  const live = new Map<string, Offsets>();
  const cached = new Map<string, Offsets>();

  async function offsetsOf(path: string): Promise<Offsets> {
    const known = live.get(path) ?? cached.get(path);
    if (known !== undefined) return known;
    await writer.flush(path);
    const scanned = await scan(path);
    cached.set(path, scanned);
    for (const oldest of cached.keys()) {
      if (cached.size <= MAX_CACHED) break;
      cached.delete(oldest);
    }
    return scanned;
  }

  return {
    append(path, event) {
      let offsets = live.get(path);
      if (offsets === undefined) {
        offsets = cached.get(path) ?? { starts: [], end: 0 };
        cached.delete(path);
        live.set(path, offsets);
      }
      const line = `${JSON.stringify(event)}\n`;
      offsets.starts.push(offsets.end);
      offsets.end += Buffer.byteLength(line);
      writer.append(path, line);
    },

    async count(path) {
      return (await offsetsOf(path)).starts.length;
    },

    async read(path, from, to) {
      const offsets = await offsetsOf(path);
      await writer.flush(path);
      const begin = offsets.starts[from - 1];
      if (begin === undefined || to < from) return [];
      const end = offsets.starts[to] ?? offsets.end;
      const file = await open(path, 'r');
      try {
        const bytes = Buffer.alloc(end - begin);
        await file.read(bytes, 0, bytes.length, begin);
        const lines = bytes.toString('utf8').split('\n');
        return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as HistoryEvent);
      } finally {
        await file.close();
      }
    },

    async repair(path) {
      const offsets = await scan(path);
      try {
        if ((await stat(path)).size > offsets.end) await truncate(path, offsets.end);
      } catch (error) {
        if (!isMissing(error)) throw error;
      }
      cached.set(path, offsets);
      return offsets.starts.length;
    },

    release(path) {
      const offsets = live.get(path);
      live.delete(path);
      if (offsets !== undefined) cached.set(path, offsets);
      for (const oldest of cached.keys()) {
        if (cached.size <= MAX_CACHED) break;
        cached.delete(oldest);
      }
    },
  };
}

async function scan(path: string): Promise<Offsets> {
  const offsets: Offsets = { starts: [], end: 0 };
  let file: Awaited<ReturnType<typeof open>>;
  try {
    file = await open(path, 'r');
  } catch (error) {
    if (isMissing(error)) return offsets;
    throw error;
  }
  try {
    const chunk = Buffer.alloc(CHUNK_BYTES);
    let position = 0;
    for (;;) {
      const { bytesRead } = await file.read(chunk, 0, chunk.length, position);
      if (bytesRead === 0) return offsets;
      const view = chunk.subarray(0, bytesRead);
      for (let at = view.indexOf(NEWLINE); at >= 0; at = view.indexOf(NEWLINE, at + 1)) {
        offsets.starts.push(offsets.end);
        offsets.end = position + at + 1;
      }
      position += bytesRead;
    }
  } finally {
    await file.close();
  }
}
