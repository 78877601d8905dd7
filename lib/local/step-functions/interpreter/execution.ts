/**
 * What the parts of the interpreter hand to one another: the execution, its lanes (the main one, a branch, an iteration)
 * and one visit of a state.
 */

import { setMaxListeners } from 'node:events';
import type { State, StateMachine } from '../../../asl/types.ts';
import type { Json, JsonObject } from '../../../blueprint/json.ts';
import type { ExecutionHost, ExecutionStart } from '../contract.ts';
import type { LaneNode } from './checkpoint.ts';
import { Interrupted } from './failure.ts';
import type { DetailsKey, History } from './history.ts';
import type { Scope } from './variables.ts';

export interface Execution {
  readonly start: ExecutionStart;
  readonly host: ExecutionHost;
  readonly history: History;
  readonly machine: StateMachine;
  /** Inherited by the bindings of every evaluation. */
  readonly functions: Record<string, unknown>;
  /** Tells the host that the execution has moved on. */
  moved(): void;
  /** Runs a lane to its end; here, so that a state which has lanes within need not import what imports it. */
  walk(lane: Lane, states: Record<string, State>): Promise<Json>;
}

/** A sequence of states that run one after another. */
export interface Lane {
  readonly execution: Execution;
  readonly scope: Scope;
  /** Aborted when a sibling failed, or the whole execution is cut off. */
  readonly signal: AbortSignal;
  /** Id of the lane's newest event; 0 where there is none (AWS does not count ExecutionStarted). */
  previous: number;
  /** Where it stands; replaced by each state it enters. */
  node: LaneNode;
  /** The state it is in, and the lanes within that one. */
  current?: { type: State['Type']; inner?: Member[] };
}

/** A lane within a Parallel or an inline Map. `iteration` is the name of the Map state. */
export interface Member {
  index: number;
  lane: Lane;
  iteration?: string;
  /** Present where it goes on from a checkpoint. */
  resume?: LaneNode;
  active: boolean;
}

/** One visit of a state, from its Entered event to its Exited event. */
export interface Visit<S extends State = State> {
  readonly execution: Execution;
  readonly lane: Lane;
  readonly name: string;
  readonly state: S;
  readonly input: Json;
  /** Id and time of the Entered event. */
  readonly entered: number;
  readonly enteredTime: string;
  /**
   * What an evaluation that fails before anything else happened points at: AWS records the event before the Entered
   * event, except for Wait.
   */
  readonly entryPrevious: number;
  /** Present where the visit goes on from a checkpoint. */
  resume?: LaneNode['inner'];
  retryCount: number;
}

/** Where a state leads. `next` is absent where the lane ends. */
export interface Transition {
  output: Json;
  next?: string;
}

/** Records an event of the lane and makes it the lane's newest. Throws Interrupted in a lane that was cut off. */
export function record(
  lane: Lane,
  type: string,
  details?: readonly [DetailsKey, JsonObject],
  previous = lane.previous,
): number {
  if (lane.signal.aborted) throw new Interrupted();
  lane.previous = lane.execution.history.record(type, previous, details);
  return lane.previous;
}

/** Epoch milliseconds as ISO text. */
export function isoTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}

/** Waits on the host's clock. Throws Interrupted where the lane is cut off meanwhile. */
export async function pause(lane: Lane, ms: number): Promise<void> {
  try {
    await lane.execution.host.clock.sleep(ms, lane.signal);
  } catch (error) {
    if (lane.signal.aborted) throw new Interrupted();
    throw error;
  }
}

/** Settles with the promise, or rejects with Interrupted as soon as the signal is aborted, whichever comes first. */
export function orInterrupted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  if (signal.aborted) {
    promise.catch(() => undefined);
    return Promise.reject(new Interrupted());
  }
  return new Promise<T>((resolve, reject) => {
    const onAbort = () => reject(new Interrupted());
    signal.addEventListener('abort', onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}

/** A controller that is aborted with its parent. `release` unhooks it. */
export function childController(parent: AbortSignal): { controller: AbortController; release(): void } {
  const controller = new AbortController();
  // As many listeners as there are lanes; Node would warn of eleven.
  setMaxListeners(0, controller.signal, parent);
  const onAbort = () => controller.abort(parent.reason);
  if (parent.aborted) onAbort();
  else parent.addEventListener('abort', onAbort, { once: true });
  return { controller, release: () => parent.removeEventListener('abort', onAbort) };
}
