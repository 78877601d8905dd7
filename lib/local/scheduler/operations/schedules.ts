/** CreateSchedule, GetSchedule, UpdateSchedule, DeleteSchedule, ListSchedules. */
import type { JsonObject } from '../../../blueprint/json.ts';
import { conflict, missing } from '../api-error.ts';
import { GROUPS_TURN, type Operation, type SchedulerContext, scheduleArn, seconds } from '../context.ts';
import { definitionOf, describeSchedule } from '../definition.ts';
import { acceptedRequest, isRepeat, rememberDeletion, wasDeleted } from '../idempotency.ts';
import { pageOf } from '../pages.ts';
import { DEFAULT_GROUP, type Schedule, type ScheduleDefinition, scheduleKey } from '../records.ts';
import { REQUESTS, readRequest } from '../requests.ts';

export const createSchedule: Operation = async (context, input) => {
  const request = readRequest(REQUESTS.schedule, input);
  const definition = definitionOf(request);
  const accepted = acceptedRequest('CreateSchedule', request);
  const group = request.GroupName ?? DEFAULT_GROUP;
  return inTurn(context, group, request.Name, async (existing) => {
    if (existing !== undefined) {
      if (isRepeat(accepted, existing.request)) return { ScheduleArn: existing.arn };
      throw conflict(`Schedule ${request.Name} already exists.`);
    }
    if (context.store.groups.get(group) === undefined) throw missing('Schedule group', group);
    const now = context.clock.now();
    const schedule: Schedule = {
      ...definition,
      arn: scheduleArn(context.place, group, request.Name),
      group,
      name: request.Name,
      createdAt: now,
      modifiedAt: now,
      anchor: definition.startAt ?? now,
      doneUntil: now - 1,
      pending: [],
      ...(accepted === undefined ? {} : { request: accepted }),
    };
    await context.store.schedules.save(schedule);
    context.changed();
    return { ScheduleArn: schedule.arn };
  });
};

/** Replaces all that a request can say; what it leaves out gets its default. */
export const updateSchedule: Operation = async (context, input) => {
  const request = readRequest(REQUESTS.schedule, input);
  const definition = definitionOf(request);
  const accepted = acceptedRequest('UpdateSchedule', request);
  const group = request.GroupName ?? DEFAULT_GROUP;
  return inTurn(context, group, request.Name, async (existing) => {
    if (existing === undefined) throw missing('Schedule', request.Name);
    if (isRepeat(accepted, existing.request)) return { ScheduleArn: existing.arn };
    const now = context.clock.now();
    const restarts = restartsClock(existing, definition);
    const schedule: Schedule = {
      ...definition,
      arn: existing.arn,
      group,
      name: existing.name,
      createdAt: existing.createdAt,
      modifiedAt: now,
      anchor: restarts ? (definition.startAt ?? now) : existing.anchor,
      doneUntil: restarts ? now - 1 : existing.doneUntil,
      pending: restarts || definition.state === 'DISABLED' ? [] : existing.pending,
      ...(accepted === undefined ? {} : { request: accepted }),
    };
    await context.store.schedules.save(schedule);
    context.changed();
    return { ScheduleArn: schedule.arn };
  });
};

/** Whether occurrences are counted anew: when they come has changed, or there were none for a while. */
function restartsClock(before: ScheduleDefinition, after: ScheduleDefinition): boolean {
  return (
    before.expression !== after.expression ||
    before.timezone !== after.timezone ||
    before.startAt !== after.startAt ||
    (before.state === 'DISABLED' && after.state === 'ENABLED')
  );
}

export const getSchedule: Operation = async (context, input) => {
  const { Name, GroupName } = readRequest(REQUESTS.oneSchedule, input);
  const schedule = context.store.schedules.get(scheduleKey(GroupName ?? DEFAULT_GROUP, Name));
  if (schedule === undefined) throw missing('Schedule', Name);
  return describeSchedule(schedule);
};

export const deleteSchedule: Operation = async (context, input) => {
  const { Name, GroupName, ClientToken } = readRequest(REQUESTS.oneSchedule, input);
  const group = GroupName ?? DEFAULT_GROUP;
  const key = scheduleKey(group, Name);
  return inTurn(context, group, Name, async (existing) => {
    if (existing === undefined) {
      if (wasDeleted(context, key, ClientToken)) return {};
      throw missing('Schedule', Name);
    }
    await context.store.schedules.remove(key);
    rememberDeletion(context, key, ClientToken);
    context.changed();
    return {};
  });
};

export const listSchedules: Operation = async (context, input) => {
  const request = readRequest(REQUESTS.listSchedules, input);
  const { GroupName, NamePrefix, State } = request;
  if (typeof GroupName === 'string' && context.store.groups.get(GroupName) === undefined) {
    throw missing('Schedule group', GroupName);
  }
  const found = context.store.schedules
    .all()
    .filter(
      (schedule) =>
        (typeof GroupName !== 'string' || schedule.group === GroupName) &&
        (typeof NamePrefix !== 'string' || schedule.name.startsWith(NamePrefix)) &&
        (typeof State !== 'string' || schedule.state === State),
    );
  const query = ['schedules', GroupName ?? null, NamePrefix ?? null, State ?? null];
  const { page, ...next } = pageOf(found, ({ group, name }) => scheduleKey(group, name), request, query);
  return { Schedules: page.map(summary), ...next };
};

function summary(schedule: Schedule): JsonObject {
  return {
    Arn: schedule.arn,
    Name: schedule.name,
    GroupName: schedule.group,
    State: schedule.state,
    CreationDate: seconds(schedule.createdAt),
    LastModificationDate: seconds(schedule.modifiedAt),
    Target: { Arn: schedule.target.Arn },
  };
}

/** A change of one schedule, while its group neither goes nor comes. */
function inTurn(
  { turns, store }: SchedulerContext,
  group: string,
  name: string,
  change: (existing: Schedule | undefined) => Promise<JsonObject>,
): Promise<JsonObject> {
  return turns.take(GROUPS_TURN, () => change(store.schedules.get(scheduleKey(group, name))));
}
