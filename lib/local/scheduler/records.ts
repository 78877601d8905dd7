/** What the scheduler keeps: groups and schedules, as the API has them, with dates as epoch milliseconds. */

export const DEFAULT_GROUP = 'default';

export interface Tag {
  Key: string;
  Value: string;
}

export interface Group {
  arn: string;
  name: string;
  createdAt: number;
  modifiedAt: number;
  tags: Tag[];
  /** Of the request that created it: a repeat with the same token is answered, not refused. */
  request?: AcceptedRequest;
}

export interface AcceptedRequest {
  token: string;
  /** Hash of everything but the token. */
  hash: string;
}

export interface Target {
  Arn: string;
  RoleArn: string;
  Input?: string | undefined;
  RetryPolicy: { MaximumEventAgeInSeconds: number; MaximumRetryAttempts: number };
  DeadLetterConfig?: { Arn?: string | undefined } | undefined;
}

/** What a request says of a schedule; an update replaces all of it. */
export interface ScheduleDefinition {
  expression: string;
  timezone: string;
  flexibleWindowMinutes?: number;
  startAt?: number;
  endAt?: number;
  description?: string;
  state: 'ENABLED' | 'DISABLED';
  kmsKeyArn?: string;
  target: Target;
  actionAfterCompletion: 'NONE' | 'DELETE';
}

export interface Schedule extends ScheduleDefinition {
  arn: string;
  group: string;
  name: string;
  createdAt: number;
  modifiedAt: number;
  /** Of the latest request that created or changed it. */
  request?: AcceptedRequest;
  /**
   * A rate counts from here: the start date, else when the schedule was created or its expression, time zone or start
   * date last changed, or it was enabled again.
   */
  anchor: number;
  /** Occurrences up to here have been handed over to delivery, dropped, or were before the schedule's time. */
  doneUntil: number;
  /** Occurrences that are being delivered: due, and neither accepted by the target nor given up. */
  pending: number[];
}

export function scheduleKey(group: string, name: string): string {
  return `${group}/${name}`;
}
