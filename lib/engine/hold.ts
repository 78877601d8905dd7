/**
 * How long a request is held. A function behind a URL is paid for while it waits, and clients give up: past the configured time
 * the caller gets a sentence that says what to do, and what was under way goes on.
 */
import type { EngineEnvironment } from './environment.ts';
import { HeldTooLong } from './errors.ts';

/** Epoch ms by which a request that came now is to be answered; undefined: as long as it takes. */
export function heldUntil(env: EngineEnvironment): number | undefined {
  const { maxHeldMs } = env.config;
  return maxHeldMs === undefined ? undefined : env.now() + maxHeldMs;
}

/**
 * What `work` answers, if it does in time.
 * @param advice what the caller can do, in words
 * @throws HeldTooLong when the time is over
 */
export async function withinHold<T>(
  env: EngineEnvironment,
  until: number | undefined,
  advice: string,
  work: Promise<T>,
): Promise<T> {
  if (until === undefined) return work;
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<never>((_resolve, reject) => {
    const sentence = `not answered within ${(env.config.maxHeldMs ?? 0) / 1000} s, the longest that a request is held here: ${advice}`;
    timer = setTimeout(() => reject(new HeldTooLong(sentence)), Math.max(0, until - env.now()));
  });
  try {
    return await Promise.race([work, over]);
  } finally {
    clearTimeout(timer);
    // Nobody waits for it any more.
    work.catch(() => undefined);
  }
}
