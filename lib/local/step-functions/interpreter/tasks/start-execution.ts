/**
 * `arn:aws:states:::states:startExecution`, `.sync` (the child's output stays text) and `.sync:2` (it is parsed).
 * Source: developer guide, "Start a new AWS Step Functions state machine from a running execution".
 */
import type { Json, JsonObject } from '../../../../blueprint/json.ts';
import type { ChildExecution } from '../../contract.ts';
import { orInterrupted, record } from '../execution.ts';
import { Interrupted, STATES, StateError } from '../failure.ts';
import { uuid } from '../functions.ts';
import { jsonText } from '../json-text.ts';
import { tryParse } from './lambda-call.ts';
import {
  type Integration,
  integrationArguments,
  recordEnd,
  recordScheduled,
  type TaskCall,
} from './task-call.ts';

const FIELDS = ['StateMachineArn', 'Input', 'Name', 'TraceHeader'];

export async function callStartExecution(call: TaskCall, sync: 'none' | 'text' | 'json'): Promise<Json> {
  const given = integrationArguments(call, 'StateMachineArn', FIELDS);
  const suffix = { none: '', text: '.sync', json: '.sync:2' }[sync];
  const integration: Integration = { resourceType: 'states', resource: `startExecution${suffix}` };
  const { lane, execution } = call.visit;
  recordScheduled(call, integration);
  return recordEnd(call, integration, async (signal) => {
    const { Input: input = null, Name: name } = given;
    const request: Parameters<typeof execution.host.startExecution>[0] = {
      stateMachineArn: String(given.StateMachineArn),
      input: input === null ? '{}' : typeof input === 'string' ? input : jsonText(input),
      signal,
    };
    if (typeof name === 'string') request.name = name;
    const child = await execution.host.startExecution(request).catch((error: unknown) => {
      if (signal.aborted) throw new Interrupted();
      throw serviceFailure(error, uuid(execution.host));
    });
    // Nobody may be left to hear of its end.
    child.done.catch(() => undefined);
    const startResult: JsonObject = {
      ExecutionArn: child.executionArn,
      SdkHttpMetadata: { AllHttpHeaders: {}, HttpHeaders: {}, HttpStatusCode: 200 },
      SdkResponseMetadata: { RequestId: uuid(execution.host) },
      StartDate: child.startDate,
    };
    if (sync === 'none') return startResult;
    if (signal.aborted) throw new Interrupted();
    record(lane, 'TaskSubmitted', [
      'taskSubmittedEventDetails',
      { ...integration, output: jsonText(startResult), outputDetails: { truncated: false } },
    ]);
    const done = await orInterrupted(child.done, signal);
    const described = describe(done, sync === 'json');
    if (done.status === 'SUCCEEDED') return described;
    throw new StateError(STATES.TASK_FAILED, JSON.stringify(described));
  });
}

/** DescribeExecution's answer with the field names and times (epoch milliseconds) of the integration. */
function describe(child: ChildExecution, parse: boolean): JsonObject {
  const value = (text: string): Json => (parse ? (tryParse(text) ?? text) : text);
  const described: JsonObject = {};
  if (child.error !== undefined) described.Error = child.error;
  if (child.cause !== undefined) described.Cause = child.cause;
  described.ExecutionArn = child.executionArn;
  described.Input = value(child.input);
  described.InputDetails = { Included: true };
  described.Name = child.name;
  if (child.output !== undefined) {
    described.Output = value(child.output);
    described.OutputDetails = { Included: true };
  }
  described.StartDate = child.startDate;
  described.StateMachineArn = child.stateMachineArn;
  described.Status = child.status;
  if (child.stopDate !== undefined) described.StopDate = child.stopDate;
  return described;
}

/** `ExecutionAlreadyExists` → `StepFunctions.ExecutionAlreadyExistsException`, with AWS's sentence around the message. */
function serviceFailure(error: unknown, requestId: string): StateError {
  const name = error instanceof Error ? error.name : 'SdkClientException';
  const message = error instanceof Error ? error.message : String(error);
  const exception = name.endsWith('Exception') ? name : `${name}Exception`;
  return new StateError(
    `StepFunctions.${exception}`,
    `${message} (Service: AWSStepFunctions; Status Code: 400; Error Code: ${name}; Request ID: ${requestId}; Proxy: null)`,
  );
}
