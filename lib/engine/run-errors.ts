/** What an answer tells of a run's errors: the first few, how many there are, and what else ended the run. */
import type { Json } from '../blueprint/json.ts';
import type { RunRecord } from '../store/records.ts';
import { getValue } from '../store/values.ts';
import type { EngineEnvironment } from './environment.ts';
import { isOpen } from './reconcile.ts';

const MAX_ERRORS = 10;

export interface ShownErrors {
  errors?: Json[];
  /** Where there are more than are shown; get_run with step "$errors" pages through them. */
  errorCount?: number;
  /** What ended the execution where no step's error says it. */
  failure?: { error: string; cause: string };
}

export async function shownErrors(env: EngineEnvironment, run: RunRecord): Promise<ShownErrors> {
  // While it runs, the list is of an earlier epoch.
  const errors = isOpen(run) ? undefined : await getValue(env.store, run.run, '$errors');
  const failure = run.failure === undefined ? {} : { failure: { ...run.failure } };
  if (!Array.isArray(errors) || errors.length === 0) return failure;
  const count = Math.max(run.errorCount, errors.length);
  return {
    errors: errors.slice(0, MAX_ERRORS),
    ...(count > MAX_ERRORS ? { errorCount: count } : {}),
    ...failure,
  };
}
