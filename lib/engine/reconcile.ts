/**
 * The run record follows the execution. Status events are best effort: they come late, twice, out of order or not at
 * all. So the same rule is applied to an event and to DescribeExecution, and an open run that has been silent for a
 * minute is looked up when it is read, and by the sweep.
 */
import { DescribeExecutionCommand, ExecutionDoesNotExist } from '@aws-sdk/client-sfn';
import { cleanText } from '../downstream/clean-text.ts';
import { executionArnOf } from '../steps/executions.ts';
import type { RunRecord } from '../store/records.ts';
import { closeRun, getRun, isOpen as isOpenStatus, type RunEnd, reopenRun, touchRun } from '../store/runs.ts';
import type { EngineEnvironment } from './environment.ts';
import { countScheduledRun } from './schedule-failures.ts';

export const SILENT_MS = 60_000;

/** What an event or a description says of an execution. */
export interface ExecutionState {
  /** `RUNNING`, `PENDING_REDRIVE` (still open), or how it ended. */
  status: string;
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

/** ARN of the run's execution, also before it has claimed the record. */
export function executionOf(run: RunRecord): string {
  return run.execution ?? executionArnOf(run.stateMachineArn, run.executionName);
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
  // A redrive whose start nobody told of is known by its end as well.
  const current = state.redriveCount > run.epoch && !isOpen(run) ? await reopen(env, run, state) : run;
  if (status === undefined || !isOpen(current)) return current;
  const { error, cause, stoppedAt } = state;
  const end = await close(env, run, {
    // A task that met the flag fails the execution before it is stopped: still it was cancelled.
    status: current.stop !== undefined && status === 'FAILED' ? 'CANCELLED' : status,
    epoch: state.redriveCount,
    endedAt: stoppedAt ?? timeOf(env),
    ...(error === undefined ? {} : { failure: { error: cleanText(error, 100), cause: ownCause(cause) } }),
  });
  return end.run ?? current;
}

async function close(env: EngineEnvironment, run: RunRecord, end: RunEnd) {
  const closing = await closeRun(env.store, run.run, end);
  if (closing.closed) env.telemetry.runEnded(end.status, run.trigger);
  return closing;
}

async function reopen(env: EngineEnvironment, run: RunRecord, state: ExecutionState): Promise<RunRecord> {
  if (run.execution === undefined) return run;
  const reopening = { execution: run.execution, epoch: state.redriveCount, at: timeOf(env) };
  return (await reopenRun(env.store, run.run, reopening)) ?? run;
}

/** A function's failure comes as JSON with a trace; only our own sentence of it is kept. */
function ownCause(cause: string | undefined): string {
  if (cause === undefined) return '';
  let sentence = cause;
  try {
    const parsed: unknown = JSON.parse(cause);
    if (typeof parsed === 'object' && parsed !== null && 'errorMessage' in parsed) {
      sentence = String(parsed.errorMessage);
    }
  } catch {
    // Not JSON: Step Functions' own sentence.
  }
  return cleanText(sentence);
}

/** Looks an open run up that nothing has been heard of for a minute. */
export async function reconcileRun(env: EngineEnvironment, run: RunRecord): Promise<RunRecord> {
  if (!isOpen(run) || env.now() - Date.parse(run.touchedAt) < SILENT_MS) return run;
  const found = await lookUp(env, run);
  if (!isOpen(found)) await countScheduledRun(env, found);
  return found;
}

async function lookUp(env: EngineEnvironment, run: RunRecord): Promise<RunRecord> {
  if (run.trigger === 'try') return closeLostTry(env, run);
  const state = await describe(env, executionOf(run));
  if (state === undefined) return withoutExecution(env, run);
  const applied = await applyExecutionState(env, run, state);
  // It runs, in a long wait perhaps: not to be asked about again for a minute.
  return isOpen(applied) ? ((await touchRun(env.store, run.run, timeOf(env))) ?? applied) : applied;
}

async function describe(env: EngineEnvironment, executionArn: string): Promise<ExecutionState | undefined> {
  try {
    const execution = await env.sfn.send(new DescribeExecutionCommand({ executionArn }));
    return {
      status: execution.status ?? 'RUNNING',
      redriveCount: execution.redriveCount ?? 0,
      error: execution.error,
      cause: execution.cause,
      stoppedAt: execution.stopDate?.toISOString(),
    };
  } catch (error) {
    if (error instanceof ExecutionDoesNotExist) return undefined;
    throw error;
  }
}

/** The start failed, or the execution is gone: nothing will ever close the run but this. */
async function withoutExecution(env: EngineEnvironment, run: RunRecord): Promise<RunRecord> {
  if (run.status === 'STARTING' && run.parent !== undefined) {
    // Prepared and not started yet: its parent's execution may be waiting to start it.
    const parent = await getRun(env.store, run.parent.run);
    if (parent !== undefined && isOpen(parent)) return run;
  }
  const failure =
    run.status === 'STARTING'
      ? { error: 'NotStarted', cause: 'the execution of the run was never started' }
      : { error: 'ExecutionGone', cause: 'the execution of the run does not exist any more' };
  const end = await close(env, run, {
    status: 'FAILED',
    epoch: run.epoch,
    endedAt: timeOf(env),
    failure,
  });
  return end.run ?? run;
}

/** A trial call has no execution. Who makes it says every 20 s that it lives (lib/steps/try-run.ts). */
async function closeLostTry(env: EngineEnvironment, run: RunRecord): Promise<RunRecord> {
  const cause = 'the engine ended while the call was under way; it is not known whether it was carried out';
  const end = await closeRun(env.store, run.run, {
    status: 'FAILED',
    epoch: run.epoch,
    endedAt: timeOf(env),
    failure: { error: 'OutcomeUnknown', cause },
  });
  if (end.closed) env.telemetry.runEnded('FAILED', run.trigger);
  return end.run ?? run;
}

function timeOf(env: EngineEnvironment): string {
  return new Date(env.now()).toISOString();
}
