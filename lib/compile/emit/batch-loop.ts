/**
 * A batch loop: one Task that walks all the items. Before its function's time is over it answers `more` and is sent
 * again; where all that is left to do is to wait for a retry, it answers `wait`.
 *
 *     pods ─▶ pods next ─▶ next
 *      ▲ ▲        ├─ more ─────────────┐
 *      │ └────────│────────────────────┘
 *      └──────────└─ wait ─▶ pods wait
 */
import { nextOf, waitOf } from '../plan/names.ts';
import type { PlannedBatchLoop } from '../plan/plan.ts';
import { described } from './comment.ts';
import { KEEP_ANSWER } from './payload.ts';
import type { Scope } from './scope.ts';
import { addChoice, addTask, addWait, catchFailure } from './task.ts';

export function emitBatchLoop(scope: Scope, step: PlannedBatchLoop, next: string): void {
  const { node } = step;
  const how =
    node.kind === 'while'
      ? `while loop in one task, at most ${node.limit} passes`
      : `loop in one task, ${node.concurrency} at a time`;
  addTask(scope, step.id, {
    comment: described(how, node),
    op: 'loop',
    step: step.id,
    output: KEEP_ANSWER,
    next: nextOf(step.id),
    ...catchFailure(step, next),
  });
  addChoice(
    scope,
    step.id,
    [
      { status: 'more', to: step.id },
      { status: 'wait', to: waitOf(step.id) },
    ],
    next,
  );
  addWait(scope, step.id);
}
