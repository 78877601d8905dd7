/**
 * Step Functions' own Retry and Catch. Retry is for redeliveries alone: the platform failed, or an earlier delivery of
 * the same task is still at work. What a blueprint calls a retry happens inside call-tool, which records every attempt.
 * Catch names the kinds of step failures and never `States.ALL`: a fault of the platform or of the engine ends the run
 * in red, whatever the blueprint says about its steps.
 *
 * Source: Step Functions developer guide, "Handling errors in Step Functions workflows" and "Best practices for Step
 * Functions: handle transient Lambda service exceptions"; Lambda API reference, Invoke (errors).
 */
import { MAX_FUNCTION_SECONDS } from '../../asl/limits.ts';
import type { Catcher, Retrier } from '../../asl/types.ts';
import { ERROR_KINDS } from '../../blueprint/errors.ts';
import type { Json } from '../../blueprint/json.ts';
import { BUSY } from '../protocol.ts';

const PLATFORM_ERRORS = [
  'Lambda.ServiceException',
  'Lambda.AWSLambdaException',
  'Lambda.SdkClientException',
  'Lambda.ClientExecutionTimeoutException',
  'Lambda.Unknown',
  'Sandbox.Timedout',
  // What the answer of a container that ended names itself, before it is Lambda.Unknown.
  'Runtime.ExitError',
  'Runtime.OutOfMemory',
];

/**
 * The function did not even start: the account has no free execution (a new one has ten), or a function that lay idle in a network is
 * being set up. It is waited for as an earlier delivery is: as long as others may hold what it lacks.
 */
const NOT_STARTED_ERRORS = [
  'Lambda.TooManyRequestsException',
  'Lambda.ResourceNotReadyException',
  'Lambda.ResourceConflictException',
];

const MAX_BUSY_DELAY_SECONDS = 30;
/**
 * Lambda's longest time, and past it a lease of 30 s, renewed at the last moment, and some. Not the time that the function has as the
 * machine is compiled: a machine outlives that setting.
 */
const BUSY_SECONDS = MAX_FUNCTION_SECONDS + 120;

/** Retry of every task of call-tool. */
export function redelivery(): Retrier[] {
  return [
    {
      ErrorEquals: [...PLATFORM_ERRORS],
      IntervalSeconds: 1,
      MaxAttempts: 6,
      BackoffRate: 2,
      MaxDelaySeconds: 60,
      JitterStrategy: 'FULL',
    },
    {
      ErrorEquals: [BUSY, ...NOT_STARTED_ERRORS],
      IntervalSeconds: 1,
      MaxAttempts: busyAttempts(BUSY_SECONDS),
      BackoffRate: 2,
      MaxDelaySeconds: MAX_BUSY_DELAY_SECONDS,
    },
  ];
}

/** Attempts whose delays (1, 2, 4, 8, 16, then 30 seconds each) add up to at least `seconds`. */
function busyAttempts(seconds: number): number {
  let [attempts, waited, delay] = [0, 0, 1];
  while (waited < seconds) {
    waited += delay;
    delay = Math.min(delay * 2, MAX_BUSY_DELAY_SECONDS);
    attempts += 1;
  }
  return attempts;
}

/** Retry of starting a sub-workflow: the child's name makes a repeated start the same one. */
export const START_RETRY: Retrier[] = [
  {
    ErrorEquals: ['StepFunctions.ThrottlingException', 'StepFunctions.SdkClientException'],
    IntervalSeconds: 1,
    MaxAttempts: 6,
    BackoffRate: 2,
    MaxDelaySeconds: 60,
    JitterStrategy: 'FULL',
  },
];

/** A step's failure caught: on with `next`, whose input is `output`. */
export function stepFailures(next: string, output: Json): Catcher {
  return { ErrorEquals: [...ERROR_KINDS], Next: next, Output: output };
}
