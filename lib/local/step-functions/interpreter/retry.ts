/**
 * Retry and Catch around one attempt of a Task, Parallel or Map.
 * Source: Amazon States Language specification, "Retrying after error" and "Fallback states".
 */
import type { Catcher, Retrier } from '../../../asl/types.ts';
import { matchesError } from './error-names.ts';
import { pause, record, type Transition, type Visit } from './execution.ts';
import { evaluateExit, recordExit } from './exit.ts';
import { errorOutput, STATES, StateError } from './failure.ts';

const DEFAULT_MAX_ATTEMPTS = 3;
const DEFAULT_INTERVAL_SECONDS = 1;
const DEFAULT_BACKOFF_RATE = 2;

export interface Policy {
  Retry?: Retrier[];
  Catch?: Catcher[];
}

/**
 * Runs `attempt` until it succeeds or no retrier is left, then asks the catchers. Each retrier counts for itself and
 * for this visit only.
 * @throws StateError that nothing handled; what a catcher's own Output or Assign throws
 */
export async function withRetryAndCatch(
  visit: Visit,
  policy: Policy,
  attempt: () => Promise<Transition>,
): Promise<Transition> {
  const used = (policy.Retry ?? []).map(() => 0);
  for (;;) {
    try {
      return await attempt();
    } catch (failure) {
      if (!(failure instanceof StateError)) throw failure;
      const seconds = failure.fatal ? undefined : nextDelay(visit, policy.Retry ?? [], used, failure);
      if (seconds === undefined) return giveUp(visit, policy.Catch ?? [], failure);
      visit.retryCount += 1;
      forgetInner(visit);
      await pause(visit.lane, seconds * 1000);
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
  const index = retriers.findIndex((candidate) => matchesError(candidate.ErrorEquals, failure));
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

/** The attempt was the last: the state has failed, and a catcher takes over or nobody does. */
async function giveUp(visit: Visit, catchers: Catcher[], failure: StateError): Promise<Transition> {
  const { lane } = visit;
  const before = lane.previous;
  recordStateFailed(visit, failure);
  const index = catchers.findIndex((candidate) => matchesError(candidate.ErrorEquals, failure));
  const catcher = catchers[index];
  if (catcher === undefined || failure.fatal) {
    // What failed for its size or in itself is run as a whole when it is redriven.
    if (failure.error === STATES.DATA_LIMIT || failure.fatal) forgetInner(visit);
    throw failure;
  }
  const failed = lane.previous;
  const output = errorOutput(failure);
  try {
    // An evaluation that fails here points at what was before the state's Failed event, as AWS has it.
    lane.previous = before;
    const exit = await evaluateExit(visit, catcher, output, { errorOutput: output }, `Catch[${index}]/`);
    lane.previous = failed;
    return recordExit(visit, exit);
  } catch (again) {
    recordStateFailed(visit, again);
    throw again;
  }
}

/** A Parallel or Map says so when it has failed; other states do not. */
function recordStateFailed(visit: Visit, failure: unknown): void {
  const { Type: type } = visit.state;
  if ((type !== 'Parallel' && type !== 'Map') || !(failure instanceof StateError) || failure.fatal) return;
  record(visit.lane, `${type}StateFailed`);
}

function forgetInner(visit: Visit): void {
  delete visit.resume;
  delete visit.lane.node.inner;
}
