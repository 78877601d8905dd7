/** Where a dry run stands: the whole of it, the program it is in, and the scope that a step's templates see there. */
import type { StepError } from '../../blueprint/errors.ts';
import type { Json, JsonObject } from '../../blueprint/json.ts';
import type { ToolAllowList } from '../../blueprint/tool-allow-list.ts';
import type { StepNode } from '../../compile/program.ts';
import type { Pool } from '../../downstream/pool.ts';
import type { Store } from '../../store/store.ts';
import type { LoadedDocument } from '../documents.ts';
import { type Frame, type Outcome, outcomeOf, scopeFor } from '../frame.ts';
import type { DryRunList } from './answer.ts';
import { UNKNOWN } from './partial.ts';

/** One dry run, its sub-workflows included. */
export interface DryRun {
  pool: Pool;
  store: Store;
  now(): number;
  hops: number;
  list: DryRunList;
  calls: number;
  /** Epoch ms after which nothing is called any more. */
  until: number;
  /** Ends that a run may come to otherwise: nothing was called, or not everything. */
  open: WeakSet<Outcome>;
  /** How many there were: a container in which one was added is open too. */
  opened: number;
}

/** A program within the dry run. */
export interface Place {
  dry: DryRun;
  loaded: LoadedDocument;
  /** `` or `sub>`. */
  prefix: string;
  depth: number;
  /** Inside something that a run may not come to: nothing is called. */
  hypothetical: boolean;
  /** The allow-list of the authority that the program would run with; undefined: all tools. */
  allowed: ToolAllowList;
  /** Of the program's own run so far. */
  errors: StepError[];
}

/** An outcome that is not known, wholly or in part. */
export function openOutcome(dry: DryRun, value: Json = UNKNOWN): Outcome {
  const outcome: Outcome = { status: 'succeeded', value, attempts: 0, ms: 0 };
  dry.open.add(outcome);
  dry.opened += 1;
  return outcome;
}

/** The scope of a step's templates, with UNKNOWN for what a dry run does not have. */
export function scopeAt(
  place: Place,
  frame: Frame,
  uses: StepNode['uses'],
  extra: JsonObject = {},
): JsonObject {
  const { dry, errors } = place;
  const scope = scopeFor(frame, uses, extra);
  const results = scope.results as JsonObject;
  for (const id of uses.results) if (dry.open.has(outcomeOf(frame, id))) results[id] = UNKNOWN;
  // What was not called may fail.
  const known: Json = dry.opened > 0 ? UNKNOWN : (errors as unknown as Json);
  scope.run = { ...(frame.base.run as JsonObject), errors: known };
  return scope;
}
