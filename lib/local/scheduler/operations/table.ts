/** Which function carries out which operation. */
import type { Operation } from '../context.ts';
import { createScheduleGroup, deleteScheduleGroup, getScheduleGroup, listScheduleGroups } from './groups.ts';
import type { OperationName } from './routes.ts';
import { createSchedule, deleteSchedule, getSchedule, listSchedules, updateSchedule } from './schedules.ts';
import { listTagsForResource, tagResource, untagResource } from './tags.ts';

export const OPERATIONS: Readonly<Record<OperationName, Operation>> = {
  CreateSchedule: createSchedule,
  GetSchedule: getSchedule,
  UpdateSchedule: updateSchedule,
  DeleteSchedule: deleteSchedule,
  ListSchedules: listSchedules,
  CreateScheduleGroup: createScheduleGroup,
  GetScheduleGroup: getScheduleGroup,
  DeleteScheduleGroup: deleteScheduleGroup,
  ListScheduleGroups: listScheduleGroups,
  TagResource: tagResource,
  UntagResource: untagResource,
  ListTagsForResource: listTagsForResource,
};
