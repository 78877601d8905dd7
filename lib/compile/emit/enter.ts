/**
 * Entry of a parallel, pipe or collect with a `when` or a time limit: a task that evaluates the one and stores the
 * deadline of the other. Without either there is no such state.
 *
 *     report enter ─▶ report enter next ─▶ first state inside
 *                          └─ skipped ─▶ next
 */
import { enterOf, nextOf } from '../plan/names.ts';
import type { PlannedChain, PlannedParallel } from '../plan/plan.ts';
import { KEEP_ANSWER, KEEP_TASK } from './payload.ts';
import type { Scope } from './scope.ts';
import { addChoice, addTask, catchFailure } from './task.ts';

export function emitEnter(
  scope: Scope,
  step: PlannedParallel | PlannedChain,
  first: string,
  next: string,
): void {
  if (!step.enters) return;
  const enter = enterOf(step.id);
  addTask(scope, enter, {
    comment: `entry of the ${step.node.type} "${step.id}"`,
    op: 'enter',
    step: step.id,
    output: step.skippable ? KEEP_ANSWER : KEEP_TASK,
    next: step.skippable ? nextOf(enter) : first,
    ...catchFailure(step, next),
  });
  if (step.skippable) addChoice(scope, enter, [{ status: 'skipped', to: next }], first);
}
