/**
 * Cancelling: the flag on the record first, so that a task in flight stops its call and starts no other, then
 * StopExecution. Nothing is rolled back.
 */
import { ExecutionDoesNotExist, StopExecutionCommand } from '@aws-sdk/client-sfn';
import type { Principal, RunRecord } from '../store/records.ts';
import { closeRun, setStop } from '../store/runs.ts';
import { audited } from './audit.ts';
import type { EngineEnvironment } from './environment.ts';
import { executionOf, isOpen } from './reconcile.ts';
import { readableRun, runAnswerStatus } from './runs.ts';

/** The tool `cancel_run`. A run that has ended is answered as it is. */
export async function cancelRun(env: EngineEnvironment, principal: Principal, runId: string) {
  const { after } = await audited(
    env,
    principal,
    { action: 'run.cancel', run: runId },
    () => cancel(env, principal, runId),
    // One that had ended before was not changed.
    ({ before }) => (isOpen(before) ? { workflow: before.workflow, revision: before.revision } : undefined),
  );
  return { runId, status: runAnswerStatus(after) };
}

async function cancel(
  env: EngineEnvironment,
  principal: Principal,
  runId: string,
): Promise<{ before: RunRecord; after: RunRecord }> {
  const run = await readableRun(env, principal, runId);
  if (!isOpen(run)) return { before: run, after: run };
  const now = new Date(env.now()).toISOString();
  const flagged = (await setStop(env.store, run.run, { at: now, by: principal.id })) ?? run;
  // A trial call has no execution: call-tool looks at the flag.
  if (run.trigger !== 'try') await stopExecution(env, flagged, principal);
  const end = await closeRun(env.store, run.run, { status: 'CANCELLED', epoch: flagged.epoch, endedAt: now });
  if (end.closed) env.telemetry.runEnded('CANCELLED', run.trigger);
  return { before: run, after: end.run ?? run };
}

/** One that has not claimed its run yet is stopped too; one that is not there finds the run closed, should it still come. */
async function stopExecution(env: EngineEnvironment, run: RunRecord, principal: Principal): Promise<void> {
  try {
    await env.sfn.send(
      new StopExecutionCommand({
        executionArn: executionOf(run),
        error: 'Cancelled',
        cause: `run ${run.run} was cancelled by ${principal.id}`,
      }),
    );
  } catch (error) {
    if (!(error instanceof ExecutionDoesNotExist)) throw error;
  }
}
