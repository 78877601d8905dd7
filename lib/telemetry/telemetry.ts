/**
 * What the engine tells of itself: metrics and spans. Every name and every dimension comes from a closed set, so that nothing
 * a caller or a downstream server says can make a metric, and no argument or result value is told.
 *
 * The functions hand in an implementation for AWS (aws.ts: EMF, X-Ray); on one machine there is `SILENT`.
 */
import type { ErrorKind } from '../blueprint/errors.ts';
import type { RunTrigger } from '../store/records.ts';

export type LogEntry = Record<string, string | number | boolean>;

/** How a thing went, for metrics. */
export type Outcome = 'succeeded' | 'failed';
/** Of a request: `refused` is a fault of the caller's, `failed` one of ours or of what we stand on. */
export type RequestOutcome = Outcome | 'refused';

export interface Telemetry {
  /** A run's record was closed, by whoever closed it: once a run and epoch. */
  runEnded(status: 'SUCCEEDED' | 'FAILED' | 'CANCELLED' | 'TIMED_OUT', trigger: RunTrigger): void;
  /** A step or an item failed with this kind. */
  failure(kind: ErrorKind): void;
  /** One call of a downstream tool, as long as it took in milliseconds. */
  toolCall(outcome: Outcome, ms: number): void;
  /** One request of an agent. `tool` is one of the endpoint's own. */
  request(tool: string, outcome: RequestOutcome, ms: number): void;
  /**
   * A part of the work as a subsegment of the trace. Annotations: server and tool names, never values. It is marked as failed
   * where `work` rejects or `failed` says so of its answer.
   */
  span<T>(
    name: string,
    annotations: Readonly<Record<string, string>>,
    work: () => Promise<T>,
    failed?: (answer: T) => boolean,
  ): Promise<T>;
  /** X-Ray's header of the trace that this work is part of, to be handed on; undefined: none. */
  traceHeader(): string | undefined;
}

export const SILENT: Telemetry = {
  runEnded: () => undefined,
  failure: () => undefined,
  toolCall: () => undefined,
  request: () => undefined,
  span: (_name, _annotations, work) => work(),
  traceHeader: () => undefined,
};
