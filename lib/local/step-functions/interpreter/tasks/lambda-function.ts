/** A function's own ARN as Resource: the answer is the result, with events of its own. */
import type { Json, JsonObject } from '../../../../blueprint/json.ts';
import { record } from '../execution.ts';
import { resultTooLarge } from '../exit.ts';
import { errorDetails, StateError } from '../failure.ts';
import { exceedsPayload, jsonText } from '../json-text.ts';
import { invokeFunction, tryParse } from './lambda-call.ts';
import { isTimeout, type TaskCall, withinTime } from './task-call.ts';

export async function callLambdaFunction(call: TaskCall, arn: string): Promise<Json> {
  const { lane } = call.visit;
  const scheduled: JsonObject = {
    resource: arn,
    input: jsonText(call.input),
    inputDetails: { truncated: false },
  };
  if (call.timeoutSeconds !== undefined) scheduled.timeoutInSeconds = call.timeoutSeconds;
  record(lane, 'LambdaFunctionScheduled', ['lambdaFunctionScheduledEventDetails', scheduled]);
  record(lane, 'LambdaFunctionStarted');
  try {
    const response = await withinTime(call, (signal) =>
      invokeFunction(
        call,
        { functionName: arn, payload: jsonText(call.input), invocationType: 'RequestResponse', signal },
        (payload) => payload,
      ),
    );
    const result = tryParse(response.payload) ?? response.payload;
    if (exceedsPayload(result)) throw resultTooLarge(arn);
    record(lane, 'LambdaFunctionSucceeded', [
      'lambdaFunctionSucceededEventDetails',
      { output: jsonText(result), outputDetails: { truncated: false } },
    ]);
    return result;
  } catch (failure) {
    if (!(failure instanceof StateError) || failure.fatal) throw failure;
    const how = isTimeout(failure) ? 'TimedOut' : 'Failed';
    record(lane, `LambdaFunction${how}`, [`lambdaFunction${how}EventDetails`, errorDetails(failure)]);
    throw failure;
  }
}
