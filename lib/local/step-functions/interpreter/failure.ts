/**
 * How a state, a lane or a whole execution ends other than by success. Three things are told apart: an error that
 * Retry and Catch may handle (`StateError`), one that nothing handles (`StateError` with `fatal`), and work that was
 * cut off from outside (`Interrupted`), which leaves no trace of its own in the history.
 */
import type { JsonObject } from '../../../blueprint/json.ts';

/** Names that the service itself gives to errors. Source: developer guide, "Handling errors in workflows". */
export const STATES = {
  ALL: 'States.ALL',
  TASK_FAILED: 'States.TaskFailed',
  TIMEOUT: 'States.Timeout',
  HEARTBEAT_TIMEOUT: 'States.HeartbeatTimeout',
  RUNTIME: 'States.Runtime',
  DATA_LIMIT: 'States.DataLimitExceeded',
  QUERY: 'States.QueryEvaluationError',
  TOLERANCE: 'States.ExceedToleratedFailureThreshold',
} as const;

/** An error with AWS's name and cause. Either may be missing: a Fail state need not have them. */
export class StateError extends Error {
  readonly error: string | undefined;
  override readonly cause: string | undefined;
  /**
   * True where neither Retry nor Catch is asked and the execution ends at once, without events of the states around:
   * States.Runtime.
   */
  readonly fatal: boolean;
  /** A second name that Retry and Catch may use. */
  readonly alias: string | undefined;

  constructor(error: string | undefined, cause: string | undefined, alias?: string) {
    super(cause ?? error ?? 'failed');
    this.name = error ?? 'Failed';
    this.error = error;
    this.cause = cause;
    this.fatal = error === STATES.RUNTIME;
    this.alias = alias;
  }
}

/** The lane was cut off: by a sibling's failure, by StopExecution or by the machine's time limit. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';
}

/** `$states.errorOutput`, and the output of a Catch without Output. A missing cause is an empty text, as recorded. */
export function errorOutput(failure: StateError): JsonObject {
  return { Error: failure.error ?? '', Cause: failure.cause ?? '' };
}

/** `{error, cause}` without the parts that are missing, for event details. */
export function errorDetails(failure: {
  error?: string | undefined;
  cause?: string | undefined;
}): JsonObject {
  const details: JsonObject = {};
  if (failure.error !== undefined) details.error = failure.error;
  if (failure.cause !== undefined) details.cause = failure.cause;
  return details;
}
