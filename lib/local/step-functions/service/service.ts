/**
 * The local Step Functions service: opens its data folder, runs executions and answers the API.
 *
 * Nothing here listens on a socket: `handle` is given to whoever does, behind the guard of `lib/local/guard.ts`.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { JsonObject } from '../../../blueprint/json.ts';
import { SYSTEM_CLOCK } from '../../system-clock.ts';
import type { Clock, LambdaRequest, LambdaResponse, RoleUse } from '../contract.ts';
import { runExecution } from '../interpreter/run.ts';
import { createAnnouncer } from './announcer.ts';
import type { ServiceContext } from './context.ts';
import { serve } from './http.ts';
import { finishDeletion } from './operations/delete-state-machine.ts';
import { startExecution } from './operations/start-execution.ts';
import { OPERATIONS } from './operations/table.ts';
import { recoverExecutions } from './recovery.ts';
import { redriveStanding } from './redrive-standing.ts';
import { createRunner } from './runner.ts';
import type { StatusChangeEvent } from './status-event.ts';
import { createCheckpointWriter } from './storage/checkpoints.ts';
import { openExecutionStore } from './storage/executions.ts';
import { createLogWriter, makeFolder } from './storage/files.ts';
import { createHistoryStore } from './storage/history.ts';
import { openMachineStore } from './storage/machines.ts';
import { openMapRunStore } from './storage/map-runs.ts';
import { createTurns } from './turns.ts';

export interface StepFunctionsOptions {
  /** Folder of its own, made with mode 0700. One process at a time. */
  dataDir: string;
  invokeLambda(request: LambdaRequest): Promise<LambdaResponse>;
  /** Hears every start and end of a STANDARD execution that is no map run's child. */
  onStatusChange(event: StatusChangeEvent): void | Promise<void>;
  /** Hears what executions do with the rights of their machine's role. Default: nobody does. */
  onRoleUse?(roleArn: string, use: RoleUse, stateMachineArn: string): void;
  /** Default: the system's. */
  clock?: Clock;
  /** In [0, 1). Default: Math.random. */
  random?: () => number;
  /** Default: `us-east-1`. */
  region?: string;
  /** Default: `000000000000`. */
  accountId?: string;
  /** Hears of defects and of events that could not be delivered. Default: standard error. */
  onFailure?(error: unknown): void;
}

export interface StepFunctionsService {
  /** Answers one request; never rejects. */
  handle(request: IncomingMessage, response: ServerResponse): Promise<void>;
  /** StartExecution for who needs no HTTP: the scheduler. Throws `ApiError`. */
  startExecution(request: JsonObject): Promise<JsonObject>;
  /** Leaves running executions to be found as aborted at the next start; resolves when nothing is left running. */
  close(): Promise<void>;
}

/** Opens the folder, closes what an earlier process left running, and is ready to answer. */
export async function createStepFunctions(options: StepFunctionsOptions): Promise<StepFunctionsService> {
  const { dataDir, clock = SYSTEM_CLOCK, random = Math.random } = options;
  const place = { region: options.region ?? 'us-east-1', accountId: options.accountId ?? '000000000000' };
  const onFailure = options.onFailure ?? ((error: unknown) => console.error('Step Functions:', error));
  await makeFolder(dataDir);
  const writer = createLogWriter();
  const machines = await openMachineStore(dataDir);
  const executions = await openExecutionStore(dataDir, writer);
  const mapRuns = await openMapRunStore(dataDir, writer);
  const history = createHistoryStore(writer);
  const checkpoints = createCheckpointWriter(
    (path) => writer.flush(path.replace(/checkpoint$/, 'history')),
    onFailure,
  );
  const announcer = createAnnouncer({
    place,
    clock,
    onFailure,
    onStatusChange: (event) => options.onStatusChange(event),
  });
  const turns = createTurns();
  const recovered = await recoverExecutions({ clock, executions, history, mapRuns, writer });
  const runner = createRunner({
    place,
    clock,
    random,
    machines,
    executions,
    history,
    checkpoints,
    mapRuns,
    writer,
    turns,
    announcer,
    invokeLambda: (request) => options.invokeLambda(request),
    onRoleUse: (...used) => options.onRoleUse?.(...used),
    runExecution,
  });
  const background = new Set<Promise<void>>();
  const context: ServiceContext = {
    place,
    clock,
    machines,
    executions,
    history,
    mapRuns,
    runner,
    turns,
    inBackground(work) {
      const running = work()
        .catch(onFailure)
        .then(() => {
          background.delete(running);
        });
      background.add(running);
    },
  };
  for (const machine of machines.all()) {
    if (machine.status === 'DELETING') context.inBackground(() => finishDeletion(context, machine.arn));
  }
  for (const record of recovered) {
    if (record.mapRunArn !== undefined || record.type === 'EXPRESS') continue;
    const machineStatus = machines.get(record.stateMachineArn)?.status;
    announcer.announce(record, redriveStanding(record, machineStatus, clock.now()));
  }
  return {
    startExecution: (request) => startExecution(context, request),
    handle: (request, response) =>
      serve(request, response, (operation, input) => OPERATIONS.get(operation)?.(context, input), onFailure),
    async close() {
      await runner.close();
      await Promise.all(background);
      await announcer.settle();
      await writer.close();
    },
  };
}
