/**
 * Where an execution stands: a tree that is kept up to date while it runs. Each lane says which state it is in and with
 * what input and variables; a Parallel or Map adds its branches or items. The tree is live: recording a transition is
 * a few assignments whatever the history's length, and whoever serializes it between two turns of the event loop gets a
 * consistent picture.
 *
 * What it leaves out on purpose: retry counters (a redrive starts them anew) and anything about a call in flight (the
 * state it belongs to is run again).
 */
import type { Json, JsonObject } from '../../../blueprint/json.ts';
import type { Checkpoint } from '../contract.ts';

export type LaneNode = {
  state: string;
  input: Json;
  /** The lane's own variables, without those of the lanes around it. */
  variables: JsonObject;
  /** Id of the event that entered the state. */
  entered: number;
  enteredTime: string;
  /** What runs within a Parallel or Map state. */
  inner?: GroupNode | MapRunNode;
};

/** A finished branch or iteration has an output, one that runs a lane; one that has not begun is null. */
export type MemberNode = { output: Json } | { lane: LaneNode } | null;

/** Branches of a Parallel, or iterations of an inline Map. `started` is the id of its Started event. */
export type GroupNode = { kind: 'group'; started: number; members: MemberNode[] };

/** Children of a distributed Map. `name` is there once a child was started, `arn` once it failed or was cut off. */
export type ChildNode = { output: Json } | { name: string; arn?: string } | null;

export type MapRunNode = {
  kind: 'mapRun';
  /** Id of MapStateStarted, which every redrive of the Map Run points back at. */
  started: number;
  mapRunArn: string;
  redriveCount: number;
  items: Json[];
  children: ChildNode[];
};

/** The seam knows a checkpoint as plain JSON; the shape is this file's business. */
export function asCheckpoint(node: LaneNode): Checkpoint {
  return node as unknown as Checkpoint;
}

/** A deep copy, since the caller may go on holding what it passed in; undefined where it is not a checkpoint of ours. */
export function fromCheckpoint(checkpoint: Checkpoint): LaneNode | undefined {
  if (typeof checkpoint.state !== 'string' || typeof checkpoint.entered !== 'number') return undefined;
  return structuredClone(checkpoint) as unknown as LaneNode;
}
