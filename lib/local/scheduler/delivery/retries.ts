/**
 * Which failures of a delivery are tried again, and after what delay. AWS says "exponential backoff" and gives no numbers;
 * that faults of the request are not repeated it says of EventBridge's rules, and so it is here.
 */
const FIRST_DELAY_MS = 1_000;
const MAX_DELAY_MS = 300_000;
/** Refusals with a client's status that pass by themselves. */
const PASSING = /Throttl|TooManyRequests|LimitExceeded/;

export function mayPass(error: unknown): boolean {
  if (!(error instanceof Error) || !('statusCode' in error) || typeof error.statusCode !== 'number')
    return true;
  return error.statusCode >= 500 || error.statusCode === 429 || PASSING.test(error.name);
}

/** @param attempts how many have failed, from 1 */
export function delayAfter(attempts: number): number {
  return Math.min(FIRST_DELAY_MS * 2 ** (attempts - 1), MAX_DELAY_MS);
}
