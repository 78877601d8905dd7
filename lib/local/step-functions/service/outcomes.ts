/**
 * An execution's end in its four forms: the stored record, what the interpreter answers and is answered, and what a
 * parent is told of a nested execution.
 */
import type { Json } from '../../../blueprint/json.ts';
import type { Checkpoint, ChildExecution, ExecutionOutcome } from '../contract.ts';
import type { ExecutionRecord } from './storage/executions.ts';

/** What StopExecution says; also the reason of an aborted signal. */
export interface StopReason {
  error?: string;
  cause?: string;
}

/** The record of an execution that goes on: nothing of its end is left. */
export function reopened(record: ExecutionRecord, now: number): ExecutionRecord {
  const {
    stopDate: _stop,
    error: _error,
    cause: _cause,
    checkpoint: _checkpoint,
    eventCount: _count,
    ...rest
  } = record;
  return { ...rest, status: 'RUNNING', redriveCount: record.redriveCount + 1, redriveDate: now };
}

export function asReason(reason: unknown): StopReason {
  const result: StopReason = {};
  if (typeof reason !== 'object' || reason === null) return result;
  if ('error' in reason && typeof reason.error === 'string') result.error = reason.error;
  if ('cause' in reason && typeof reason.cause === 'string') result.cause = reason.cause;
  return result;
}

export function outcomeOf(record: ExecutionRecord, latest: Checkpoint | undefined): ExecutionOutcome {
  if (record.status === 'SUCCEEDED')
    return { status: 'SUCCEEDED', output: JSON.parse(record.output ?? 'null') as Json };
  // RUNNING only where the service is closing: the parent is being left as well.
  const status = record.status === 'RUNNING' ? 'ABORTED' : record.status;
  const outcome: Exclude<ExecutionOutcome, { status: 'SUCCEEDED' }> = {
    status,
    checkpoint: record.checkpoint ?? latest ?? {},
  };
  if (record.error !== undefined) outcome.error = record.error;
  if (record.cause !== undefined) outcome.cause = record.cause;
  return outcome;
}

export function childOf(record: ExecutionRecord): ChildExecution {
  const child: ChildExecution = {
    executionArn: record.executionArn,
    stateMachineArn: record.stateMachineArn,
    name: record.name,
    startDate: record.startDate,
    status: record.status === 'RUNNING' ? 'ABORTED' : record.status,
    input: record.input,
  };
  if (record.stopDate !== undefined) child.stopDate = record.stopDate;
  if (record.output !== undefined) child.output = record.output;
  if (record.error !== undefined) child.error = record.error;
  if (record.cause !== undefined) child.cause = record.cause;
  return child;
}
