/** A clock that goes as time does and can be put forward: schedules fire when it passes them, without waiting. */
import type { Clock } from '../lib/local/step-functions/contract.ts';

export interface MovingClock extends Clock {
  /** Everything that sleeps for less than `ms` wakes. */
  forward(ms: number): void;
}

interface Sleeper {
  until: number;
  wake(): void;
}

export function createMovingClock(): MovingClock {
  const sleepers = new Set<Sleeper>();
  let ahead = 0;
  const now = (): number => Date.now() + ahead;
  return {
    now,
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted === true) {
          reject(signal.reason);
          return;
        }
        const stop = (): void => {
          clearTimeout(timer);
          sleepers.delete(sleeper);
          signal?.removeEventListener('abort', aborted);
        };
        const aborted = (): void => {
          stop();
          reject(signal?.reason);
        };
        const sleeper: Sleeper = {
          until: now() + ms,
          wake() {
            stop();
            resolve();
          },
        };
        // A timer holds 24 days; nothing here lives that long.
        const timer = setTimeout(() => sleeper.wake(), Math.min(ms, 2 ** 31 - 1));
        sleepers.add(sleeper);
        signal?.addEventListener('abort', aborted, { once: true });
      }),
    forward(ms) {
      ahead += ms;
      for (const sleeper of [...sleepers]) if (sleeper.until <= now()) sleeper.wake();
    },
  };
}
