/** A clock that jumps to the next sleeper as soon as nothing else can go on: a day of waits takes a millisecond. */
import type { Clock } from '../../../../lib/local/step-functions/contract.ts';

interface Sleeper {
  at: number;
  wake(): void;
}

export interface VirtualClock extends Clock {
  /** Runs until the promise settles, moving time forward whenever everything waits. */
  drive<T>(promise: Promise<T>): Promise<T>;
}

/** @param start epoch milliseconds */
export function virtualClock(start = Date.UTC(2026, 0, 1)): VirtualClock {
  let now = start;
  const sleepers = new Set<Sleeper>();
  return {
    now: () => now,
    sleep(ms, signal) {
      return new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason);
        const sleeper: Sleeper = {
          at: now + ms,
          wake() {
            signal?.removeEventListener('abort', onAbort);
            resolve();
          },
        };
        const onAbort = () => {
          sleepers.delete(sleeper);
          reject(signal?.reason);
        };
        signal?.addEventListener('abort', onAbort, { once: true });
        sleepers.add(sleeper);
      });
    },
    async drive(promise) {
      let settled = false;
      const mark = () => {
        settled = true;
      };
      promise.then(mark, mark);
      while (true) {
        await new Promise((resolve) => setImmediate(resolve));
        if (settled) return promise;
        const next = [...sleepers].sort((a, b) => a.at - b.at)[0];
        if (next === undefined) continue;
        sleepers.delete(next);
        now = Math.max(now, next.at);
        next.wake();
      }
    },
  };
}
