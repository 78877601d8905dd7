/**
 * A `while` of states: its own task decides before each pass whether there is one, and says where the pass works.
 *
 *     pages ─▶ pages next ─▶ next
 *       ▲          └─ pass ─▶ first state of the body ─▶ … ─┐
 *       └───────────────────────────────────────────────────┘
 *
 *     at "" → pages answers pass, at "pages/00000/" → the body → pages answers pass, at "pages/00001/" → …
 *           → pages answers done, at ""
 */
import { nextOf } from '../plan/names.ts';
import { entryOf, type PlannedWhileLoop } from '../plan/plan.ts';
import { described } from './comment.ts';
import { leavePass, MOVE_TO_ANSWER } from './payload.ts';
import type { Scope } from './scope.ts';
import { addChoice, addTask, catchFailure } from './task.ts';

export function emitWhileLoop(scope: Scope, step: PlannedWhileLoop, next: string): void {
  addTask(scope, step.id, {
    comment: described(`while loop of states, at most ${step.node.limit} passes`, step.node),
    op: 'pass',
    step: step.id,
    output: MOVE_TO_ANSWER,
    next: nextOf(step.id),
    ...catchFailure(step, next, leavePass(step.id)),
  });
  addChoice(scope, step.id, [{ status: 'pass', to: entryOf(step.body, step.id) }], next);
  scope.emitList(scope, step.body, step.id);
}
