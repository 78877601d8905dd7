/** What every operation works with. */
import type { JsonObject } from '../../../blueprint/json.ts';
import type { Clock } from '../contract.ts';
import type { Place } from './arns.ts';
import type { Runner } from './runner.ts';
import type { ExecutionStore } from './storage/executions.ts';
import type { HistoryStore } from './storage/history.ts';
import type { MachineStore } from './storage/machines.ts';
import type { MapRunStore } from './storage/map-runs.ts';
import type { Turns } from './turns.ts';

export interface ServiceContext {
  place: Place;
  clock: Clock;
  machines: MachineStore;
  executions: ExecutionStore;
  history: HistoryStore;
  mapRuns: MapRunStore;
  runner: Runner;
  turns: Turns;
  /** Work that an answer does not wait for; `close` does. */
  inBackground(work: () => Promise<void>): void;
}

/** One operation of the API: the request's JSON in, the answer's JSON out; refuses by throwing `ApiError`. */
export type Operation = (context: ServiceContext, input: JsonObject) => Promise<JsonObject>;

/** The JSON protocol's dates are epoch seconds. */
export function seconds(ms: number): number {
  return ms / 1000;
}
