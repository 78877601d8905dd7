/**
 * Which steps an expression may read. Steps run in the order they are written; what is inside a pipe, a parallel or a
 * collect is readable after it by its own id; what is inside a loop only within the same item; branches run at the same
 * time and cannot read each other. Found from the two steps' places in the tree, without any set of visible names.
 */
import { type Outline, type OutlineStep, siblingsOf } from './outline.ts';

export type Visibility =
  | { readable: true }
  /** `later`: comes after the reader. `self`: is the reader. `around`: the reader stands inside it. */
  | { readable: false; reason: 'later' | 'self' | 'around' }
  | { readable: false; reason: 'branch'; parallel: OutlineStep }
  | { readable: false; reason: 'loop'; loop: OutlineStep };

/** Steps of a list that are looked at for a message, so that thousands without an id cost nothing. */
const MAX_LOOKED_AT = 100;

const READABLE: Visibility = { readable: true };

/**
 * Whether the templates of `reader` (undefined: the blueprint's output) may read `target`.
 * @param phase `after`: templates that are evaluated when the reader's own inner steps have run.
 */
export function visibilityOf(
  target: OutlineStep,
  reader: OutlineStep | undefined,
  phase: 'before' | 'after',
): Visibility {
  if (reader === undefined) return throughLoops(target, undefined);
  if (target === reader) return { readable: false, reason: 'self' };
  const [above, below] = meet(target, reader);
  if (above === below) {
    if (above === target) return { readable: false, reason: 'around' };
    return phase === 'after' ? throughLoops(target, reader.parent) : { readable: false, reason: 'later' };
  }
  const parallel = above.parent;
  if (parallel !== undefined && above.lane !== below.lane) {
    return { readable: false, reason: 'branch', parallel };
  }
  if (above.index > below.index) return { readable: false, reason: 'later' };
  return throughLoops(target, above.parent);
}

/** Ids that a template of `reader` may read, nearest first, at most `limit`: for messages. */
export function readableIds(
  outline: Outline,
  reader: OutlineStep | undefined,
  phase: 'before' | 'after',
  limit: number,
): string[] {
  const ids: string[] = [];
  if (reader === undefined) collect(outline.steps, outline.steps.length, ids, limit);
  else if (phase === 'after' && reader.type !== 'loop') {
    for (const list of reader.inner) collect(list, list.length, ids, limit);
  }
  for (let step = reader; step !== undefined && ids.length < limit; step = step.parent) {
    collect(siblingsOf(step, outline), step.index, ids, limit);
  }
  return ids;
}

/** The two steps of one list (or of two branches) that hold target and reader, or are them. */
function meet(target: OutlineStep, reader: OutlineStep): [OutlineStep, OutlineStep] {
  let a = target;
  let b = reader;
  while (a.depth > b.depth && a.parent !== undefined) a = a.parent;
  while (b.depth > a.depth && b.parent !== undefined) b = b.parent;
  while (a.parent !== b.parent && a.parent !== undefined && b.parent !== undefined) {
    a = a.parent;
    b = b.parent;
  }
  return [a, b];
}

/** A target is out of reach where a loop stands between it and the list below `outermost`. */
function throughLoops(target: OutlineStep, outermost: OutlineStep | undefined): Visibility {
  let found: OutlineStep | undefined;
  for (let step = target.parent; step !== outermost && step !== undefined; step = step.parent) {
    if (step.type === 'loop') found = step;
  }
  return found === undefined ? READABLE : { readable: false, reason: 'loop', loop: found };
}

/** The first `before` steps of a list and what is inside them, last first. */
function collect(list: readonly OutlineStep[], before: number, ids: string[], limit: number): void {
  const last = Math.min(before, list.length) - 1;
  for (let i = last; i >= 0 && i > last - MAX_LOOKED_AT && ids.length < limit; i--) {
    const step = list[i];
    if (step === undefined) continue;
    if (step.id !== undefined) ids.push(step.id);
    if (step.type === 'loop') continue;
    for (const inner of step.inner) collect(inner, inner.length, ids, limit);
  }
}
