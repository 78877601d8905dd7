/**
 * What the engine tells of itself: metrics, spans and audit entries. Every name and every dimension comes from a closed set, so
 * that nothing a caller or a downstream server says can make a metric, and no argument or result value is told.
 *
 * The functions hand in an implementation for AWS (Powertools: EMF, X-Ray); on one machine there is `SILENT`.
 */
import type { ErrorKind } from '../blueprint/errors.ts';

export type LogEntry = Record<string, string | number | boolean>;

/** How a thing went, for metrics. */
export type Outcome = 'succeeded' | 'failed';

export interface Telemetry {
  /** A run's record was closed, by whoever closed it: once a run and epoch. */
  runEnded(status: 'SUCCEEDED' | 'FAILED' | 'CANCELLED' | 'TIMED_OUT', trigger: string): void;
  /** A step or an item failed with this kind. */
  failure(kind: ErrorKind): void;
  /** One call of a downstream tool, as long as it took in milliseconds. */
  toolCall(outcome: Outcome, ms: number): void;
  /** One request of an agent. `tool` is one of the endpoint's own. */
  request(tool: string, outcome: Outcome, ms: number): void;
  /** A part of the work as a subsegment of the trace. Annotations: server and tool names, never values. */
  span<T>(name: string, annotations: Readonly<Record<string, string>>, work: () => Promise<T>): Promise<T>;
}

export const SILENT: Telemetry = {
  runEnded: () => undefined,
  failure: () => undefined,
  toolCall: () => undefined,
  request: () => undefined,
  span: (_name, _annotations, work) => work(),
};
