/**
 * Handler of the call-tool function: a task of a state machine, or one of the endpoint's questions about the downstream
 * servers. It alone connects to them.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { SFNClient } from '@aws-sdk/client-sfn';
import type { Task } from '../../lib/compile/protocol.ts';
import type { Pool } from '../../lib/downstream/pool.ts';
import { answerDryRun } from '../../lib/steps/dry-run.ts';
import {
  DEFAULT_STEPS_LIMITS,
  type StepsEnvironment,
  type StepsLimits,
} from '../../lib/steps/environment.ts';
import { createExecutions } from '../../lib/steps/executions.ts';
import { answerCatalog, answerTry } from '../../lib/steps/explore.ts';
import type { ExploreRequest } from '../../lib/steps/explore-protocol.ts';
import { leavingError } from '../../lib/steps/failure.ts';
import type { Inspect } from '../../lib/steps/inspect.ts';
import { createDownstream } from '../../lib/steps/mediator.ts';
import { runTask } from '../../lib/steps/run-task.ts';
import type { Sender } from '../../lib/store/lazy-client.ts';
import type { Store } from '../../lib/store/store.ts';
import { faultFields } from '../../lib/telemetry/fault-fields.ts';
import { type LogEntry, SILENT, type Telemetry } from '../../lib/telemetry/telemetry.ts';

export interface CallToolDependencies {
  store: Store;
  pool: Pool;
  sfn: Sender<SFNClient>;
  /** Of the pool's configuration; the endpoint reads the catalog that is stored under it. */
  serversHash: string;
  /**
   * On one machine: this process's start. A lease of another start is void, for one engine alone uses a data folder. On AWS
   * absent: there only time voids a lease.
   */
  boot?: string;
  /** Those that differ from DEFAULT_STEPS_LIMITS. */
  limits?: Partial<StepsLimits>;
  now(): number;
  log(entry: LogEntry): void;
  /** Default: none. */
  telemetry?: Telemetry;
  /** What a task's answer shows of its value. Default: nothing. */
  inspect?: Inspect;
}

/** What a handler uses of Lambda's context object. */
export interface InvocationContext {
  getRemainingTimeInMillis(): number;
}

export type CallToolHandler = (event: unknown, context: InvocationContext) => Promise<unknown>;

export function createCallTool(dependencies: CallToolDependencies): CallToolHandler {
  const { store, pool, sfn, boot, now } = dependencies;
  const container = boot ?? randomUUID();
  const shared: Omit<StepsEnvironment, 'remainingMs'> = {
    store,
    downstream: createDownstream(pool, store),
    clock: { now, sleep: (ms, signal) => sleep(ms, undefined, signal === undefined ? {} : { signal }) },
    random: Math.random,
    newOwner: () => `${container}/${randomUUID()}`,
    isDeadOwner: (owner) => boot !== undefined && !owner.startsWith(`${boot}/`),
    executions: createExecutions(sfn),
    limits: { ...DEFAULT_STEPS_LIMITS, ...dependencies.limits },
    inspect: dependencies.inspect ?? { mode: 'none' },
    telemetry: dependencies.telemetry ?? SILENT,
    log: (entry) => dependencies.log(entry),
    logger: {
      info: (message, fields) =>
        dependencies.log({ level: 'info', message, fields: JSON.stringify(fields ?? {}) }),
      warn: (message, fields) =>
        dependencies.log({ level: 'warn', message, fields: JSON.stringify(fields ?? {}) }),
    },
  };
  const answer = (request: Task | ExploreRequest, context: InvocationContext): Promise<unknown> => {
    switch (request.op) {
      case 'catalog':
        return answerCatalog(pool, store, dependencies.serversHash, request, now);
      case 'try':
        return answerTry(pool, shared, request);
      case 'dryRun':
        return answerDryRun(pool, store, request, now);
      default:
        return runTask(request, { ...shared, remainingMs: () => context.getRemainingTimeInMillis() });
    }
  };
  return async (event, context) => {
    pool.dropIdle();
    const request = event as Task | ExploreRequest;
    try {
      return await answer(request, context);
    } catch (error) {
      const leaving = leavingError(error);
      if (leaving !== error) {
        const op = String((event as { op?: unknown } | null)?.op);
        dependencies.log({ level: 'error', event: 'call-tool-failed', op, ...faultFields(error) });
      }
      throw leaving;
    }
  };
}
