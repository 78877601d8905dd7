/**
 * A frame is the place that a step is run in: what ended before it there, and the names that templates see. Frames
 * nest as loop items do; a step reads its own item's steps first, then those around it.
 *
 * The same frame serves a state of its own (filled from the store) and the body of a batch loop (filled as it is walked), so
 * skipping, aliases and scopes have one meaning.
 */
import type { StepError } from '../blueprint/errors.ts';
import type { Json, JsonObject } from '../blueprint/json.ts';
import type { StepNode } from '../compile/program.ts';
import type { ProgramIndex } from './program-index.ts';

/** How a step ended, in process or as recorded. */
export interface Outcome {
  status: 'succeeded' | 'failed' | 'skipped';
  /** null unless it succeeded. */
  value: Json;
  /** Of a skipped one: `when`, or `failed:STEP`. */
  reason?: string;
  error?: StepError;
  attempts: number;
  ms: number;
  /** What `results.ID` has beside status, error, attempts and ms. */
  detail?: JsonObject;
}

export interface Frame {
  index: ProgramIndex;
  /** Prefix of the occurrence paths in it. */
  at: string;
  /** `params`, `run`, the loops' names, `index`, `input`. */
  base: JsonObject;
  outcomes: Map<string, Outcome>;
  outer?: Frame;
}

/** The outcome of a step that has not run because it was never reached. */
const NEVER = { value: null, attempts: 0, ms: 0 } as const;

/**
 * How the step `id` ended, seen from the frame. One that has no outcome was in a container that was skipped (then it has
 * the container's reason), or in a list that ended before it: then its readers are skipped as if it had failed.
 */
export function outcomeOf(frame: Frame, id: string): Outcome {
  const known = find(frame, id);
  if (known !== undefined) return known;
  for (
    let around = frame.index.parents.get(id);
    around !== undefined;
    around = frame.index.parents.get(around.id)
  ) {
    const container = find(frame, around.id);
    if (container?.status === 'skipped')
      return { ...NEVER, status: 'skipped', reason: container.reason ?? 'when' };
    if (container !== undefined) break;
  }
  return { ...NEVER, status: 'skipped', reason: `failed:${id}` };
}

function find(frame: Frame, id: string): Outcome | undefined {
  for (let at: Frame | undefined = frame; at !== undefined; at = at.outer) {
    const outcome = at.outcomes.get(id);
    if (outcome !== undefined) return outcome;
  }
  return undefined;
}

/** The scope of a step's templates: only the steps and results that they name. */
export function scopeFor(frame: Frame, uses: StepNode['uses'], extra?: JsonObject): JsonObject {
  const steps: JsonObject = {};
  for (const id of uses.values) steps[id] = outcomeOf(frame, id).value;
  const results: JsonObject = {};
  for (const id of uses.results)
    results[id] = { ...resultFieldsOf(frame, id), ...resultOf(outcomeOf(frame, id)) };
  return { ...frame.base, ...extra, steps, results };
}

/** What `results.ID` has whether the step was reached or not: a loop that ran no item has counted none. */
function resultFieldsOf({ index }: Frame, id: string): JsonObject {
  return index.program.byId.get(id)?.type === 'loop' ? { count: 0, failed: 0, skipped: 0, items: [] } : {};
}

/** `results.ID`. */
function resultOf(outcome: Outcome): JsonObject {
  return {
    status: outcome.status,
    error: outcome.error === undefined ? null : (outcome.error as unknown as JsonObject),
    attempts: outcome.attempts,
    ms: outcome.ms,
    ...outcome.detail,
  };
}

/**
 * Why a step is skipped before it is even looked at: a step that it reads failed, or was skipped for such a reason. The
 * reason names the step that failed first. What is behind a skipped step in a pipe has no input, and is skipped with it.
 */
export function skippedBy(frame: Frame, node: StepNode): string | undefined {
  const input = frame.index.inputs.get(node.id);
  const reads = input?.kind === 'step' ? [input.id, ...node.reads] : node.reads;
  for (const id of reads) {
    const outcome = outcomeOf(frame, id);
    if (outcome.status === 'failed') return `failed:${id}`;
    if (isFailureSkip(outcome)) return outcome.reason;
  }
  return undefined;
}

/** True for a step that was skipped because another one failed. */
export function isFailureSkip(outcome: { status: string; reason?: string | undefined }): boolean {
  return outcome.status === 'skipped' && outcome.reason !== undefined && outcome.reason !== 'when';
}

export function skippedOutcome(reason: string): Outcome {
  return { status: 'skipped', reason, value: null, attempts: 0, ms: 0 };
}
