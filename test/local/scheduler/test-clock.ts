/**
 * A clock that a test moves: sleepers wake in order, each once everything before it has come to rest. Months pass in a
 * moment, and nothing is slept for.
 */
import type { Clock } from '../../../lib/local/step-functions/contract.ts';

export interface TestClock extends Clock {
  /** Moves on to a time (ISO or epoch milliseconds). `idle` resolves when all is done that can be before time passes. */
  moveTo(time: string | number, idle: () => Promise<void>): Promise<void>;
}

export function testClock(start: string): TestClock {
  let now = Date.parse(start);
  const sleepers = new Set<{ at: number; wake(): void }>();
  return {
    now: () => now,
    sleep(ms, signal) {
      return new Promise((resolve, reject) => {
        if (signal?.aborted === true) return reject(signal.reason);
        const abort = (): void => {
          sleepers.delete(sleeper);
          reject(signal?.reason);
        };
        const sleeper = {
          at: now + ms,
          wake() {
            sleepers.delete(sleeper);
            signal?.removeEventListener('abort', abort);
            resolve();
          },
        };
        signal?.addEventListener('abort', abort, { once: true });
        sleepers.add(sleeper);
      });
    },
    async moveTo(time, idle) {
      const target = typeof time === 'number' ? time : Date.parse(time);
      const rest = async (): Promise<void> => {
        // Whoever has been woken is at work only once its promise has run.
        await new Promise((resolve) => setImmediate(resolve));
        await idle();
      };
      for (;;) {
        await rest();
        const [next] = [...sleepers].sort((a, b) => a.at - b.at);
        if (next === undefined || next.at > target) break;
        now = Math.max(now, next.at);
        next.wake();
      }
      now = Math.max(now, target);
    },
  };
}
