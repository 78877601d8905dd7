/**
 * The local EventBridge Scheduler: keeps schedules, answers the API and delivers what is due.
 *
 * Nothing here listens on a socket: `handle` is given to whoever does, behind the guard of `lib/local/guard.ts`.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from '../step-functions/contract.ts';
import { createTurns } from '../step-functions/service/turns.ts';
import { WALL_CLOCK } from '../system-clock.ts';
import type { SchedulerContext } from './context.ts';
import { startAlarms } from './delivery/alarms.ts';
import type { Targets } from './delivery/deliver.ts';
import { serve } from './http.ts';
import { ensureGroup } from './operations/groups.ts';
import { OPERATIONS } from './operations/table.ts';
import { DEFAULT_GROUP } from './records.ts';
import { openSchedulerStore } from './storage.ts';

export interface SchedulerOptions {
  /** Folder of its own, made with mode 0700. One process at a time. */
  dataDir: string;
  /** Where invocations go. */
  targets: Targets;
  /** Groups that are there from the start, beside `default`. */
  groups?: readonly string[];
  /** Default: the system's. */
  clock?: Clock;
  /** Default: `us-east-1`. */
  region?: string;
  /** Default: `000000000000`. */
  accountId?: string;
  /** Hears of defects and of occurrences that were given up. Default: standard error. */
  onFailure?(error: unknown): void;
}

export interface SchedulerService {
  /** Answers one request; never rejects. */
  handle(request: IncomingMessage, response: ServerResponse): Promise<void>;
  /**
   * Resolves when nothing is left to do before the clock moves on: all that is due has been handed over, and every delivery
   * has been made or waits for its next attempt. For whoever moves the clock.
   */
  idle(): Promise<void>;
  /** What is not delivered yet is left to the next start. */
  close(): Promise<void>;
}

export async function createScheduler(options: SchedulerOptions): Promise<SchedulerService> {
  const { clock = WALL_CLOCK } = options;
  const onFailure = options.onFailure ?? ((error: unknown) => console.error('Scheduler:', error));
  const store = await openSchedulerStore(options.dataDir);
  const turns = createTurns();
  const context: SchedulerContext = {
    place: { region: options.region ?? 'us-east-1', accountId: options.accountId ?? '000000000000' },
    clock,
    store,
    turns,
    deletions: new Set(),
    changed: () => alarms.changed(),
  };
  for (const name of [DEFAULT_GROUP, ...(options.groups ?? [])]) await ensureGroup(context, name);
  const alarms = startAlarms({ clock, store, turns, targets: options.targets, onFailure });
  return {
    handle: (request, response) =>
      serve(request, response, (operation, input) => OPERATIONS[operation](context, input), onFailure),
    idle: () => alarms.idle(),
    close: () => alarms.close(),
  };
}
