/**
 * Retry and Catch around one attempt of a Task, Parallel or Map.
 * Source: Amazon States Language specification, "Retrying after error" and "Fallback states".
 */
import type { Catcher, Retrier } from '../../../asl/types.ts';
import { matchesError } from './error-names.ts';
import { pause, record, type Transition, type Visit } from './execution.ts';
import { leaveState } from './exit.ts';
import { errorOutput, StateError } from './failure.ts';

const DEFAULT_MAX_ATTEMPTS = 3;
const DEFAULT_INTERVAL_SECONDS = 1;
const DEFAULT_BACKOFF_RATE = 2;

/**
 * Runs `attempt` until it succeeds or no retrier is left, then asks the catchers. Each retrier counts for itself and
 * for this visit only.
 * @throws StateError that nothing handled; what a catcher's own Output or Assign throws
 */
export async function withRetryAndCatch(
  visit: Visit,
  policy: { Retry?: Retrier[]; Catch?: Catcher[] },
  attempt: () => Promise<Transition>,
): Promise<Transition> {
  const used = (policy.Retry ?? []).map(() => 0);
  for (;;) {
    try {
      return await attempt();
    } catch (failure) {
      if (!(failure instanceof StateError) || failure.fatal) throw failure;
      const wait = nextDelay(visit, policy.Retry ?? [], used, failure);
      if (wait === undefined) return handle(visit, policy.Catch ?? [], failure);
      visit.retryCount += 1;
      delete visit.resume;
      await pause(visit.lane, wait * 1000);
    }
  }
}

/** Seconds until the next attempt, and counts it; undefined where there is none. */
function nextDelay(
  visit: Visit,
  retriers: Retrier[],
  used: number[],
  failure: StateError,
): number | undefined {
  const index = retriers.findIndex((candidate) => matchesError(candidate.ErrorEquals, failure.error));
  const retrier = retriers[index];
  const count = used[index];
  if (retrier === undefined || count === undefined) return undefined;
  if (count >= (retrier.MaxAttempts ?? DEFAULT_MAX_ATTEMPTS)) return undefined;
  used[index] = count + 1;
  const grown =
    (retrier.IntervalSeconds ?? DEFAULT_INTERVAL_SECONDS) *
    (retrier.BackoffRate ?? DEFAULT_BACKOFF_RATE) ** count;
  const capped = retrier.MaxDelaySeconds === undefined ? grown : Math.min(grown, retrier.MaxDelaySeconds);
  return retrier.JitterStrategy === 'FULL' ? visit.execution.host.random() * capped : capped;
}

async function handle(visit: Visit, catchers: Catcher[], failure: StateError): Promise<Transition> {
  const index = catchers.findIndex((candidate) => matchesError(candidate.ErrorEquals, failure.error));
  const catcher = catchers[index];
  if (catcher === undefined) throw failure;
  const output = errorOutput(failure);
  return leaveState(visit, catcher, output, { errorOutput: output }, `Catch[${index}]/`);
}

/** Records how a Map or Parallel ended without success, and passes the error on. */
export function recordStateFailed(visit: Visit, failure: unknown): never {
  if (failure instanceof StateError && !failure.fatal) record(visit.lane, `${visit.state.Type}StateFailed`);
  throw failure;
}
