/**
 * A parallel: each branch catches its own failures and ends in the constant 0, so all of them settle; the task after the
 * Parallel then judges. After a redrive it answers `again`, and the Parallel runs anew: what succeeded is replayed.
 *
 *     both (Parallel: left ─▶ …, right ─▶ …) ─▶ both settle ─▶ both settle next ─▶ next
 *      ▲                                                            └─ again ─┐
 *      └─────────────────────────────────────────────────────────────────────┘
 */
import { branchEndOf, nextOf, settleOf } from '../plan/names.ts';
import { entryOf, type PlannedParallel, type PlannedStep } from '../plan/plan.ts';
import { described } from './comment.ts';
import { endEarly } from './end-early.ts';
import { emitEnter } from './enter.ts';
import { KEEP_ANSWER, KEEP_TASK } from './payload.ts';
import { addState, innerScope, type Scope } from './scope.ts';
import { addChoice, addEnd, addTask, catchFailure } from './task.ts';

export function emitParallel(scope: Scope, step: PlannedParallel, next: string): void {
  const settle = settleOf(step.id);
  emitEnter(scope, step, step.id, next);
  addState(scope, step.id, {
    Type: 'Parallel',
    Comment: described(`${step.branches.length} branches at once`, step.node),
    Branches: step.branches.map((branch, i) => emitBranch(scope, branch, branchEndOf(step.id, i))),
    Output: KEEP_TASK,
    Next: settle,
  });
  addTask(scope, settle, {
    comment: `end of the parallel "${step.id}"`,
    op: 'settle',
    step: step.id,
    output: KEEP_ANSWER,
    next: nextOf(settle),
    ...catchFailure(step, next),
  });
  addChoice(scope, settle, [{ status: 'again', to: step.id }], next);
}

function emitBranch(scope: Scope, branch: readonly PlannedStep[], end: string) {
  const inner = innerScope(scope);
  inner.emitList(inner, branch, end);
  addEnd(inner, end);
  endEarly(inner, end);
  return { StartAt: entryOf(branch, end), States: inner.states };
}
