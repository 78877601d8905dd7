/**
 * The delivery of one occurrence: attempts until one is accepted or the retry policy is used up. The schedule is read anew
 * for each, so what has been changed, disabled or deleted meanwhile counts.
 *
 * At least once, as on AWS: an attempt that was accepted just before the process died is made again by the next one, with the
 * same execution id and scheduled time.
 */
import type { Clock } from '../../step-functions/contract.ts';
import type { Schedule } from '../records.ts';
import { attemptOf, scheduledTimeText } from './attributes.ts';
import { deliveryTime } from './due.ts';
import { type Invocation, invocationOf, type StartExecutionRequest } from './invocation.ts';
import { delayAfter, mayPass } from './retries.ts';

/** In whose name an invocation is made: on AWS the scheduler takes this role, for the group of the schedule. */
export interface InvokedBy {
  roleArn: string;
  scheduleArn: string;
  group: string;
}

/** Where invocations go. What they throw has AWS's name and, where the service refused, its status (`statusCode`, or the SDK's `$metadata`). */
export interface Targets {
  /** Resolves when the execution has been started. */
  startExecution(request: StartExecutionRequest, by: InvokedBy): Promise<unknown>;
  /** Resolves when the event has been accepted; the function itself runs later. */
  invokeLambda(functionName: string, payload: string, by: InvokedBy): Promise<unknown>;
}

export interface DeliveryParts {
  targets: Targets;
  clock: Clock;
  /** The schedule as it is now; undefined: it is gone, disabled, or another of the name. */
  current(): Schedule | undefined;
  /** Aborted when the service closes: the delivery is then left to the next start. */
  signal: AbortSignal;
  onFailure(error: unknown): void;
}

/** @returns whether the occurrence is dealt with: delivered, given up, or nobody's any more. */
export async function deliver(scheduledTime: number, parts: DeliveryParts): Promise<boolean> {
  const { clock, signal } = parts;
  for (let number = 1; ; number += 1) {
    if (signal.aborted) return false;
    const schedule = parts.current();
    if (schedule === undefined) return true;
    const { MaximumEventAgeInSeconds, MaximumRetryAttempts } = schedule.target.RetryPolicy;
    const giveUpAt = deliveryTime(schedule, scheduledTime) + MaximumEventAgeInSeconds * 1000;
    const giveUp = (why: string, cause?: unknown): true => {
      const which = `${schedule.arn}: the occurrence of ${scheduledTimeText(scheduledTime)}`;
      parts.onFailure(new Error(`${which} was given up${why}`, { cause }));
      return true;
    };
    if (clock.now() > giveUpAt) return giveUp(', it is older than MaximumEventAgeInSeconds');
    const attempt = attemptOf(schedule, scheduledTime, number);
    try {
      const by = { roleArn: schedule.target.RoleArn, scheduleArn: schedule.arn, group: schedule.group };
      await invoke(invocationOf(schedule.target, attempt), attempt.executionId, by, parts.targets);
      return true;
    } catch (error) {
      const delay = delayAfter(number);
      if (!mayPass(error) || number > MaximumRetryAttempts || clock.now() + delay > giveUpAt) {
        return giveUp(
          ` after ${number} ${number === 1 ? 'attempt' : 'attempts'}: ${described(error)}`,
          error,
        );
      }
      try {
        await clock.sleep(delay, signal);
      } catch {
        return false;
      }
    }
  }
}

async function invoke(
  invocation: Invocation,
  executionId: string,
  by: InvokedBy,
  targets: Targets,
): Promise<void> {
  switch (invocation.kind) {
    case 'invokeLambda':
      await targets.invokeLambda(invocation.functionName, invocation.payload, by);
      return;
    case 'startExecution':
      try {
        await targets.startExecution(invocation.request, by);
      } catch (error) {
        // An execution with this occurrence's id for its name is this occurrence, delivered before and over by now.
        const exists = error instanceof Error && error.name === 'ExecutionAlreadyExists';
        if (!exists || invocation.request.name?.includes(executionId) !== true) throw error;
      }
  }
}

function described(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
}
