/**
 * A loop of states: a Map whose iterations are the body's states, so each item can be seen in the console. The items
 * themselves stay in the store; the Map goes over as many zeros, and an iteration knows its place by `at`.
 *
 *     { "task": { …, "at": "" }, "count": 2 }  →  { "task": { …, "at": "pods/00000/" } }
 *                                                 { "task": { …, "at": "pods/00001/" } }
 */
import { endOf } from '../plan/names.ts';
import { entryOf, type PlannedMapLoop } from '../plan/plan.ts';
import { described } from './comment.ts';
import { endEarly } from './end-early.ts';
import { emitMap } from './map.ts';
import { ITEMS, iterationSelector } from './payload.ts';
import type { Scope } from './scope.ts';
import { addEnd } from './task.ts';

export function emitMapLoop(scope: Scope, step: PlannedMapLoop, next: string): void {
  const { node } = step;
  const end = endOf(step.id);
  const where = step.distributed ? 'each in an execution of its own' : 'in this execution';
  emitMap(scope, step, next, {
    comment: described(`loop of states, ${node.concurrency} at a time, ${where}`, node),
    items: ITEMS,
    selector: iterationSelector(step.id, step.distributed),
    concurrency: node.concurrency,
    startAt: entryOf(step.body, end),
    iteration: (inner) => {
      inner.emitList(inner, step.body, end);
      addEnd(inner, end);
      endEarly(inner, end);
    },
  });
}
