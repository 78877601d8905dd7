/** The clock of this machine. A sleep may be longer than a timer of Node's can hold (24.8 days). */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from './step-functions/contract.ts';

const MAX_TIMER_MS = 2 ** 31 - 1;

export const SYSTEM_CLOCK: Clock = {
  now: () => Date.now(),
  async sleep(ms, signal) {
    for (let left = ms; left > 0; left -= MAX_TIMER_MS) {
      await sleep(Math.min(left, MAX_TIMER_MS), undefined, signal === undefined ? {} : { signal }).catch(
        (error: unknown) => {
          throw signal?.aborted === true ? signal.reason : error;
        },
      );
    }
  },
};
