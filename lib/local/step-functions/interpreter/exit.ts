/**
 * Leaving a state: Output and Assign are evaluated from the same values (neither sees the other), sizes are checked, and
 * the Exited event is recorded.
 */
import type { Json, JsonObject } from '../../../blueprint/json.ts';
import { type Available, evaluate, evaluationFailed } from './evaluate.ts';
import { record, type Transition, type Visit } from './execution.ts';
import { STATES, StateError } from './failure.ts';
import { exceedsPayload, jsonText } from './json-text.ts';
import { assignVariables } from './variables.ts';

/** The fields that a state, a Choice rule or a Catch clause has for it. */
export interface ExitFields {
  Output?: Json;
  Assign?: JsonObject;
  Next?: string;
}

/** What a state is left with. */
export interface Exit {
  output: Json;
  assigned?: JsonObject;
  next?: string;
}

/**
 * @param fallback the output where there is no Output field
 * @param prefix of field names in messages, e.g. `Catch[0]/`
 * @throws StateError States.QueryEvaluationError or States.DataLimitExceeded
 */
export async function evaluateExit(
  visit: Visit,
  fields: ExitFields,
  fallback: Json,
  available?: Available,
  prefix = '',
): Promise<Exit> {
  const exit: Exit = {
    output:
      fields.Output === undefined
        ? fallback
        : await evaluate(visit, fields.Output, `${prefix}Output`, available),
  };
  if (fields.Assign !== undefined) {
    const location = `${prefix}Assign`;
    exit.assigned = (await evaluate(visit, fields.Assign, location, available)) as JsonObject;
    const refused = assignVariables(visit.lane.scope, exit.assigned, visit.name);
    if (refused !== undefined) throw evaluationFailed(visit, refused.cause, location, refused.error);
  }
  if (fields.Next !== undefined) exit.next = fields.Next;
  if (exceedsPayload(exit.output)) throw resultTooLarge(visit.name);
  return exit;
}

/** Records the Exited event. */
export function recordExit(visit: Visit, { output, assigned, next }: Exit): Transition {
  const details: JsonObject = {
    name: visit.name,
    output: jsonText(output),
    outputDetails: { truncated: false },
  };
  if (assigned !== undefined) {
    const names = Object.keys(assigned).sort();
    details.assignedVariables = Object.fromEntries(
      names.map((name) => [name, jsonText(assigned[name] ?? null)]),
    );
    details.assignedVariablesDetails = { truncated: false };
  }
  record(visit.lane, `${visit.state.Type}StateExited`, ['stateExitedEventDetails', details]);
  return next === undefined ? { output } : { output, next };
}

/** Evaluates and records in one go. */
export async function leaveState(
  visit: Visit,
  fields: ExitFields,
  fallback: Json,
  available?: Available,
  prefix?: string,
): Promise<Transition> {
  return recordExit(visit, await evaluateExit(visit, fields, fallback, available, prefix));
}

/** @param subject a state's name, or what the service calls the task, e.g. `lambda` */
export function resultTooLarge(subject: string): StateError {
  return new StateError(
    STATES.DATA_LIMIT,
    `The state/task '${subject}' returned a result with a size exceeding the maximum number of bytes service limit.`,
  );
}
