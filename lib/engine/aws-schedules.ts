/**
 * The schedules themselves, in EventBridge Scheduler. A record says how one of an agent's schedules is to be; here it is made so. What
 * the stack made is only ever switched off here, everything else about it is kept.
 */
import type { ScheduleState } from '@aws-sdk/client-scheduler';
import { cleanText } from '../downstream/clean-text.ts';
import type { ScheduleRecord } from '../store/records.ts';
import { getScheduleRecord } from '../store/schedules.ts';
import type { EngineEnvironment } from './environment.ts';
import { EngineError } from './errors.ts';
import {
  actionAfterCompletion,
  SCHEDULE_RETRY_POLICY,
  SCHEDULE_TARGET_ARN,
  SCHEDULE_WINDOW,
  scheduleTargetInput,
} from './schedule-target.ts';

/** Loaded by the first that needs it: most requests have nothing to do with schedules. */
const commands = () => import('@aws-sdk/client-scheduler');

/** The SDK's exceptions are told by their names. */
function isNamed(error: unknown, name: string): error is Error {
  return error instanceof Error && error.name === name;
}

const NOT_FOUND = 'ResourceNotFoundException';

/** Times that what was made is found to be out of date. */
const TRIES = 5;

/**
 * Makes the schedule as its record says; one that changes meanwhile is made as it is then, so the last writer of the record is also
 * the last of the schedule.
 * @throws EngineError Invalid (Scheduler refuses it), LimitExceeded, Conflict, Unavailable
 */
export async function applySchedule(env: EngineEnvironment, record: ScheduleRecord): Promise<void> {
  let wanted = record;
  for (let tries = 0; tries < TRIES; tries += 1) {
    if (wanted.deletedAt === undefined) await told(() => makeSchedule(env, wanted));
    else await removeSchedule(env, wanted.awsName);
    const current = await getScheduleRecord(env.store, wanted.workflow, wanted.awsName);
    if (current === undefined || current.version === wanted.version) return;
    // Counts of runs change nothing about the schedule, but who changed what is not worth telling apart.
    wanted = current;
  }
  throw new EngineError(
    'Conflict',
    `schedule "${record.name}" is being changed by others; read it and try again`,
  );
}

/** Deletes the schedule; one that is gone already is as good. @throws EngineError Unavailable */
export async function removeSchedule(env: EngineEnvironment, awsName: string): Promise<void> {
  const { groupName } = env.config.schedules;
  const { DeleteScheduleCommand } = await commands();
  await told(async () => {
    try {
      await env.scheduler.send(new DeleteScheduleCommand({ Name: awsName, GroupName: groupName }));
    } catch (error) {
      if (!isNamed(error, NOT_FOUND)) throw error;
    }
  });
}

/** Switches a schedule off and keeps all else: UpdateSchedule resets whatever a request leaves out. */
export async function switchOff(env: EngineEnvironment, awsName: string): Promise<void> {
  const { GetScheduleCommand, UpdateScheduleCommand } = await commands();
  const name = { Name: awsName, GroupName: env.config.schedules.groupName };
  const known = await env.scheduler.send(new GetScheduleCommand(name)).catch((error: unknown) => {
    // A one-time schedule that has fired, or one that was deleted.
    if (isNamed(error, NOT_FOUND)) return undefined;
    throw error;
  });
  if (known === undefined || known.State === 'DISABLED') return;
  const { ScheduleExpression, ScheduleExpressionTimezone, StartDate, EndDate, Description, KmsKeyArn } =
    known;
  const { Target, FlexibleTimeWindow, ActionAfterCompletion } = known;
  await env.scheduler.send(
    new UpdateScheduleCommand({
      ...name,
      ScheduleExpression,
      ScheduleExpressionTimezone,
      StartDate,
      EndDate,
      Description,
      KmsKeyArn,
      Target,
      FlexibleTimeWindow,
      ActionAfterCompletion,
      State: 'DISABLED',
    }),
  );
}

async function makeSchedule(env: EngineEnvironment, record: ScheduleRecord): Promise<void> {
  const { groupName, roleArn } = env.config.schedules;
  const { CreateScheduleCommand, UpdateScheduleCommand } = await commands();
  const state: ScheduleState = record.enabled ? 'ENABLED' : 'DISABLED';
  const input = {
    Name: record.awsName,
    GroupName: groupName,
    Description: `${record.workflow}: ${record.name}`,
    ScheduleExpression: record.expression,
    ScheduleExpressionTimezone: record.timezone,
    State: state,
    FlexibleTimeWindow: SCHEDULE_WINDOW,
    ActionAfterCompletion: actionAfterCompletion(record.expression),
    Target: {
      Arn: SCHEDULE_TARGET_ARN,
      RoleArn: roleArn,
      Input: scheduleTargetInput(record.versionArn),
      RetryPolicy: SCHEDULE_RETRY_POLICY,
    },
  };
  try {
    await env.scheduler.send(new UpdateScheduleCommand(input));
  } catch (error) {
    // A new one, a one-time schedule that has fired, or one that a crash left without.
    if (!isNamed(error, NOT_FOUND)) throw error;
    await env.scheduler.send(new CreateScheduleCommand(input));
  }
}

/** Faults of Scheduler as the caller sees them. */
async function told(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (cause) {
    const options = { cause };
    if (isNamed(cause, 'ValidationException')) {
      throw new EngineError(
        'Invalid',
        `schedule: EventBridge Scheduler refuses it: ${cleanText(cause.message)}`,
        options,
      );
    }
    if (isNamed(cause, 'ServiceQuotaExceededException')) {
      throw new EngineError(
        'LimitExceeded',
        'EventBridge Scheduler has as many schedules as the account may have',
        options,
      );
    }
    if (isNamed(cause, 'ConflictException')) {
      throw new EngineError('Conflict', 'the schedule is being changed at this moment; try again', options);
    }
    if (cause instanceof EngineError) throw cause;
    const name = cause instanceof Error ? cause.name : 'unknown';
    throw new EngineError(
      'Unavailable',
      `EventBridge Scheduler did not answer as it should (${name}); the same call again sets it right`,
      options,
    );
  }
}
