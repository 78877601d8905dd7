/**
 * "Step Functions Execution Status Change" events, applied to the run record. An execution that no run has claimed (it
 * ended before ` begin`, or is none of ours) is left alone.
 * Event shape: Step Functions developer guide, "Automating Step Functions event delivery with EventBridge".
 */
import { z } from 'zod';
import type { RunRecord } from '../store/records.ts';
import { executionRunId } from '../store/run-id.ts';
import { getRun } from '../store/runs.ts';
import type { EngineEnvironment } from './environment.ts';
import { applyExecutionState, executionOf } from './reconcile.ts';
import { countScheduledRun } from './schedule-failures.ts';

export const statusEvent = z.looseObject({
  source: z.literal('aws.states'),
  detail: z.looseObject({
    executionArn: z.string(),
    name: z.string(),
    status: z.string(),
    /** Epoch milliseconds. */
    startDate: z.number(),
    stopDate: z.number().nullish(),
    redriveCount: z.number().nullish(),
    error: z.string().nullish(),
    cause: z.string().nullish(),
  }),
});

/** EventBridge's own timer. Source: EventBridge user guide, "Creating a rule that runs on a schedule". */
export const timerEvent = z.looseObject({
  source: z.literal('aws.events'),
  'detail-type': z.literal('Scheduled Event'),
});

export type StatusEvent = z.infer<typeof statusEvent>;

/** @returns what became of it, for the log: the run's status, or why nothing was done. */
export async function applyStatusEvent(env: EngineEnvironment, event: StatusEvent): Promise<string> {
  const { detail } = event;
  const run = await runOf(env, detail.executionArn, detail.name, detail.startDate);
  if (run === undefined) return 'no run';
  const after = await applyExecutionState(env, run, {
    status: detail.status,
    redriveCount: detail.redriveCount ?? 0,
    error: detail.error ?? undefined,
    cause: detail.cause ?? undefined,
    stoppedAt: detail.stopDate == null ? undefined : new Date(detail.stopDate).toISOString(),
  });
  await countScheduledRun(env, after);
  return after.status;
}

/** A run that the endpoint started has the execution's name; any other is found by ARN and start. */
async function runOf(
  env: EngineEnvironment,
  executionArn: string,
  name: string,
  startDate: number,
): Promise<RunRecord | undefined> {
  const named = await getRun(env.store, name);
  // Any execution of any machine may have been given this name.
  if (named !== undefined && executionOf(named) === executionArn) return named;
  return getRun(env.store, executionRunId(executionArn, new Date(startDate).toISOString()));
}
