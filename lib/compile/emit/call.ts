/**
 * A tool call: one Task. With retries, the delay before the next attempt may not fit into what is left of the function's
 * time; then the task answers `wait`, and a Choice and a Wait send it again.
 *
 *     { "id": "pods", "type": "call", "tool": "list_pods" }  →  pods ─▶ next
 *     the same with "maxRetries": 3                          →  pods ─▶ pods next ─▶ next
 *                                                                ▲          └─ wait ─▶ pods wait ─┐
 *                                                                └────────────────────────────────┘
 */
import { nextOf, waitOf } from '../plan/names.ts';
import type { PlannedCall } from '../plan/plan.ts';
import { callComment } from './comment.ts';
import { KEEP_ANSWER, KEEP_TASK } from './payload.ts';
import type { Scope } from './scope.ts';
import { addChoice, addTask, addWait, catchFailure } from './task.ts';

export function emitCall(scope: Scope, step: PlannedCall, next: string): void {
  addTask(scope, step.id, {
    comment: callComment(step.node, scope.plan.document),
    op: 'call',
    step: step.id,
    output: step.waits ? KEEP_ANSWER : KEEP_TASK,
    next: step.waits ? nextOf(step.id) : next,
    ...catchFailure(step, next),
  });
  if (!step.waits) return;
  addChoice(scope, step.id, [{ status: 'wait', to: waitOf(step.id) }], next);
  addWait(scope, step.id);
}
