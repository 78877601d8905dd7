/**
 * What call-tool's work is given from outside: the store, the downstream servers, time, chance and the limits. Nothing in
 * lib/steps reaches for a clock, a random number or a client of its own, so a test can drive a day of waits in no time,
 * and the same code runs on one machine and in a function.
 */
import type { Json, JsonObject } from '../blueprint/json.ts';
import type { ParseMode } from '../blueprint/types.ts';
import type { Store } from '../store/store.ts';
import type { LogEntry, Telemetry } from '../telemetry/telemetry.ts';
import type { Inspect } from './inspect.ts';

/** A tool as a connected server offers it, bound for the length of one task. */
export interface ResolvedTool {
  server: string;
  tool: string;
  /** Names that its input schema requires. */
  required: readonly string[];
  /**
   * True where a call may be made again without harm: `readOnlyHint` or `idempotentHint`, on a server whose annotations
   * are trusted.
   */
  repeatable: boolean;
  /** The server's limit for one call. */
  timeoutMs: number;
}

export interface ToolRequest {
  args: JsonObject;
  timeoutMs: number;
  /** Aborted when the run is cancelled, its time is over or the lease is lost; the server is told. */
  signal: AbortSignal;
  /** The run, for servers with a session a run. */
  run: string;
  /** The run's hop count. Default 0. */
  hops?: number;
}

/** A tool's answer as it came; `isError` answers are answers too. */
export interface ToolAnswer {
  content: Json[];
  structured?: Json;
  isError: boolean;
}

/**
 * The downstream servers. Everything rejects with a StepFailure: `UnknownTool`, `ToolNotAllowed`, `ServerUnavailable` and
 * `InvalidArguments` mean that nothing was sent; `ToolTimeout` and `TransportError` that the request went out and no
 * answer came back.
 */
export interface Downstream {
  resolveTool(name: { server?: string; tool: string }): Promise<ResolvedTool>;
  callTool(tool: ResolvedTool, request: ToolRequest): Promise<ToolAnswer>;
  /** The value of `steps.ID` for an answer that is not an error; throws ParseError. */
  valueOf(answer: ToolAnswer, parse: ParseMode | undefined): Json;
  /** The run has ended: connections that were opened for it alone are closed. */
  endRun(run: string): Promise<void>;
}

export interface Clock {
  /** Epoch milliseconds. */
  now(): number;
  /** Resolves after `ms`; rejects with the signal's reason when aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

export interface ExecutionState {
  status: 'RUNNING' | 'SUCCEEDED' | 'FAILED' | 'TIMED_OUT' | 'ABORTED' | 'PENDING_REDRIVE';
}

/** The two things that steps ask of Step Functions: how a child stands, and to redrive it. */
export interface Executions {
  /** undefined: there is no such execution. */
  describe(executionArn: string): Promise<ExecutionState | undefined>;
  /** False where it can no longer be redriven. */
  redrive(executionArn: string): Promise<boolean>;
}

export interface StepsLimits {
  /** Attempts of a root run and all its descendants. */
  maxAttempts: number;
  maxSubRuns: number;
  maxDepth: number;
  maxRunSeconds: number;
  leaseMs: number;
  renewEveryMs: number;
  /** Longest between two looks at the stop flag and the deadline. */
  pollEveryMs: number;
  /** What one window of a loop should take. */
  windowMs: number;
  /** Left of the function's time for writing results and answering. */
  marginMs: number;
}

/** The design's numbers ("Safety", "Runs that keep their word"); each can be raised by configuration. */
export const DEFAULT_STEPS_LIMITS: StepsLimits = {
  maxAttempts: 100_000,
  maxSubRuns: 1000,
  maxDepth: 10,
  maxRunSeconds: 86_400,
  leaseMs: 30_000,
  renewEveryMs: 10_000,
  pollEveryMs: 1000,
  windowMs: 250,
  marginMs: 30_000,
};

export interface Logger {
  info(message: string, fields?: JsonObject): void;
  warn(message: string, fields?: JsonObject): void;
}

export interface StepsEnvironment {
  store: Store;
  downstream: Downstream;
  clock: Clock;
  /** In [0, 1). */
  random(): number;
  /** A fresh `BOOT/UUID` for each task. */
  newOwner(): string;
  /** True where the owner cannot be alive any more: on one machine, another BOOT. Never on AWS. */
  isDeadOwner(owner: string): boolean;
  /** Left of this invocation's time. */
  remainingMs(): number;
  executions: Executions;
  limits: StepsLimits;
  /** What a task's answer shows of its value. */
  inspect: Inspect;
  logger: Logger;
  /** Where audit entries go (lib/telemetry/audit.ts). */
  log(entry: LogEntry): void;
  telemetry: Telemetry;
}
