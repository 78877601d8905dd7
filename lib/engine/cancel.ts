/**
 * Cancelling: the flag on the record first, so that a task in flight stops its call and starts no other, then
 * StopExecution. Nothing is rolled back.
 */
import { StopExecutionCommand } from '@aws-sdk/client-sfn';
import type { Principal } from '../store/records.ts';
import { closeRun, getRun, setStop } from '../store/runs.ts';
import type { EngineEnvironment } from './environment.ts';
import { isOpen } from './reconcile.ts';
import { readableRun, runAnswerStatus } from './runs.ts';

/** The tool `cancel_run`. A run that has ended is answered as it is. */
export async function cancelRun(env: EngineEnvironment, principal: Principal, runId: string) {
  const run = await readableRun(env, principal, runId);
  if (!isOpen(run)) return { runId, status: runAnswerStatus(run) };
  const now = new Date(env.now()).toISOString();
  await setStop(env.store, run.run, { at: now, by: principal.id });
  const claimed = (await getRun(env.store, run.run)) ?? run;
  if (claimed.execution !== undefined) {
    await env.sfn.send(
      new StopExecutionCommand({
        executionArn: claimed.execution,
        error: 'Cancelled',
        cause: `run ${run.run} was cancelled by ${principal.id}`,
      }),
    );
  }
  await closeRun(env.store, run.run, { status: 'CANCELLED', epoch: claimed.epoch, endedAt: now });
  const ended = await getRun(env.store, run.run);
  return { runId, status: runAnswerStatus(ended ?? run) };
}
