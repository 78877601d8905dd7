/**
 * The run record follows the execution. Status events are best effort: they come late, twice, out of order or not at
 * all. So the same rule is applied to an event and to DescribeExecution, and an open run that has been silent for a
 * minute is looked up when it is read.
 */
import { DescribeExecutionCommand } from '@aws-sdk/client-sfn';
import type { RunRecord } from '../store/records.ts';
import { closeRun, isOpen as isOpenStatus, type RunEnd, reopenRun } from '../store/runs.ts';
import type { EngineEnvironment } from './environment.ts';

export const SILENT_MS = 60_000;

/** What an event or a description says of an execution. */
export interface ExecutionState {
  status: 'RUNNING' | 'SUCCEEDED' | 'FAILED' | 'TIMED_OUT' | 'ABORTED' | string;
  redriveCount: number;
  error?: string | undefined;
  cause?: string | undefined;
  stoppedAt?: string | undefined;
}

const CLOSING: Readonly<Record<string, RunEnd['status']>> = {
  SUCCEEDED: 'SUCCEEDED',
  FAILED: 'FAILED',
  TIMED_OUT: 'TIMED_OUT',
  ABORTED: 'CANCELLED',
};

export function isOpen(run: RunRecord): boolean {
  return isOpenStatus(run.status);
}

/**
 * Closes what failed, was aborted or timed out; reopens what was redriven. An older epoch than the record's says nothing
 * about now and is ignored.
 */
export async function applyExecutionState(
  env: EngineEnvironment,
  run: RunRecord,
  state: ExecutionState,
): Promise<RunRecord> {
  if (state.redriveCount < run.epoch) return run;
  const status = CLOSING[state.status];
  if (status === undefined) {
    if (state.redriveCount === run.epoch || isOpen(run)) return run;
    if (run.execution === undefined) return run;
    const at = new Date(env.now()).toISOString();
    const reopened = await reopenRun(env.store, run.run, {
      execution: run.execution,
      epoch: state.redriveCount,
      at,
    });
    return reopened ?? run;
  }
  if (!isOpen(run)) return run;
  const end = await closeRun(env.store, run.run, {
    status,
    epoch: state.redriveCount,
    endedAt: state.stoppedAt ?? new Date(env.now()).toISOString(),
    ...(state.error === undefined ? {} : { failure: { error: state.error, cause: ownCause(state.cause) } }),
  });
  return end.run ?? run;
}

/** A function's failure comes as JSON with a trace; only our own sentence of it is kept. */
function ownCause(cause: string | undefined): string {
  if (cause === undefined) return '';
  try {
    const parsed: unknown = JSON.parse(cause);
    if (typeof parsed === 'object' && parsed !== null && 'errorMessage' in parsed) {
      return String(parsed.errorMessage);
    }
  } catch {
    // Not JSON: Step Functions' own sentence.
  }
  return cause;
}

/** Looks an open run up that nothing has been heard of for a minute. */
export async function reconcileRun(env: EngineEnvironment, run: RunRecord): Promise<RunRecord> {
  if (!isOpen(run) || run.execution === undefined) return run;
  if (env.now() - Date.parse(run.touchedAt) < SILENT_MS) return run;
  const execution = await env.sfn.send(new DescribeExecutionCommand({ executionArn: run.execution }));
  return applyExecutionState(env, run, {
    status: execution.status ?? 'RUNNING',
    redriveCount: execution.redriveCount ?? 0,
    error: execution.error,
    cause: execution.cause,
    stoppedAt: execution.stopDate?.toISOString(),
  });
}
