/**
 * From a request to what is kept of a schedule: defaults filled in as AWS answers them, and what no constraint of a single
 * member can say.
 */
import type { Json, JsonObject } from '../../blueprint/json.ts';
import { parseSchedule } from '../../schedule/expression.ts';
import { ScheduleExpressionError } from '../../schedule/schedule-error.ts';
import { checkTimezone } from '../../schedule/timezone.ts';
import { invalid } from './api-error.ts';
import { seconds } from './context.ts';
import { checkTarget } from './delivery/invocation.ts';
import type { Schedule, ScheduleDefinition, Target } from './records.ts';
import type { ScheduleRequest } from './requests.ts';

/** Defaults of the API reference, type RetryPolicy. */
const DEFAULT_EVENT_AGE_SECONDS = 86_400;
const DEFAULT_RETRY_ATTEMPTS = 185;

/** Throws `ValidationException`. */
export function definitionOf(request: ScheduleRequest): ScheduleDefinition {
  const timezone = request.ScheduleExpressionTimezone ?? 'UTC';
  refused(`Invalid Schedule Expression ${request.ScheduleExpression}.`, () =>
    parseSchedule(request.ScheduleExpression),
  );
  refused(`Invalid Schedule Expression Timezone ${timezone}.`, () => checkTimezone(timezone));
  const startAt = milliseconds(request.StartDate);
  const endAt = milliseconds(request.EndDate);
  if (startAt !== undefined && endAt !== undefined && endAt <= startAt) {
    throw invalid('The EndDate you specify must come after the StartDate.');
  }
  const flexibleWindowMinutes = windowOf(request.FlexibleTimeWindow);
  return {
    expression: request.ScheduleExpression,
    timezone,
    ...(flexibleWindowMinutes === undefined ? {} : { flexibleWindowMinutes }),
    ...(startAt === undefined ? {} : { startAt }),
    ...(endAt === undefined ? {} : { endAt }),
    ...(typeof request.Description === 'string' ? { description: request.Description } : {}),
    ...(typeof request.KmsKeyArn === 'string' ? { kmsKeyArn: request.KmsKeyArn } : {}),
    state: request.State ?? 'ENABLED',
    target: targetOf(request.Target),
    actionAfterCompletion: request.ActionAfterCompletion ?? 'NONE',
  };
}

/** AWS says no more than `text`; the reason follows it here. */
function refused(text: string, check: () => void): void {
  try {
    check();
  } catch (error) {
    if (error instanceof ScheduleExpressionError) throw invalid(`${text} ${error.message}`);
    throw error;
  }
}

function windowOf(window: ScheduleRequest['FlexibleTimeWindow']): number | undefined {
  const minutes = window.MaximumWindowInMinutes ?? undefined;
  if (window.Mode === 'FLEXIBLE' && minutes === undefined) {
    throw invalid('MaximumWindowInMinutes must be provided when FlexibleTimeWindow Mode is FLEXIBLE.');
  }
  if (window.Mode === 'OFF' && minutes !== undefined) {
    throw invalid('MaximumWindowInMinutes must not be provided when FlexibleTimeWindow Mode is OFF.');
  }
  return minutes;
}

function targetOf(target: ScheduleRequest['Target']): Target {
  const { MaximumEventAgeInSeconds, MaximumRetryAttempts } = target.RetryPolicy ?? {};
  const kept: Target = {
    Arn: target.Arn,
    RoleArn: target.RoleArn,
    ...(typeof target.Input === 'string' ? { Input: target.Input } : {}),
    ...(typeof target.DeadLetterConfig?.Arn === 'string'
      ? { DeadLetterConfig: { Arn: target.DeadLetterConfig.Arn } }
      : {}),
    RetryPolicy: {
      MaximumEventAgeInSeconds: MaximumEventAgeInSeconds ?? DEFAULT_EVENT_AGE_SECONDS,
      MaximumRetryAttempts: MaximumRetryAttempts ?? DEFAULT_RETRY_ATTEMPTS,
    },
  };
  checkTarget(kept);
  return kept;
}

function milliseconds(epochSeconds: number | null | undefined): number | undefined {
  return epochSeconds === null || epochSeconds === undefined ? undefined : Math.round(epochSeconds * 1000);
}

/** GetSchedule's answer. */
export function describeSchedule(schedule: Schedule): JsonObject {
  const { flexibleWindowMinutes } = schedule;
  return {
    Arn: schedule.arn,
    GroupName: schedule.group,
    Name: schedule.name,
    ScheduleExpression: schedule.expression,
    ScheduleExpressionTimezone: schedule.timezone,
    State: schedule.state,
    CreationDate: seconds(schedule.createdAt),
    LastModificationDate: seconds(schedule.modifiedAt),
    Target: schedule.target as unknown as Json,
    FlexibleTimeWindow:
      flexibleWindowMinutes === undefined
        ? { Mode: 'OFF' }
        : { Mode: 'FLEXIBLE', MaximumWindowInMinutes: flexibleWindowMinutes },
    ActionAfterCompletion: schedule.actionAfterCompletion,
    ...(schedule.startAt === undefined ? {} : { StartDate: seconds(schedule.startAt) }),
    ...(schedule.endAt === undefined ? {} : { EndDate: seconds(schedule.endAt) }),
    ...(schedule.description === undefined ? {} : { Description: schedule.description }),
    ...(schedule.kmsKeyArn === undefined ? {} : { KmsKeyArn: schedule.kmsKeyArn }),
  };
}
