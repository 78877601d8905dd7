/**
 * Runs executions: between the interpreter, which knows how a state machine goes on, and the stores, which remember.
 *
 * What always holds: an execution is stored before its start is answered, and its end is stored before anyone is told;
 * a status event follows the fact it tells of; after `close` nothing more is recorded, so what was running is found
 * as it stood by the next start of the service (recovery.ts).
 */
import { randomUUID } from 'node:crypto';
import type { StateMachine } from '../../../asl/types.ts';
import type { Json } from '../../../blueprint/json.ts';
import { ApiError } from '../../api-error.ts';
import type {
  Checkpoint,
  Clock,
  ExecutionHost,
  ExecutionOutcome,
  ExecutionStart,
  HistoryEvent,
  LambdaRequest,
  LambdaResponse,
  RoleUse,
  RunExecution,
} from '../contract.ts';
import type { StatusAnnouncer } from './announcer.ts';
import { executionAlreadyExists, executionNotRedrivable } from './api-error.ts';
import { executionArn, expressArn, type Place } from './arns.ts';
import { type MapChildRequest, mapChildRecord } from './map-children.ts';
import { asReason, childOf, outcomeOf, reopened, type StopReason } from './outcomes.ts';
import { redriveStanding } from './redrive-standing.ts';
import { findRevision } from './revisions.ts';
import type { CheckpointWriter } from './storage/checkpoints.ts';
import type { ExecutionRecord, ExecutionStore } from './storage/executions.ts';
import type { LogWriter } from './storage/files.ts';
import type { HistoryStore } from './storage/history.ts';
import type { MachineStore } from './storage/machines.ts';
import type { MapRunStore } from './storage/map-runs.ts';
import type { Turns } from './turns.ts';

const REDRIVE_TOKEN_LIFE_MS = 15 * 60 * 1000;
const MAX_REDRIVE_TOKENS = 10;

export interface RunnerParts {
  place: Place;
  clock: Clock;
  random: () => number;
  machines: MachineStore;
  executions: ExecutionStore;
  history: HistoryStore;
  checkpoints: CheckpointWriter;
  mapRuns: MapRunStore;
  writer: LogWriter;
  turns: Turns;
  announcer: StatusAnnouncer;
  invokeLambda(request: LambdaRequest): Promise<LambdaResponse>;
  onRoleUse(roleArn: string, use: RoleUse, stateMachineArn: string): void;
  runExecution: RunExecution;
}

export interface StartRequest {
  /** With or without a version. */
  stateMachineArn: string;
  name?: string;
  /** JSON text, already checked. */
  input: string;
  traceHeader?: string;
}

interface Started {
  executionArn: string;
  startDate: number;
  /** Resolves when the execution has ended and that is stored. */
  done: Promise<ExecutionRecord>;
}

export interface Runner {
  /** Throws the API's errors. A repeated start of a running execution is answered as the first one was. */
  start(request: StartRequest): Promise<Started>;
  /** Ends a running execution; one that has ended stays as it is. Resolves when the end is stored. */
  stop(arn: string, reason: StopReason): Promise<void>;
  /** Goes on with an unsuccessful execution; answers the redrive date. Throws `ExecutionNotRedrivable`. */
  redrive(record: ExecutionRecord, clientToken: string | undefined): Promise<number>;
  /** Stops everything in memory without recording an end. */
  close(): Promise<void>;
}

interface Live {
  record: ExecutionRecord;
  controller: AbortController;
  /** The latest, kept for `close`. */
  checkpoint: Checkpoint | undefined;
  lastEventId: number;
  /** A write of the running record that is under way; the end is written after it, and nothing after the end. */
  saving: Promise<void>;
  ending: boolean;
  done: Promise<ExecutionRecord>;
}

