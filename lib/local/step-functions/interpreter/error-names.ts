/**
 * Which errors a Retry or Catch clause means.
 * Source: Amazon States Language specification, "Errors", and the developer guide, "Error names".
 */
import { STATES } from './failure.ts';

/** A StateError, as far as it is looked at here. */
export interface MatchedError {
  error: string | undefined;
  alias?: string | undefined;
}

/**
 * True if `names` (an ErrorEquals) means `error`. `States.Runtime` is never meant, not even by its own name.
 * `States.ALL` and `States.TaskFailed` do not mean `States.DataLimitExceeded`, as the guide has it. (Recordings of 2024
 * show a Catch of States.ALL that did take it; a machine that counts on that is wrong by the guide.)
 */
export function matchesError(names: readonly string[], { error, alias }: MatchedError): boolean {
  if (error === STATES.RUNTIME) return false;
  return names.some((name) => {
    if (name === error || (alias !== undefined && name === alias)) return true;
    if (name === STATES.ALL) return error !== STATES.DATA_LIMIT;
    return name === STATES.TASK_FAILED && error !== STATES.DATA_LIMIT && error !== STATES.TIMEOUT;
  });
}
