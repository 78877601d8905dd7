/** The clocks of this machine. A sleep may be longer than a timer of Node's can hold (24.8 days). */
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

const LOOK_EVERY_MS = 60_000;

/**
 * The same, but a sleep ends within a minute of when the time of day says so. Timers do not count while a machine is suspended:
 * by them, what is due at two would come at ten where the lid was closed for eight hours.
 */
export const WALL_CLOCK: Clock = {
  now: SYSTEM_CLOCK.now,
  async sleep(ms, signal) {
    const until = Date.now() + ms;
    for (let left = ms; left > 0; left = until - Date.now()) {
      await SYSTEM_CLOCK.sleep(Math.min(left, LOOK_EVERY_MS), signal);
    }
  },
};
