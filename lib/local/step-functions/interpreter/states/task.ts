/**
 * Task: arguments, one call of what Resource names, its result. The resources are in tasks/; the ways in which a call
 * ends (a result, an error, a time limit, a result too large) are recorded there with the resource's own events.
 */
import type { TaskState } from '../../../../asl/types.ts';
import { evaluate, evaluateNumber, evaluationFailed } from '../evaluate.ts';
import type { Transition, Visit } from '../execution.ts';
import { leaveState } from '../exit.ts';
import { withRetryAndCatch } from '../retry.ts';
import { callLambdaFunction } from '../tasks/lambda-function.ts';
import { callLambdaInvoke } from '../tasks/lambda-invoke.ts';
import { callStartExecution } from '../tasks/start-execution.ts';
import { parseResource, type TaskCall, unsupportedResource } from '../tasks/task-call.ts';

export function runTask(visit: Visit<TaskState>): Promise<Transition> {
  const { state } = visit;
  return withRetryAndCatch(visit, state, async () => {
    const input =
      state.Arguments === undefined ? visit.input : await evaluate(visit, state.Arguments, 'Arguments');
    const call: TaskCall = { visit, input };
    const timeoutSeconds = await seconds(visit, 'TimeoutSeconds');
    const heartbeatSeconds = await seconds(visit, 'HeartbeatSeconds');
    if (timeoutSeconds !== undefined) call.timeoutSeconds = timeoutSeconds;
    if (heartbeatSeconds !== undefined) call.heartbeatSeconds = heartbeatSeconds;
    const result = await invoke(call);
    return leaveState(visit, state, result, { result });
  });
}

function invoke(call: TaskCall) {
  const resource = parseResource(call.visit.state.Resource);
  switch (resource.kind) {
    case 'lambdaInvoke':
      return callLambdaInvoke(call);
    case 'lambdaFunction':
      return callLambdaFunction(call, resource.arn);
    case 'startExecution':
      return callStartExecution(call, resource.sync);
    case 'unsupported':
      throw unsupportedResource(call);
  }
}

async function seconds(visit: Visit<TaskState>, field: 'TimeoutSeconds' | 'HeartbeatSeconds') {
  const value = await evaluateNumber(visit, visit.state[field], field);
  if (value !== undefined && !(Number.isInteger(value) && value > 0 && value <= 99_999_999)) {
    throw evaluationFailed(
      visit,
      `The ${field} field must be a positive integer of at most 99999999 but was: ${value}`,
      field,
    );
  }
  return value;
}
