/** `run` in templates. */
import type { StepError } from '../blueprint/errors.ts';
import type { Json, JsonObject } from '../blueprint/json.ts';
import type { RunRecord } from '../store/records.ts';

/** `date` is the day that the run started on, UTC: a run that goes past midnight keeps one date. */
export function runObject(run: RunRecord, errors: readonly StepError[]): JsonObject {
  const startedAt = run.startedAt ?? run.createdAt;
  return {
    id: run.run,
    workflow: run.workflow,
    revision: run.revision,
    trigger: run.trigger,
    startedAt,
    date: startedAt.slice(0, 10),
    errors: errors as unknown as Json,
  };
}
