/**
 * Which failures of a delivery are tried again, and after what delay. AWS says "exponential backoff" and gives no numbers;
 * that faults of the request are not repeated it says of EventBridge's rules, and so it is here.
 */
const FIRST_DELAY_MS = 1_000;
const MAX_DELAY_MS = 300_000;
/** Refusals with a client's status that pass by themselves. */
const PASSING = /Throttl|TooManyRequests|LimitExceeded/;

export function mayPass(error: unknown): boolean {
  const status = statusOf(error);
  if (status === undefined || !(error instanceof Error)) return true;
  return status >= 500 || status === 429 || PASSING.test(error.name);
}

/** The HTTP status that a service refused with: of a stand-in's own error or of the SDK's. Undefined: there was no answer. */
function statusOf(error: unknown): number | undefined {
  const { statusCode, $metadata } = Object(error) as {
    statusCode?: unknown;
    $metadata?: { httpStatusCode?: unknown };
  };
  const status = statusCode ?? $metadata?.httpStatusCode;
  return typeof status === 'number' ? status : undefined;
}

/** @param attempts how many have failed, from 1 */
export function delayAfter(attempts: number): number {
  return Math.min(FIRST_DELAY_MS * 2 ** (attempts - 1), MAX_DELAY_MS);
}
