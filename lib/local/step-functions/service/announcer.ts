/**
 * Tells the listener of status changes, in order for each execution, and reports what could not be told.
 *
 * Delivery is best effort, as EventBridge's is: the listener's failure is reported and does not touch the execution. It
 * does not hold up an execution either.
 */
import type { Clock } from '../contract.ts';
import type { Place } from './arns.ts';
import type { RedriveStanding } from './redrive-standing.ts';
import { type StatusChangeEvent, statusChangeEvent } from './status-event.ts';
import type { ExecutionRecord } from './storage/executions.ts';

export interface StatusAnnouncer {
  announce(record: ExecutionRecord, standing: RedriveStanding): void;
  /** Says what went wrong behind the scenes. */
  report(error: unknown): void;
  /** Resolves when everything announced so far was delivered or has failed. */
  settle(): Promise<void>;
}

export function createAnnouncer(options: {
  place: Place;
  clock: Clock;
  onStatusChange: (event: StatusChangeEvent) => void | Promise<void>;
  onFailure: (error: unknown) => void;
}): StatusAnnouncer {
  const last = new Map<string, Promise<void>>();
  return {
    announce(record, standing) {
      const arn = record.executionArn;
      const event = statusChangeEvent(record, standing, options.place, options.clock.now());
      const delivery = (last.get(arn) ?? Promise.resolve())
        .then(() => options.onStatusChange(event))
        .catch(options.onFailure)
        .then(() => {
          if (last.get(arn) === delivery) last.delete(arn);
        });
      last.set(arn, delivery);
    },
    report: options.onFailure,
    async settle() {
      while (last.size > 0) await Promise.all(last.values());
    },
  };
}
