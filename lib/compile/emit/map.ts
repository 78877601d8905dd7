/**
 * The frame that lanes and map loops share: an items task that evaluates `when` and `over`, a Map, and a settle task that
 * judges once every iteration has ended. After a redrive the settle task of a failed loop answers `again`, and the Map
 * runs anew: what succeeded is replayed from the store, what failed is done again.
 *
 *     pods items ─▶ pods items next ─▶ pods (Map) ─▶ pods settle ─▶ pods settle next ─▶ next
 *                        └─ skipped ─▶ next  ▲                          └─ again ─┐
 *                                            └────────────────────────────────────┘
 *
 * No iteration fails: each ends in the constant 0, and its steps' failures are in the store. So a Map fails only where
 * the platform does.
 */
import type { MapState, State } from '../../asl/types.ts';
import type { Json } from '../../blueprint/json.ts';
import { itemsOf, nextOf, settleOf } from '../plan/names.ts';
import type { PlannedLanes, PlannedMapLoop } from '../plan/plan.ts';
import { KEEP_COUNT, PASS_COUNT, PASS_COUNT_AND_ANSWER } from './payload.ts';
import { addState, innerScope, type Scope } from './scope.ts';
import { addChoice, addTask, catchFailure } from './task.ts';

export interface MapDetails {
  comment: string;
  items: Json;
  selector: Json;
  concurrency: number;
  startAt: string;
  /** Writes the states of an iteration. */
  iteration(scope: Scope): void;
}

export function emitMap(
  scope: Scope,
  step: PlannedLanes | PlannedMapLoop,
  next: string,
  details: MapDetails,
): void {
  const [items, settle] = [itemsOf(step.id), settleOf(step.id)];
  addTask(scope, items, {
    comment: `items of the loop "${step.id}"`,
    op: 'items',
    step: step.id,
    output: KEEP_COUNT,
    next: step.skippable ? nextOf(items) : step.id,
    ...catchFailure(step, next),
  });
  if (step.skippable) addChoice(scope, items, [{ status: 'skipped', to: next }], step.id);

  addState(scope, step.id, mapState(step, details, iterationStates(scope, details)));

  addTask(scope, settle, {
    comment: `end of the loop "${step.id}"`,
    op: 'settle',
    step: step.id,
    output: PASS_COUNT_AND_ANSWER,
    next: nextOf(settle),
    ...catchFailure(step, next),
  });
  addChoice(scope, settle, [{ status: 'again', to: step.id }], next);
}

/** The names of the inner states are the machine's, so they are taken before anything after the Map is named. */
function iterationStates(scope: Scope, details: MapDetails): Record<string, State> {
  const inner = innerScope(scope);
  details.iteration(inner);
  return inner.states;
}

function mapState(
  step: PlannedLanes | PlannedMapLoop,
  details: MapDetails,
  states: Record<string, State>,
): MapState {
  return {
    Type: 'Map',
    Comment: details.comment,
    Items: details.items,
    ItemSelector: details.selector,
    MaxConcurrency: details.concurrency,
    ItemProcessor: {
      ProcessorConfig: step.distributed
        ? { Mode: 'DISTRIBUTED', ExecutionType: 'STANDARD' }
        : { Mode: 'INLINE' },
      StartAt: details.startAt,
      States: states,
    },
    Output: PASS_COUNT,
    Next: settleOf(step.id),
  };
}
