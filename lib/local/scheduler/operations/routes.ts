/** Where an operation is found: method, path and query parameters, as the service's model binds them. */

export type OperationName =
  | 'CreateSchedule'
  | 'GetSchedule'
  | 'UpdateSchedule'
  | 'DeleteSchedule'
  | 'ListSchedules'
  | 'CreateScheduleGroup'
  | 'GetScheduleGroup'
  | 'DeleteScheduleGroup'
  | 'ListScheduleGroups'
  | 'TagResource'
  | 'UntagResource'
  | 'ListTagsForResource';

interface QueryParameter {
  /** The member of the input that it is. */
  member: string;
  type: 'string' | 'integer' | 'list';
}

interface Route {
  operation: OperationName;
  method: string;
  /** The first segment. */
  path: string;
  /** The member that the second segment is; absent: there is none. */
  label?: string;
  query?: Readonly<Record<string, QueryParameter>>;
}

const string = (member: string): QueryParameter => ({ member, type: 'string' });
const PAGE = {
  NamePrefix: string('NamePrefix'),
  NextToken: string('NextToken'),
  MaxResults: { member: 'MaxResults', type: 'integer' },
} as const;
const GROUP = { groupName: string('GroupName') };
const TOKEN = { clientToken: string('ClientToken') };

export const ROUTES: readonly Route[] = [
  { operation: 'CreateSchedule', method: 'POST', path: 'schedules', label: 'Name' },
  { operation: 'GetSchedule', method: 'GET', path: 'schedules', label: 'Name', query: GROUP },
  { operation: 'UpdateSchedule', method: 'PUT', path: 'schedules', label: 'Name' },
  {
    operation: 'DeleteSchedule',
    method: 'DELETE',
    path: 'schedules',
    label: 'Name',
    query: { ...GROUP, ...TOKEN },
  },
  {
    operation: 'ListSchedules',
    method: 'GET',
    path: 'schedules',
    query: { ...PAGE, ScheduleGroup: string('GroupName'), State: string('State') },
  },
  { operation: 'CreateScheduleGroup', method: 'POST', path: 'schedule-groups', label: 'Name' },
  { operation: 'GetScheduleGroup', method: 'GET', path: 'schedule-groups', label: 'Name' },
  {
    operation: 'DeleteScheduleGroup',
    method: 'DELETE',
    path: 'schedule-groups',
    label: 'Name',
    query: TOKEN,
  },
  { operation: 'ListScheduleGroups', method: 'GET', path: 'schedule-groups', query: PAGE },
  { operation: 'TagResource', method: 'POST', path: 'tags', label: 'ResourceArn' },
  {
    operation: 'UntagResource',
    method: 'DELETE',
    path: 'tags',
    label: 'ResourceArn',
    query: { TagKeys: { member: 'TagKeys', type: 'list' } },
  },
  { operation: 'ListTagsForResource', method: 'GET', path: 'tags', label: 'ResourceArn' },
];