export function createRunner(parts: RunnerParts): Runner {
  const { clock, executions, history, machines, mapRuns, checkpoints, writer } = parts;
  const live = new Map<string, Live>();
  /** Starts that are being stored; a second start of the name waits for the first. */
  const starting = new Map<string, Promise<Live>>();
  let closing = false;

  async function start(request: StartRequest): Promise<Started> {
    const { machine, revision, version } = findRevision(machines, request.stateMachineArn);
    const name = request.name ?? randomUUID();
    const arn =
      machine.type === 'EXPRESS'
        ? expressArn(parts.place, machine.name, name, randomUUID())
        : executionArn(parts.place, machine.name, name);
    const known = executions.find(arn);
    if (known !== undefined) return repeatedStart(arn, request.input);
    const record: ExecutionRecord = {
      executionArn: arn,
      stateMachineArn: machine.arn,
      stateMachineName: machine.name,
      name,
      type: machine.type,
      status: 'RUNNING',
      startDate: clock.now(),
      redriveCount: 0,
      sequence: executions.nextSequence(),
      roleArn: revision.roleArn,
      definition: revision.definition,
      machineUpdateDate: machine.updateDate,
      input: request.input,
      redriveTokens: [],
    };
    if (version !== undefined) record.stateMachineVersionArn = `${machine.arn}:${version}`;
    if (revision.revisionId !== undefined) record.revisionId = revision.revisionId;
    if (request.traceHeader !== undefined) record.traceHeader = request.traceHeader;
    executions.reserve(record);
    const begun = begin(record);
    starting.set(arn, begun);
    try {
      const execution = await begun;
      return { executionArn: arn, startDate: record.startDate, done: execution.done };
    } finally {
      starting.delete(arn);
    }
  }

  async function begin(record: ExecutionRecord): Promise<Live> {
    let definition: string;
    try {
      definition = await machines.getDefinition(record.definition);
      await executions.save(record);
    } catch (error) {
      executions.forget(record.executionArn);
      throw error;
    }
    return launch(record, JSON.parse(definition) as StateMachine, undefined, 0);
  }

  async function repeatedStart(arn: string, input: string): Promise<Started> {
    const execution = (await starting.get(arn)) ?? live.get(arn);
    if (execution === undefined || execution.record.input !== input) throw executionAlreadyExists(arn);
    return { executionArn: arn, startDate: execution.record.startDate, done: execution.done };
  }

  /** The record says RUNNING and is stored (or, for a map's child, will be). */
  function launch(
    record: ExecutionRecord,
    definition: StateMachine,
    resume: Checkpoint | undefined,
    lastEventId: number,
  ): Live {
    if (closing) throw new ApiError('ServiceUnavailable', 'The service is shutting down.', 503);
    const arn = record.executionArn;
    const controller = new AbortController();
    const execution: Live = {
      record,
      controller,
      checkpoint: resume,
      lastEventId,
      saving: Promise.resolve(),
      ending: false,
      done: Promise.resolve(record),
    };
    const begin: ExecutionStart = {
      executionArn: arn,
      name: record.name,
      startTime: new Date(record.startDate).toISOString(),
      roleArn: record.roleArn,
      stateMachineArn: record.stateMachineArn,
      stateMachineName: record.stateMachineName,
      type: record.type,
      definition,
      input: JSON.parse(record.input) as Json,
      redriveCount: record.redriveCount,
      lastEventId,
    };
    if (record.redriveDate !== undefined) begin.redriveTime = new Date(record.redriveDate).toISOString();
    if (resume !== undefined) begin.resume = resume;
    live.set(arn, execution);
    announce(record);
    execution.done = Promise.resolve()
      .then(() => parts.runExecution(begin, hostOf(execution), controller.signal))
      .catch((error: unknown) => interpreterFault(execution, error))
      .then((outcome) => finish(execution, outcome));
    // Whoever needs the end awaits `done`; a failure to store it must not end the process where nobody does.
    execution.done.catch(parts.announcer.report);
    return execution;
  }

  /** `runExecution` rejects for nothing that a state machine can do, so this is a defect, said openly. */
  function interpreterFault(execution: Live, error: unknown): ExecutionOutcome {
    parts.announcer.report(error);
    const details = {
      error: 'States.Runtime',
      cause: 'The local Step Functions interpreter failed; this is a defect of it, not of the state machine.',
    };
    if (!closing) {
      recordEvent(execution, {
        id: execution.lastEventId + 1,
        previousEventId: execution.lastEventId,
        timestamp: clock.now() / 1000,
        type: 'ExecutionFailed',
        executionFailedEventDetails: details,
      });
    }
    return { status: 'FAILED', ...details, checkpoint: execution.checkpoint ?? {} };
  }

  async function finish(execution: Live, outcome: ExecutionOutcome): Promise<ExecutionRecord> {
    const { record } = execution;
    const arn = record.executionArn;
    if (closing) return record;
    execution.ending = true;
    const ended: ExecutionRecord = {
      ...record,
      status: outcome.status,
      stopDate: clock.now(),
      eventCount: execution.lastEventId,
    };
    if (outcome.status === 'SUCCEEDED') {
      ended.output = JSON.stringify(outcome.output);
    } else {
      if (outcome.error !== undefined) ended.error = outcome.error;
      if (outcome.cause !== undefined) ended.cause = outcome.cause;
      ended.checkpoint = outcome.checkpoint;
    }
    try {
      mapRuns.close(arn, ended.stopDate ?? clock.now());
      await execution.saving;
      await writer.flush(executions.historyPath(arn));
      await executions.save(ended);
      await checkpoints.drop(executions.checkpointPath(arn));
      history.release(executions.historyPath(arn));
    } finally {
      live.delete(arn);
    }
    announce(ended);
    return ended;
  }

  function recordEvent(execution: Live, event: HistoryEvent): void {
    const { record } = execution;
    execution.lastEventId = event.id;
    history.append(executions.historyPath(record.executionArn), event);
    mapRuns.observe(record.executionArn, record.stateMachineArn, event);
  }

  /**
   * Children of a map run and EXPRESS executions send no events: a map of 100,000 items would send 200,000, and who
   * listens here wants to know of the executions that somebody started.
   */
  function announce(record: ExecutionRecord): void {
    if (record.mapRunArn !== undefined || record.type === 'EXPRESS') return;
    parts.announcer.announce(record, standingOf(record));
  }

  function standingOf(record: ExecutionRecord) {
    return redriveStanding(record, machines.get(record.stateMachineArn)?.status, clock.now());
  }

  function hostOf(execution: Live): ExecutionHost {
    const { record } = execution;
    const checkpointPath = executions.checkpointPath(record.executionArn);
    return {
      clock,
      random: parts.random,
      invokeLambda(request) {
        const use = { kind: 'invoke', functionName: request.functionName } as const;
        parts.onRoleUse(record.roleArn, use, record.stateMachineArn);
        return parts.invokeLambda(request);
      },
      startExecution: (request) => startNested(record, request),
      runMapChild: (request) => runMapChild(record, request),
      record(event) {
        if (!closing) recordEvent(execution, event);
      },
      checkpoint(checkpoint) {
        if (closing) return;
        execution.checkpoint = checkpoint;
        checkpoints.put(checkpointPath, checkpoint);
      },
    };
  }

  async function startNested(
    parent: ExecutionRecord,
    request: Parameters<ExecutionHost['startExecution']>[0],
  ): ReturnType<ExecutionHost['startExecution']> {
    const started = await start(request);
    const { stateMachineArn } = request;
    const use = { kind: 'nested', stateMachineArn, executionArn: started.executionArn } as const;
    parts.onRoleUse(parent.roleArn, use, parent.stateMachineArn);
    const stopChild = () => {
      void stop(started.executionArn, asReason(request.signal.reason)).catch(parts.announcer.report);
    };
    if (request.signal.aborted) stopChild();
    request.signal.addEventListener('abort', stopChild, { once: true });
    const done = started.done
      .then(childOf)
      .finally(() => request.signal.removeEventListener('abort', stopChild));
    done.catch(() => {}); // the interpreter may have let go of it; `started.done` reports
    return { executionArn: started.executionArn, startDate: started.startDate, done };
  }

  /**
   * A child is stored with its end, or when it has run for a moment: most are over before that, and the parent's
   * checkpoint is what a redrive goes on from.
   */
  async function runMapChild(
    parent: ExecutionRecord,
    request: MapChildRequest,
  ): ReturnType<ExecutionHost['runMapChild']> {
    const child = await mapChildRecord(parts, parent, request);
    if (child.record.status === 'SUCCEEDED') {
      return { executionArn: child.record.executionArn, outcome: outcomeOf(child.record, undefined) };
    }
    const { executionArn } = child.record;
    const use: RoleUse = {
      kind: 'mapChild',
      mapRunArn: request.mapRunArn,
      executionArn,
      redriven: child.resume !== undefined,
    };
    parts.onRoleUse(parent.roleArn, use, parent.stateMachineArn);
    const execution = launch(child.record, request.definition, child.resume, child.lastEventId);
    const { signal } = request;
    const abort = () => execution.controller.abort(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    const timer = setTimeout(() => {
      if (execution.ending || closing) return;
      execution.saving = executions.save(child.record).catch(parts.announcer.report);
    }, 50);
    try {
      const ended = await execution.done;
      return { executionArn: ended.executionArn, outcome: outcomeOf(ended, execution.checkpoint) };
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', abort);
    }
  }

  async function stop(arn: string, reason: StopReason): Promise<void> {
    const execution = (await starting.get(arn)) ?? live.get(arn);
    if (execution === undefined) return;
    execution.controller.abort(reason);
    await execution.done;
  }

  function redrive(record: ExecutionRecord, clientToken: string | undefined): Promise<number> {
    return parts.turns.take(record.executionArn, async () => {
      const current = (await executions.load(record.executionArn)) ?? record;
      const now = clock.now();
      const repeated = current.redriveTokens.find((each) => each.token === clientToken);
      if (repeated !== undefined && now - repeated.date <= REDRIVE_TOKEN_LIFE_MS) return repeated.date;
      const standing = standingOf(current);
      if (standing.status !== 'REDRIVABLE') {
        throw executionNotRedrivable(
          standing.reason ?? 'The execution is a child of a Map Run and is redriven with its parent',
        );
      }
      const next = reopened(current, now);
      if (clientToken !== undefined) {
        next.redriveTokens = [...current.redriveTokens, { token: clientToken, date: now }].slice(
          -MAX_REDRIVE_TOKENS,
        );
      }
      const definition = JSON.parse(await machines.getDefinition(next.definition)) as StateMachine;
      const lastEventId = await history.count(executions.historyPath(next.executionArn));
      if (current.checkpoint !== undefined) {
        // On disk before the record says RUNNING, so that a crash at any point can be redriven again.
        const path = executions.checkpointPath(next.executionArn);
        checkpoints.put(path, current.checkpoint);
        await checkpoints.settle(path);
      }
      await executions.save(next);
      launch(next, definition, current.checkpoint, lastEventId);
      return now;
    });
  }

  async function close(): Promise<void> {
    closing = true;
    const all = [...live.values()];
    await Promise.allSettled(starting.values());
    await Promise.allSettled(
      all.map((each) => checkpoints.settle(executions.checkpointPath(each.record.executionArn))),
    );
    for (const each of all)
      each.controller.abort({ error: 'ServiceClosed', cause: 'The service was closed.' });
    await Promise.allSettled(all.flatMap((each) => [each.done, each.saving]));
    live.clear();
  }

  return { start, stop, redrive, close };
}
