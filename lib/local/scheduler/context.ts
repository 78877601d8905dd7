/** What every operation of the scheduler works with. */
import type { JsonObject } from '../../blueprint/json.ts';
import type { Clock } from '../step-functions/contract.ts';
import type { Turns } from '../step-functions/service/turns.ts';
import type { RawRequest } from './requests.ts';
import type { SchedulerStore } from './storage.ts';

export interface Place {
  region: string;
  accountId: string;
}

export interface SchedulerContext {
  place: Place;
  clock: Clock;
  store: SchedulerStore;
  /** Changes of one schedule, or of the groups, one after the other. */
  turns: Turns;
  /** Client tokens of deletions of late: what is gone has no record to hold one. */
  deletions: Set<string>;
  /** Tells the delivery that schedules have changed. */
  changed(): void;
}

export type Operation = (context: SchedulerContext, input: RawRequest) => Promise<JsonObject>;

/** Dates are epoch seconds on the wire. */
export function seconds(epochMs: number): number {
  return epochMs / 1000;
}

export function groupArn(place: Place, group: string): string {
  return `arn:aws:scheduler:${place.region}:${place.accountId}:schedule-group/${group}`;
}

export function scheduleArn(place: Place, group: string, name: string): string {
  return `arn:aws:scheduler:${place.region}:${place.accountId}:schedule/${group}/${name}`;
}

/** The turn in which groups are made and go, and schedules are put into them. */
export const GROUPS_TURN = 'groups';
