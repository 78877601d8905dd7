/**
 * The local EventBridge Scheduler: keeps schedules and answers the API.
 *
 * Nothing here listens on a socket: `handle` is given to whoever does, behind the guard of `lib/local/guard.ts`.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from '../step-functions/contract.ts';
import { createTurns } from '../step-functions/service/turns.ts';
import { SYSTEM_CLOCK } from '../system-clock.ts';
import type { SchedulerContext } from './context.ts';
import { serve } from './http.ts';
import { ensureGroup } from './operations/groups.ts';
import { OPERATIONS } from './operations/table.ts';
import { DEFAULT_GROUP } from './records.ts';
import { openSchedulerStore } from './storage.ts';

export interface SchedulerOptions {
  /** Folder of its own, made with mode 0700. One process at a time. */
  dataDir: string;
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
}

export async function createScheduler(options: SchedulerOptions): Promise<SchedulerService> {
  const { clock = SYSTEM_CLOCK } = options;
  const onFailure = options.onFailure ?? ((error: unknown) => console.error('Scheduler:', error));
  const context: SchedulerContext = {
    place: { region: options.region ?? 'us-east-1', accountId: options.accountId ?? '000000000000' },
    clock,
    store: await openSchedulerStore(options.dataDir),
    turns: createTurns(),
    deletions: new Set(),
    changed: () => undefined,
  };
  for (const name of [DEFAULT_GROUP, ...(options.groups ?? [])]) await ensureGroup(context, name);
  return {
    handle: (request, response) =>
      serve(request, response, (operation, input) => OPERATIONS[operation](context, input), onFailure),
  };
}
