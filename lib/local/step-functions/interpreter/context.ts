/**
 * The context object, `$states.context`.
 * Source: developer guide, "Accessing execution data from the Context object"; the order and presence of fields follow
 * what AWS recorded (RetryCount only in states that can be retried).
 */
import type { Json, JsonObject } from '../../../blueprint/json.ts';
import type { Visit } from './execution.ts';

/** `Map.Item`, which the guide allows in a Map's ItemSelector only. */
export interface MapItem {
  Index: number;
  Value: Json;
}

export function contextObject(visit: Visit, mapItem?: MapItem): JsonObject {
  const { start } = visit.execution;
  const execution: JsonObject = {
    Id: start.executionArn,
    Input: start.input,
    StartTime: start.startTime,
    Name: start.name,
    RoleArn: start.roleArn,
    RedriveCount: start.redriveCount,
  };
  if (start.redriveTime !== undefined) execution.RedriveTime = start.redriveTime;
  const state: JsonObject = { Name: visit.name, EnteredTime: visit.enteredTime };
  const { Type: type } = visit.state;
  if (type === 'Task' || type === 'Parallel' || type === 'Map') state.RetryCount = visit.retryCount;
  const context: JsonObject = {
    Execution: execution,
    StateMachine: { Id: start.stateMachineArn, Name: start.stateMachineName },
    State: state,
  };
  if (mapItem !== undefined) context.Map = { Item: { Index: mapItem.Index, Value: mapItem.Value } };
  return context;
}
