/**
 * `arn:aws:states:::lambda:invoke`: the function's answer wrapped as the Lambda API gives it.
 * Source: developer guide, "Invoke Lambda with Step Functions"; the metadata's shape is what AWS recorded.
 */
import type { Json, JsonObject } from '../../../../blueprint/json.ts';
import type { LambdaRequest, LambdaResponse } from '../../contract.ts';
import { isoTime } from '../execution.ts';
import { STATES, StateError } from '../failure.ts';
import { jsonText } from '../json-text.ts';
import { invokeFunction, tryParse } from './lambda-call.ts';
import { integrationArguments, recordEnd, recordScheduled, type TaskCall } from './task-call.ts';

const INTEGRATION = { resourceType: 'lambda', resource: 'invoke' };
const FIELDS = ['FunctionName', 'Payload', 'Qualifier', 'InvocationType', 'ClientContext', 'LogType'];

export async function callLambdaInvoke(call: TaskCall): Promise<Json> {
  const request = readRequest(call);
  recordScheduled(call, INTEGRATION);
  return recordEnd(call, INTEGRATION, async (signal) => {
    const response = await invokeFunction(call, { ...request, signal }, compact);
    return wrap(response, call.visit.execution.host.clock.now());
  });
}

function readRequest(call: TaskCall): Omit<LambdaRequest, 'signal'> {
  const given = integrationArguments(call, 'FunctionName', FIELDS);
  const {
    Payload: payload = null,
    Qualifier: qualifier,
    InvocationType: invocationType = 'RequestResponse',
  } = given;
  if (invocationType !== 'RequestResponse' && invocationType !== 'Event') {
    throw new StateError(STATES.RUNTIME, `The InvocationType '${String(invocationType)}' is not supported.`);
  }
  const request: Omit<LambdaRequest, 'signal'> = {
    functionName: String(given.FunctionName),
    payload: payload === null ? '{}' : typeof payload === 'string' ? payload : jsonText(payload),
    invocationType,
  };
  if (typeof qualifier === 'string') request.qualifier = qualifier;
  return request;
}

/** A function's error without the white space that its runtime put in, as AWS records it for lambda:invoke. */
function compact(payload: string): string {
  const parsed = tryParse(payload);
  return parsed === undefined ? payload : JSON.stringify(parsed);
}

function wrap(response: LambdaResponse, now: number): JsonObject {
  const { executedVersion, payload, requestId, statusCode } = response;
  const headers: Record<string, string> = {
    'X-Amz-Executed-Version': executedVersion,
    'x-amzn-Remapped-Content-Length': '0',
    Connection: 'keep-alive',
    'x-amzn-RequestId': requestId,
    'Content-Length': String(Buffer.byteLength(payload)),
    Date: new Date(isoTime(now)).toUTCString(),
    'Content-Type': 'application/json',
  };
  return {
    ExecutedVersion: executedVersion,
    Payload: payload === '' ? '' : (tryParse(payload) ?? payload),
    SdkHttpMetadata: {
      AllHttpHeaders: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]])),
      HttpHeaders: headers,
      HttpStatusCode: statusCode,
    },
    SdkResponseMetadata: { RequestId: requestId },
    StatusCode: statusCode,
  };
}
