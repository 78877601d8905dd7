/**
 * When a failed call is made again. Pure: what failed, how often, and a random number in; a delay out.
 *
 * Nothing is retried unless the blueprint says so, and never a call whose outcome is unknown and that may not be
 * repeated (`attempt.ts` has turned that into OutcomeUnknown by then, which is not among the retried kinds).
 */
import { type ErrorKind, RETRIED_KINDS } from '../blueprint/errors.ts';
import type { Strategy } from '../compile/program.ts';

/**
 * Milliseconds until the next attempt, or undefined where there is none. `attempts` were made so far, 1 or more. The
 * delay grows by `backoffRate` up to `maxDelayMs`; jitter is full: anywhere between 0 and it.
 */
export function retryDelay(
  strategy: Strategy,
  kind: ErrorKind,
  attempts: number,
  random: () => number,
): number | undefined {
  if (!RETRIED_KINDS.includes(kind) || attempts > strategy.maxRetries) return undefined;
  const grown = strategy.retryDelayMs * strategy.backoffRate ** (attempts - 1);
  const delay = Math.min(strategy.maxDelayMs, grown);
  return strategy.jitter ? delay * random() : delay;
}
