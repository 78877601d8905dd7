/**
 * The seam between the interpreter, which runs one execution of a state machine, and the service around it, which keeps
 * machines and executions, speaks the Step Functions API and survives restarts.
 *
 * The interpreter knows no clock, no randomness, no network and no disk of its own: everything comes through
 * `ExecutionHost`, so a test can run a day of waits in a millisecond.
 */

import type { StateMachine } from '../../asl/types.ts';
import type { Json, JsonObject } from '../../blueprint/json.ts';

export interface Clock {
  /** Epoch milliseconds. */
  now(): number;
  /** Resolves after `ms`, rejects with the signal's reason when aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/**
 * One history event in the API's own shape: `stateEnteredEventDetails` and its siblings, with `input` and `output` as
 * JSON text. `timestamp` is epoch seconds with milliseconds as a fraction, as the JSON protocol has it.
 */
export interface HistoryEvent {
  id: number;
  previousEventId: number;
  timestamp: number;
  type: string;
  [details: `${string}EventDetails`]: JsonObject;
}

/** Where an execution stands, as plain JSON: enough to go on from there (redrive). The interpreter owns its content. */
export type Checkpoint = JsonObject;

export interface ExecutionStart {
  executionArn: string;
  name: string;
  /** ISO time with milliseconds. */
  startTime: string;
  roleArn: string;
  stateMachineArn: string;
  stateMachineName: string;
  type: 'STANDARD' | 'EXPRESS';
  definition: StateMachine;
  input: Json;
  /** 0 for a first run. */
  redriveCount: number;
  /** ISO time of the latest redrive. */
  redriveTime?: string;
  /** Present when redriven: go on from here; history ids continue after `lastEventId`. */
  resume?: Checkpoint;
  lastEventId: number;
}

export type ExecutionOutcome =
  | { status: 'SUCCEEDED'; output: Json }
  | { status: 'FAILED' | 'TIMED_OUT'; error?: string; cause?: string; checkpoint: Checkpoint }
  | { status: 'ABORTED'; error?: string; cause?: string; checkpoint: Checkpoint };

export interface LambdaRequest {
  /** Name, partial ARN or ARN as the state gave it. */
  functionName: string;
  qualifier?: string;
  /** JSON text. */
  payload: string;
  invocationType: 'RequestResponse' | 'Event';
  signal: AbortSignal;
}

export interface LambdaResponse {
  statusCode: number;
  executedVersion: string;
  /** JSON text of the function's answer, or of `{errorType, errorMessage, trace}` where `functionError` is set. */
  payload: string;
  functionError?: string;
  requestId: string;
}

/** Something that the service does with the rights of an execution's role; on AWS it is this that IAM is asked about. */
export type RoleUse =
  | { kind: 'invoke'; functionName: string }
  | { kind: 'nested'; stateMachineArn: string; executionArn: string }
  | { kind: 'mapChild'; mapRunArn: string; executionArn: string; redriven: boolean };

/** The Lambda service itself refused (throttled, no such function): `name` is AWS's, e.g. `TooManyRequestsException`. */
export class LambdaServiceError extends Error {
  readonly statusCode: number;
  readonly requestId: string;

  constructor(name: string, message: string, statusCode: number, requestId: string) {
    super(message);
    this.name = name;
    this.statusCode = statusCode;
    this.requestId = requestId;
  }
}

/** A nested execution as DescribeExecution answers it, with dates as epoch milliseconds. */
export interface ChildExecution {
  executionArn: string;
  stateMachineArn: string;
  name: string;
  startDate: number;
  stopDate?: number;
  status: 'SUCCEEDED' | 'FAILED' | 'TIMED_OUT' | 'ABORTED';
  input: string;
  output?: string;
  error?: string;
  cause?: string;
}

export interface ExecutionHost {
  clock: Clock;
  /** In [0, 1): jitter, $random, $uuid. */
  random(): number;
  invokeLambda(request: LambdaRequest): Promise<LambdaResponse>;
  /**
   * startExecution(.sync, .sync:2): resolves once started; `done` resolves when the child has ended. Aborting the
   * signal stops the child. Throws an Error whose name is the API's (`ExecutionAlreadyExists`, ...).
   */
  startExecution(request: {
    stateMachineArn: string;
    name?: string;
    input: string;
    signal: AbortSignal;
  }): Promise<{ executionArn: string; startDate: number; done: Promise<ChildExecution> }>;
  /**
   * One child of a distributed map: an execution of its own with its own history, under the map run. `resume` is set
   * where a redrive goes on with an unsuccessful child.
   */
  runMapChild(request: {
    mapRunArn: string;
    name: string;
    definition: StateMachine;
    input: Json;
    type: 'STANDARD' | 'EXPRESS';
    resumeArn?: string;
    signal: AbortSignal;
  }): Promise<{ executionArn: string; outcome: ExecutionOutcome }>;
  /** Called for every event, in order, synchronously with what happened. */
  record(event: HistoryEvent): void;
  /**
   * Called whenever the execution has moved on: the latest is what a crash is redriven from. It is the same object each
   * time, kept up to date by the interpreter and consistent between two turns of the event loop: serialize it, then or
   * later, and do not change it.
   */
  checkpoint(checkpoint: Checkpoint): void;
}

/**
 * `lib/local/step-functions/interpreter/run.ts` exports
 * `runExecution(start: ExecutionStart, host: ExecutionHost, signal: AbortSignal): Promise<ExecutionOutcome>`.
 * It never rejects for anything a state machine can do; aborting the signal (StopExecution, with `{error, cause}` as
 * its reason) ends it as ABORTED.
 */
export type RunExecution = (
  start: ExecutionStart,
  host: ExecutionHost,
  signal: AbortSignal,
) => Promise<ExecutionOutcome>;
