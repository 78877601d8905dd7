/**
 * The event history of one execution: numbers, timestamps and the limit. Numbers are consecutive and go on after a
 * redrive. Nothing is kept here; every event goes to the host at once.
 */

import { MAX_HISTORY_EVENTS } from '../../../asl/limits.ts';
import type { JsonObject } from '../../../blueprint/json.ts';
import type { ExecutionHost, ExecutionStart, HistoryEvent } from '../contract.ts';
import { STATES, StateError } from './failure.ts';

export type DetailsKey = `${string}EventDetails`;

export interface History {
  /** Id of the newest event. */
  readonly lastId: number;
  /**
   * Records an event and returns its id. Throws a fatal StateError where only the last place is left, which is kept for
   * the event that ends the execution (`final`).
   */
  record(
    type: string,
    previous: number,
    details?: readonly [DetailsKey, JsonObject],
    final?: boolean,
  ): number;
}

/** @param start its `lastEventId` is where the numbers go on */
export function createHistory(start: ExecutionStart, host: ExecutionHost): History {
  let lastId = start.lastEventId;
  return {
    get lastId() {
      return lastId;
    },
    record(type, previous, details, final = false) {
      if (start.type === 'STANDARD' && !final && lastId + 1 >= MAX_HISTORY_EVENTS) {
        throw new StateError(
          STATES.RUNTIME,
          `The execution reached the maximum number of history events (${MAX_HISTORY_EVENTS}).`,
        );
      }
      lastId += 1;
      const event: HistoryEvent = {
        id: lastId,
        previousEventId: previous,
        timestamp: host.clock.now() / 1000,
        type,
      };
      if (details !== undefined) event[details[0]] = details[1];
      host.record(event);
      return lastId;
    },
  };
}
