/**
 * The latest checkpoint of each running execution, on disk for the case that the process dies.
 *
 * The interpreter hands over a checkpoint at every move. Only the latest counts, so writes are paced: the next one begins
 * no sooner than ten times what the last one took, which bounds their cost to a tenth of the time and their age, as a
 * rule, to a few milliseconds. The history is written first, so that a checkpoint never knows of events that are not stored.
 */
import type { Checkpoint } from '../../contract.ts';
import { removeFile, replaceFile } from './files.ts';

const MIN_PAUSE_MS = 5;

export interface CheckpointWriter {
  put(path: string, checkpoint: Checkpoint): void;
  /** Writes what waits, now. */
  settle(path: string): Promise<void>;
  /** The execution has ended: nothing more is written, the file goes. */
  drop(path: string): Promise<void>;
}

interface Pending {
  latest: Checkpoint | undefined;
  writing: Promise<void> | undefined;
  timer: NodeJS.Timeout | undefined;
}

/** `beforeWrite` is called with the path; `onFailure` hears of a write that failed. */
export function createCheckpointWriter(
  beforeWrite: (path: string) => Promise<void>,
  onFailure: (error: unknown) => void,
): CheckpointWriter {
  const pending = new Map<string, Pending>();

  function write(path: string, state: Pending): Promise<void> {
    const checkpoint = state.latest;
    if (checkpoint === undefined) return Promise.resolve();
    state.latest = undefined;
    const began = performance.now();
    const text = JSON.stringify(checkpoint);
    const writing = beforeWrite(path)
      .then(() => replaceFile(path, text))
      .catch(onFailure)
      .then(() => {
        state.writing = undefined;
        schedule(path, state, Math.max(MIN_PAUSE_MS, 10 * (performance.now() - began)));
      });
    state.writing = writing;
    return writing;
  }

  function schedule(path: string, state: Pending, afterMs: number): void {
    if (state.latest === undefined || state.timer !== undefined || state.writing !== undefined) return;
    state.timer = setTimeout(() => {
      state.timer = undefined;
      void write(path, state);
    }, afterMs);
  }

  async function settle(path: string): Promise<void> {
    const state = pending.get(path);
    if (state === undefined) return;
    if (state.timer !== undefined) clearTimeout(state.timer);
    state.timer = undefined;
    await state.writing;
    if (state.timer !== undefined) clearTimeout(state.timer);
    state.timer = undefined;
    await write(path, state);
  }

  return {
    put(path, checkpoint) {
      let state = pending.get(path);
      if (state === undefined) {
        state = { latest: undefined, writing: undefined, timer: undefined };
        pending.set(path, state);
      }
      state.latest = checkpoint;
      schedule(path, state, MIN_PAUSE_MS);
    },

    settle,

    async drop(path) {
      const state = pending.get(path);
      pending.delete(path);
      if (state === undefined) return;
      state.latest = undefined;
      if (state.timer !== undefined) clearTimeout(state.timer);
      state.timer = undefined;
      await state.writing;
      await removeFile(path);
    },
  };
}
