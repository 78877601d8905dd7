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

/**
 * @param fallback the output where there is no Output field
 * @param prefix of field names in messages, e.g. `Catch[0]/`
 * @throws StateError States.QueryEvaluationError or States.DataLimitExceeded
 */
export async function leaveState(
  visit: Visit,
  fields: ExitFields,
  fallback: Json,
  available?: Available,
  prefix = '',
): Promise<Transition> {
  const output =
    fields.Output === undefined
      ? fallback
      : await evaluate(visit, fields.Output, `${prefix}Output`, available);
  const assigned =
    fields.Assign === undefined
      ? undefined
      : await evaluate(visit, fields.Assign, `${prefix}Assign`, available);
  if (exceedsPayload(output)) throw resultTooLarge(visit.name);

  const { lane, name } = visit;
  const details: JsonObject = { name, output: jsonText(output), outputDetails: { truncated: false } };
  if (assigned !== undefined) {
    const variables = assigned as JsonObject;
    const refused = assignVariables(lane.scope, variables);
    if (refused?.limit) throw new StateError(STATES.DATA_LIMIT, refused.message);
    if (refused !== undefined) throw evaluationFailed(visit, refused.message, `${prefix}Assign`);
    details.assignedVariables = Object.fromEntries(
      Object.keys(variables)
        .sort()
        .map((key) => [key, jsonText(variables[key] ?? null)]),
    );
    details.assignedVariablesDetails = { truncated: false };
  }
  record(lane, `${visit.state.Type}StateExited`, ['stateExitedEventDetails', details]);
  return fields.Next === undefined ? { output } : { output, next: fields.Next };
}

/** @param subject a state's name, or what the service calls the task, e.g. `lambda` */
export function resultTooLarge(subject: string): StateError {
  return new StateError(
    STATES.DATA_LIMIT,
    `The state/task '${subject}' returned a result with a size exceeding the maximum number of bytes service limit.`,
  );
}
