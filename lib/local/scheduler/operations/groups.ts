/** CreateScheduleGroup, GetScheduleGroup, DeleteScheduleGroup, ListScheduleGroups. */
import type { JsonObject } from '../../../blueprint/json.ts';
import { conflict, invalid, missing } from '../api-error.ts';
import { GROUPS_TURN, groupArn, type Operation, type SchedulerContext, seconds } from '../context.ts';
import { acceptedRequest, isRepeat, rememberDeletion, wasDeleted } from '../idempotency.ts';
import { pageOf } from '../pages.ts';
import { DEFAULT_GROUP, type Group, scheduleKey } from '../records.ts';
import { REQUESTS, readRequest } from '../requests.ts';

/** Makes a group that is there from the start; one that exists stays as it is. */
export async function ensureGroup(
  { store, place, clock }: Pick<SchedulerContext, 'store' | 'place' | 'clock'>,
  name: string,
): Promise<void> {
  readRequest(REQUESTS.oneGroup, { Name: name });
  if (store.groups.get(name) !== undefined) return;
  const now = clock.now();
  await store.groups.save({ arn: groupArn(place, name), name, createdAt: now, modifiedAt: now, tags: [] });
}

export const createScheduleGroup: Operation = async (context, input) => {
  const request = readRequest(REQUESTS.createGroup, input);
  const accepted = acceptedRequest('CreateScheduleGroup', request);
  return context.turns.take(GROUPS_TURN, async () => {
    const existing = context.store.groups.get(request.Name);
    if (existing !== undefined) {
      if (isRepeat(accepted, existing.request)) return { ScheduleGroupArn: existing.arn };
      throw conflict(`Schedule group ${request.Name} already exists.`);
    }
    const now = context.clock.now();
    const group: Group = {
      arn: groupArn(context.place, request.Name),
      name: request.Name,
      createdAt: now,
      modifiedAt: now,
      tags: request.Tags ?? [],
      ...(accepted === undefined ? {} : { request: accepted }),
    };
    await context.store.groups.save(group);
    return { ScheduleGroupArn: group.arn };
  });
};

export const getScheduleGroup: Operation = async (context, input) => {
  const { Name } = readRequest(REQUESTS.oneGroup, input);
  const group = context.store.groups.get(Name);
  if (group === undefined) throw missing('Schedule group', Name);
  return describe(group);
};

/** The group goes with all its schedules. AWS takes a while over that (state `DELETING`); here it is done when it is answered. */
export const deleteScheduleGroup: Operation = async (context, input) => {
  const { Name, ClientToken } = readRequest(REQUESTS.oneGroup, input);
  if (Name === DEFAULT_GROUP) throw invalid('The default schedule group cannot be deleted.');
  return context.turns.take(GROUPS_TURN, async () => {
    const { groups, schedules } = context.store;
    if (groups.get(Name) === undefined) {
      if (wasDeleted(context, Name, ClientToken)) return {};
      throw missing('Schedule group', Name);
    }
    for (const { group, name } of schedules.all()) {
      if (group === Name) await schedules.remove(scheduleKey(group, name));
    }
    await groups.remove(Name);
    rememberDeletion(context, Name, ClientToken);
    context.changed();
    return {};
  });
};

export const listScheduleGroups: Operation = async (context, input) => {
  const request = readRequest(REQUESTS.listGroups, input);
  const { NamePrefix } = request;
  const found = context.store.groups
    .all()
    .filter(({ name }) => typeof NamePrefix !== 'string' || name.startsWith(NamePrefix));
  const { page, ...next } = pageOf(found, ({ name }) => name, request, ['groups', NamePrefix ?? null]);
  return { ScheduleGroups: page.map(describe), ...next };
};

function describe(group: Group): JsonObject {
  return {
    Arn: group.arn,
    Name: group.name,
    State: 'ACTIVE',
    CreationDate: seconds(group.createdAt),
    LastModificationDate: seconds(group.modifiedAt),
  };
}
