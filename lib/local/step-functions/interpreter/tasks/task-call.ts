/**
 * What all resources of a Task share: which resource an ARN means, the time limits around a call, and the events
 * TaskScheduled, TaskStarted, TaskSucceeded, TaskFailed and TaskTimedOut of the service integrations.
 */
import type { TaskState } from '../../../../asl/types.ts';
import type { Json, JsonObject } from '../../../../blueprint/json.ts';
import { childController, orInterrupted, record, type Visit } from '../execution.ts';
import { resultTooLarge } from '../exit.ts';
import { errorDetails, Interrupted, STATES, StateError } from '../failure.ts';
import { exceedsPayload, jsonText } from '../json-text.ts';

export interface TaskCall {
  visit: Visit<TaskState>;
  /** Evaluated Arguments, else the state's input. */
  input: Json;
  timeoutSeconds?: number;
  heartbeatSeconds?: number;
}

export type Resource =
  | { kind: 'lambdaInvoke' }
  | { kind: 'lambdaFunction'; arn: string }
  | { kind: 'startExecution'; sync: 'none' | 'text' | 'json' }
  | { kind: 'unsupported' };

/** Integration as events name it: `lambda` / `invoke`, `states` / `startExecution.sync:2`. */
export interface Integration {
  resourceType: string;
  resource: string;
}

const INTEGRATION = /^arn:[a-z-]+:states:[a-z0-9-]*:\d*:([a-z]+):([A-Za-z]+)(\.sync:2|\.sync)?$/;

export function parseResource(arn: string): Resource {
  if (/^arn:[a-z-]+:lambda:[a-z0-9-]+:\d+:function:/.test(arn)) return { kind: 'lambdaFunction', arn };
  const [, service, action, pattern] = INTEGRATION.exec(arn) ?? [];
  if (service === 'lambda' && action === 'invoke' && pattern === undefined) return { kind: 'lambdaInvoke' };
  if (service === 'states' && action === 'startExecution') {
    return {
      kind: 'startExecution',
      sync: pattern === undefined ? 'none' : pattern === '.sync' ? 'text' : 'json',
    };
  }
  return { kind: 'unsupported' };
}

export function unsupportedResource(call: TaskCall): StateError {
  return new StateError(
    STATES.RUNTIME,
    `The resource '${call.visit.state.Resource}' of the state '${call.visit.name}' is not one that the local Step Functions runs: lambda:invoke, a Lambda function's ARN, states:startExecution, .sync and .sync:2.`,
  );
}

/** Arguments of a service integration as an object. Throws States.Runtime where a required field is missing. */
export function integrationArguments(
  call: TaskCall,
  required: string,
  allowed: readonly string[],
): JsonObject {
  const { input, visit } = call;
  const problems: string[] = [];
  const given = typeof input === 'object' && input !== null && !Array.isArray(input) ? input : {};
  for (const field of Object.keys(given)) {
    if (!allowed.includes(field)) problems.push(`The field "${field}" is not supported by Step Functions`);
  }
  if (given[required] === undefined || given[required] === null) {
    problems.push(`The field "${required}" is required but was missing`);
  }
  if (problems.length === 0) return given;
  throw new StateError(
    STATES.RUNTIME,
    `An error occurred while executing the state '${visit.name}' (entered at the event id #${visit.entered}). The Arguments '${JSON.stringify(input)}' could not be used to start the Task: [${problems.join(', ')}]`,
  );
}

/** TaskScheduled and TaskStarted. */
export function recordScheduled(call: TaskCall, integration: Integration): void {
  const { lane, execution } = call.visit;
  const details: JsonObject = {
    ...integration,
    region: execution.start.executionArn.split(':')[3] ?? '',
    parameters: jsonText(call.input),
  };
  if (call.timeoutSeconds !== undefined) details.timeoutInSeconds = call.timeoutSeconds;
  if (call.heartbeatSeconds !== undefined) details.heartbeatInSeconds = call.heartbeatSeconds;
  record(lane, 'TaskScheduled', ['taskScheduledEventDetails', details]);
  record(lane, 'TaskStarted', ['taskStartedEventDetails', { ...integration }]);
}

/** Runs the work of a service integration and records how it ended. `subject` names it where the result is too large. */
export async function recordEnd(
  call: TaskCall,
  integration: Integration,
  work: (signal: AbortSignal) => Promise<Json>,
): Promise<Json> {
  const { lane } = call.visit;
  try {
    const result = await withinTime(call, work);
    if (exceedsPayload(result)) throw resultTooLarge(integration.resourceType);
    record(lane, 'TaskSucceeded', [
      'taskSucceededEventDetails',
      { ...integration, output: jsonText(result), outputDetails: { truncated: false } },
    ]);
    return result;
  } catch (failure) {
    if (!(failure instanceof StateError) || failure.fatal) throw failure;
    const how = isTimeout(failure) ? 'TimedOut' : 'Failed';
    record(lane, `Task${how}`, [`task${how}EventDetails`, { ...integration, ...errorDetails(failure) }]);
    throw failure;
  }
}

export function isTimeout(failure: StateError): boolean {
  return failure.error === STATES.TIMEOUT;
}

/**
 * Gives the work a signal that is aborted when the lane is cut off or a time limit is over. None of the resources sends
 * heartbeats, so HeartbeatSeconds is over as soon as it has passed. Both limits end in States.Timeout (as recorded); a
 * missed heartbeat may be caught as States.HeartbeatTimeout, too.
 */
export async function withinTime<T>(call: TaskCall, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const { visit, timeoutSeconds, heartbeatSeconds } = call;
  const { controller, release } = childController(visit.lane.signal);
  const timers = new AbortController();
  let late: StateError | undefined;
  const limit = (seconds: number | undefined, alias?: string) => {
    if (seconds === undefined) return;
    visit.execution.host.clock.sleep(seconds * 1000, timers.signal).then(
      () => {
        late ??= new StateError(STATES.TIMEOUT, undefined, alias);
        controller.abort(late);
      },
      () => undefined,
    );
  };
  limit(timeoutSeconds);
  limit(heartbeatSeconds, STATES.HEARTBEAT_TIMEOUT);
  try {
    return await orInterrupted(work(controller.signal), controller.signal);
  } catch (error) {
    if (visit.lane.signal.aborted) throw new Interrupted();
    throw late ?? error;
  } finally {
    timers.abort();
    release();
  }
}
