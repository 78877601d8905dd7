/** What an item of a loop has done so far, kept where the function's time runs out before it has ended; and its frame. */
import type { StepError } from '../../blueprint/errors.ts';
import type { Json, JsonObject } from '../../blueprint/json.ts';
import type { LoopNode } from '../../compile/program.ts';
import type { ItemResult } from '../../store/records.ts';
import type { CallState } from '../call/attempt.ts';
import type { Frame, Outcome } from '../frame.ts';
import { iterationOf } from '../occurrence.ts';

/** Calls by occurrence path. Containers are walked again when an item goes on: their calls replay. */
export interface Progress {
  ended: Map<string, Outcome>;
  /** Calls that were suspended between two attempts. */
  pending: Map<string, CallState>;
  /** Epoch ms: time limits of the containers that were entered, except of those that have ended in time. */
  limits: Map<string, number>;
  /** Every failure in the item, in the order they came. */
  failures: Set<StepError>;
  /** Attempts made, those that replay included. */
  attempts: number;
}

export function newProgress(): Progress {
  return { ended: new Map(), pending: new Map(), limits: new Map(), failures: new Set(), attempts: 0 };
}

/** The same progress with a count of its own, for a container; failures are the item's. */
export function innerProgress(progress: Progress): Progress {
  return { ...progress, attempts: 0 };
}

/** The frame of iteration `index`, inside the frame that the loop stands in. */
export function itemFrame(outer: Frame, loop: LoopNode, index: number, names: JsonObject): Frame {
  return {
    index: outer.index,
    at: outer.at + iterationOf(loop.id, index),
    base: { ...outer.base, ...names, index },
    outcomes: new Map(),
    outer,
  };
}

export function failedItem(index: number, item: Json, error: StepError, attempts: number): ItemResult {
  return { index, item, status: 'failed', value: null, error, attempts };
}

/** What a failed item keeps for a redrive, which runs anew what failed in it and nothing else; undefined for nothing. */
export function madeBefore({ ended }: Progress): Json | undefined {
  const made = [...ended].filter(([, outcome]) => outcome.status === 'succeeded');
  return made.length === 0 ? undefined : (made as unknown as Json);
}

/** The progress that a failed item goes on from. */
export function progressAfter(made: Json): Progress {
  return { ...newProgress(), ended: new Map(made as unknown as [string, Outcome][]) };
}
