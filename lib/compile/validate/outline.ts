/**
 * The outline: the tree of steps of a blueprint that may be wrong anywhere. Every check after the bounds works on it, so
 * a fault in one place hides nothing elsewhere. What is not a step is left out; lib/compile/validate/shape.ts reports it.
 */

import { childPointer } from '../../blueprint/diagnostics.ts';
import { isJsonObject, type Json, type JsonObject } from '../../blueprint/json.ts';
import { type StepType, stepShapes } from '../../blueprint/schema.ts';

export interface OutlineStep {
  /** Absent where the authored one is not a string. */
  id?: string;
  /** As authored; a step of an unknown type is taken for the one that its fields look like. */
  type: StepType;
  pointer: string;
  raw: JsonObject;
  parent?: OutlineStep;
  /** The branch of a parallel it stands in; else 0. */
  lane: number;
  /** Its place in its list. */
  index: number;
  /** Number of steps around it. */
  depth: number;
  /** One list a branch for a parallel, one list for loop, pipe and collect, none for a call. */
  inner: OutlineStep[][];
}

export interface Outline {
  blueprint: JsonObject;
  /** Top level. */
  steps: OutlineStep[];
  /** Every step in the order of the document. */
  all: OutlineStep[];
  /** The first step of each id. */
  byId: ReadonlyMap<string, OutlineStep>;
}

export function outlineBlueprint(blueprint: JsonObject): Outline {
  const all: OutlineStep[] = [];
  const steps = outlineList(blueprint.steps, '/steps', undefined, 0, all);
  const byId = new Map<string, OutlineStep>();
  for (const step of all) if (step.id !== undefined && !byId.has(step.id)) byId.set(step.id, step);
  return { blueprint, steps, all, byId };
}

/** True where the authored type is one of the five. */
export function isStepType(value: Json | undefined): value is StepType {
  return typeof value === 'string' && Object.hasOwn(stepShapes, value);
}

/** The list that a step stands in. */
export function siblingsOf(step: OutlineStep, outline: Outline): readonly OutlineStep[] {
  return step.parent === undefined ? outline.steps : (step.parent.inner[step.lane] ?? []);
}

function outlineList(
  list: Json | undefined,
  pointer: string,
  parent: OutlineStep | undefined,
  lane: number,
  all: OutlineStep[],
  takesOne = false,
): OutlineStep[] {
  // Where a list is needed an object is a fault of the shape, and perhaps one step that its author forgot to put in a list.
  if (isJsonObject(list) && (takesOne || isStepType(list.type))) {
    return [outlineStep(list, pointer, parent, lane, 0, all)];
  }
  if (!Array.isArray(list)) return [];
  const steps: OutlineStep[] = [];
  for (const [i, raw] of list.entries()) {
    if (isJsonObject(raw)) {
      steps.push(outlineStep(raw, childPointer(pointer, i), parent, lane, steps.length, all));
    }
  }
  return steps;
}

function outlineStep(
  raw: JsonObject,
  pointer: string,
  parent: OutlineStep | undefined,
  lane: number,
  index: number,
  all: OutlineStep[],
): OutlineStep {
  const type = isStepType(raw.type) ? raw.type : lookedLike(raw);
  const step: OutlineStep = {
    ...(typeof raw.id === 'string' ? { id: raw.id } : {}),
    type,
    pointer,
    raw,
    ...(parent === undefined ? {} : { parent }),
    lane,
    index,
    depth: parent === undefined ? 0 : parent.depth + 1,
    inner: [],
  };
  all.push(step);
  step.inner = innerLists(type, raw).map(([field, list], i) =>
    outlineList(list, `${pointer}/${field}`, step, i, all, field !== 'steps'),
  );
  return step;
}

function innerLists(type: StepType, raw: JsonObject): [string, Json | undefined][] {
  switch (type) {
    case 'call':
      return [];
    case 'loop':
      return [['do', raw.do]];
    case 'parallel':
      return Array.isArray(raw.branches) ? raw.branches.map((branch, i) => [`branches/${i}`, branch]) : [];
    case 'pipe':
    case 'collect':
      return [['steps', raw.steps]];
  }
}

function lookedLike(raw: JsonObject): StepType {
  if (raw.do !== undefined) return 'loop';
  if (raw.branches !== undefined) return 'parallel';
  return raw.steps === undefined ? 'call' : 'pipe';
}
