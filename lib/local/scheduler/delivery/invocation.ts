/**
 * From a target to the call that an attempt makes. What cannot be invoked here is refused when the schedule is made:
 *
 *     arn:aws:scheduler:::aws-sdk:sfn:startExecution   universal: the input is the request, members as the API has them
 *     arn:aws:states:...:stateMachine:NAME[:VERSION]   templated: the input is the execution's
 *     arn:aws:lambda:...:function:NAME[:QUALIFIER]     templated: the input is the event, invoked asynchronously
 *
 * Sources: EventBridge Scheduler user guide, "Using templated targets", "Using universal targets".
 */
import { isJsonObject, type Json } from '../../../blueprint/json.ts';
import { invalid } from '../api-error.ts';
import type { Target } from '../records.ts';
import { type Attempt, replaceAttributes, scheduledTimeText } from './attributes.ts';

export type Invocation =
  | { kind: 'startExecution'; request: StartExecutionRequest }
  | { kind: 'invokeLambda'; functionName: string; payload: string };

/** As the Step Functions API has it. */
export interface StartExecutionRequest {
  stateMachineArn: string;
  name?: string;
  input?: string;
  traceHeader?: string;
}

const UNIVERSAL = /^arn:aws[a-z-]*:scheduler:::aws-sdk:(.+)$/;
const STATE_MACHINE = /^arn:aws[a-z-]*:states:[a-z0-9-]+:\d{12}:stateMachine:[^:/]+(:[^:/]+)?$/;
const FUNCTION = /^arn:aws[a-z-]*:lambda:[a-z0-9-]+:\d{12}:function:[A-Za-z0-9_-]+(:[A-Za-z0-9$_-]+)?$/;

/** Throws `ValidationException` where the target cannot be invoked. */
export function checkTarget(target: Target): void {
  const sample = { scheduleArn: 'arn', scheduledTime: 0, executionId: '0'.repeat(16), number: 1 };
  invocationOf(target, sample);
}

/** Throws `ValidationException`, which `checkTarget` has ruled out for what is stored. */
export function invocationOf(target: Target, attempt: Attempt): Invocation {
  const input = target.Input === undefined ? undefined : replaceAttributes(target.Input, attempt);
  const action = UNIVERSAL.exec(target.Arn)?.[1];
  if (action !== undefined) {
    if (action === 'sfn:startExecution') return { kind: 'startExecution', request: universalRequest(input) };
    throw invalid(
      `The local EventBridge Scheduler calls aws-sdk:sfn:startExecution, not aws-sdk:${action}, as a universal target.`,
    );
  }
  if (STATE_MACHINE.test(target.Arn)) {
    const request = { stateMachineArn: target.Arn, input: input ?? notification(attempt) };
    checkJson(request.input);
    return { kind: 'startExecution', request };
  }
  if (FUNCTION.test(target.Arn)) {
    const payload = input ?? notification(attempt);
    checkJson(payload);
    return { kind: 'invokeLambda', functionName: target.Arn, payload };
  }
  throw invalid(
    `Provided Arn is not in correct format, or no target that the local EventBridge Scheduler invokes: ${target.Arn}. It invokes state machines, Lambda functions and arn:aws:scheduler:::aws-sdk:sfn:startExecution.`,
  );
}

function universalRequest(input: string | undefined): StartExecutionRequest {
  const read = input === undefined ? undefined : parse(input);
  if (read === undefined || !isJsonObject(read)) {
    throw invalid('The Input of a universal target must be a JSON object, the request of its operation.');
  }
  const text = (member: string): string | undefined => {
    const value = read[member];
    if (value === undefined || typeof value === 'string') return value;
    throw invalid(`Input.${member} of the universal target sfn:startExecution must be a string.`);
  };
  const stateMachineArn = text('StateMachineArn');
  if (stateMachineArn === undefined) {
    throw invalid('Input.StateMachineArn of the universal target sfn:startExecution is missing.');
  }
  const [name, executionInput, traceHeader] = [text('Name'), text('Input'), text('TraceHeader')];
  return {
    stateMachineArn,
    ...(name === undefined ? {} : { name }),
    ...(executionInput === undefined ? {} : { input: executionInput }),
    ...(traceHeader === undefined ? {} : { traceHeader }),
  };
}

/** What a templated target gets that has no input of its own. */
function notification(attempt: Attempt): string {
  const [, , , region, account] = attempt.scheduleArn.split(':');
  return JSON.stringify({
    version: '0',
    id: attempt.executionId,
    'detail-type': 'Scheduled Event',
    source: 'aws.scheduler',
    account,
    time: scheduledTimeText(attempt.scheduledTime),
    region,
    resources: [attempt.scheduleArn],
    detail: '{}',
  });
}

function checkJson(input: string): void {
  if (parse(input) === undefined)
    throw invalid('The Input of a Step Functions or Lambda target must be well-formed JSON.');
}

function parse(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}
