/**
 * A pipe or a collect: the inner steps one after another, then a task with the step's own name that makes its value and
 * records how it ended.
 *
 *     { "id": "report", "type": "pipe", "steps": [{ "id": "read", … }, { "id": "count", … }] }
 *   → read ─▶ count ─▶ report ─▶ next
 */
import { entryOf, type PlannedChain } from '../plan/plan.ts';
import { described } from './comment.ts';
import { emitEnter } from './enter.ts';
import { KEEP_TASK } from './payload.ts';
import type { Scope } from './scope.ts';
import { addTask, catchFailure } from './task.ts';

export function emitChain(scope: Scope, step: PlannedChain, next: string): void {
  emitEnter(scope, step, entryOf(step.steps, step.id), next);
  scope.emitList(scope, step.steps, step.id);
  const { node } = step;
  const what =
    node.type === 'pipe' ? 'value of the pipe' : `collects ${listed(node.steps.map(({ id }) => id))}`;
  addTask(scope, step.id, {
    comment: described(what, node),
    op: 'settle',
    step: step.id,
    output: KEEP_TASK,
    next,
    ...catchFailure(step, next),
  });
}

const MAX_LISTED = 5;

function listed(ids: readonly string[]): string {
  const more = ids.length - MAX_LISTED;
  return ids.slice(0, MAX_LISTED).join(', ') + (more > 0 ? ` and ${more} more` : '');
}
