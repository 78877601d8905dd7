/**
 * What one principal may do at once. Everything is counted before the effect; a refusal names the limit, its value and when to
 * try again.
 *
 *     requests       counted in the table, by the minute        before the body is read (request-limit.ts)
 *     open runs      counted in the index of open runs          before a run or a trial call is started
 *     waiting calls  places with an end, in one item            before a run that is waited for is started
 *
 * Runs that the console or a schedule starts count as their owner's, and are not refused: nobody asks there first. Open runs
 * are counted in an index that follows the table by moments, so starts of one moment can pass the limit together; how many
 * they are is bounded by the requests.
 */
import { randomUUID } from 'node:crypto';
import { countOpenRuns, leaveWaitPlace, takeWaitPlace } from '../store/limits.ts';
import type { Principal } from '../store/records.ts';
import { listOpenRuns } from '../store/run-lists.ts';
import type { EngineEnvironment } from './environment.ts';
import { EngineError } from './errors.ts';
import { exceeded } from './request-limit.ts';

/**
 * Before a run of the principal is started. Where the index says that the limit is reached, runs that nothing was heard of for
 * a minute are looked up first: some may have ended.
 * @throws EngineError LimitExceeded
 */
export async function requireOpenRun(env: EngineEnvironment, principal: Principal): Promise<void> {
  const limit = env.config.limits.openRuns;
  if ((await countOpenRuns(env.store, principal.id, limit)) < limit) return;
  const { isOpen, reconcileRun } = await import('./reconcile.ts');
  const runs = await listOpenRuns(env.store, { principal, limit });
  let open = 0;
  for (const run of runs) if (isOpen(await reconcileRun(env, run))) open += 1;
  if (open < limit) return;
  throw new EngineError(
    'LimitExceeded',
    `open runs: ${limit} at once is the most for one principal; try again when one of yours has ended (list_runs), or stop one with cancel_run`,
  );
}

/** A little longer than a wait takes: a function that dies gives its place back by time alone. */
const MARGIN_MS = 15_000;

/**
 * Does `work`, which waits for up to `seconds`, in one of the principal's places.
 * @throws EngineError LimitExceeded before anything is done
 */
export async function inWaitPlace<T>(
  env: EngineEnvironment,
  principal: Principal,
  seconds: number,
  work: () => Promise<T>,
): Promise<T> {
  const limit = env.config.limits.waitingRuns;
  const now = env.now();
  const place = await takeWaitPlace(env.store, principal.id, {
    name: randomUUID(),
    until: now + seconds * 1000 + MARGIN_MS,
    limit,
    now,
  });
  if (!('lease' in place)) {
    throw exceeded(
      `waiting calls: ${limit} calls of run_workflow may wait at once for one principal; pass "wait": 0 and follow the run with get_run`,
      place.freeAt - now,
      ', or',
    );
  }
  try {
    return await work();
  } finally {
    await leaveWaitPlace(env.store, place.lease).catch((error: unknown) => {
      // It is void by itself in a while; the answer is worth more.
      env.log({ level: 'warn', event: 'wait-place', error: error instanceof Error ? error.name : 'unknown' });
    });
  }
}
