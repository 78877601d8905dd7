/** Closing a run's record: with its output at the end, or with the error that ended it. */
import type { StepError } from '../blueprint/errors.ts';
import type { Json } from '../blueprint/json.ts';
import type { RunRecord, RunStatus } from '../store/records.ts';
import { closeRun } from '../store/runs.ts';
import { putValue } from '../store/values.ts';
import type { StepsEnvironment } from './environment.ts';
import type { ProgramIndex } from './program-index.ts';
import { type RunErrors, runErrors } from './run-errors.ts';

/**
 * Closes a run that failed. `last` is the error that ended it; it is listed whatever its strategy collects. The first end of
 * an epoch counts, so a second delivery changes nothing.
 */
export async function endFailedRun(
  env: StepsEnvironment,
  index: ProgramIndex,
  run: RunRecord,
  epoch: number,
  last: StepError,
  status: Exclude<RunStatus, 'STARTING' | 'RUNNING'> = 'FAILED',
): Promise<void> {
  await end(env, run, epoch, status, await runErrors(env.store, index, run.run, last));
}

/** Closes a run that reached its end. */
export async function endSucceededRun(
  env: StepsEnvironment,
  index: ProgramIndex,
  run: RunRecord,
  epoch: number,
  output: Json,
): Promise<void> {
  const errors = await runErrors(env.store, index, run.run);
  await putValue(env.store, run.run, '$output', output);
  await end(env, run, epoch, 'SUCCEEDED', errors);
}

async function end(
  env: StepsEnvironment,
  run: RunRecord,
  epoch: number,
  status: Exclude<RunStatus, 'STARTING' | 'RUNNING'>,
  { listed, count }: RunErrors,
): Promise<void> {
  // Before the record is closed: whoever sees a run that has ended finds its errors.
  await putValue(env.store, run.run, '$errors', listed as unknown as Json);
  const { closed } = await closeRun(env.store, run.run, {
    status,
    epoch,
    endedAt: new Date(env.clock.now()).toISOString(),
    errorCount: count,
  });
  if (closed) env.telemetry.runEnded(status, run.trigger);
  await env.downstream.endRun(run.run);
}
