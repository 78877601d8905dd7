/**
 * How a container of steps ended, from how the steps in it ended. Pure, and the same for a container walked inside a task and
 * for one of states that a settle task closes.
 *
 *     pipe      any failed step fails it; its value is the last step's
 *     parallel  under abort the first failed branch fails it; under continue it succeeds with null for that branch
 *     collect   a step that failed under abort fails it; else its value is { id: value }
 *
 * A list whose last step was skipped because another step failed counts as skipped for that reason, so that what reads the
 * container is skipped too.
 */
import { type StepError, StepFailure } from '../blueprint/errors.ts';
import type { Json, JsonObject } from '../blueprint/json.ts';
import type { CollectNode, ParallelNode, PipeNode, StepNode } from '../compile/program.ts';
import { type Frame, isFailureSkip, type Outcome, outcomeOf, scopeFor } from './frame.ts';
import { endsItsList, lastOf } from './program-index.ts';
import { evaluate, holds } from './templates.ts';

/** How a list ended: the error that ended it, or its last step's outcome. */
export type ListOutcome = { error: StepError } | { last: Outcome };

/** The list's end; `parent` is what it stands in. */
export function listOutcome(frame: Frame, list: readonly StepNode[], parent: StepNode): ListOutcome {
  for (const node of list) {
    const outcome = outcomeOf(frame, node.id);
    if (outcome.status === 'failed' && outcome.error !== undefined && endsItsList(node, parent)) {
      return { error: outcome.error };
    }
  }
  return { last: outcomeOf(frame, lastOf(list).id) };
}

/** How a pipe, parallel or collect ended, `failWhen` and `select` aside. `value` is filled where the steps' values are. */
export function containerOutcome(frame: Frame, node: ParallelNode | PipeNode | CollectNode): Outcome {
  switch (node.type) {
    case 'pipe': {
      const end = listOutcome(frame, node.steps, node);
      if ('error' in end) return failed(end.error);
      if (isFailureSkip(end.last)) return skipped(end.last.reason);
      return succeeded(end.last.value);
    }
    case 'collect': {
      const end = listOutcome(frame, node.steps, node);
      if ('error' in end) return failed(end.error);
      const value: JsonObject = {};
      for (const step of node.steps) value[step.id] = outcomeOf(frame, step.id).value;
      return succeeded(value);
    }
    case 'parallel': {
      const ends = node.branches.map((branch) => listOutcome(frame, branch, node));
      const first = ends.find((end) => 'error' in end);
      if (first !== undefined && 'error' in first && node.strategy.onStepFailure === 'abort')
        return failed(first.error);
      return succeeded(ends.map((end) => ('error' in end ? null : end.last.value)));
    }
  }
}

/**
 * `select` of a collect, then `failWhen`, over what a container came to. Throws the failures of the templates themselves, and
 * FailedCondition.
 */
export function shaped(frame: Frame, node: Exclude<StepNode, { type: 'call' }>, outcome: Outcome): Outcome {
  if (outcome.status !== 'succeeded') return outcome;
  let { value } = outcome;
  if (node.type === 'collect' && node.select !== undefined) {
    value = evaluate(node.select, scopeFor(frame, node.uses, { output: value }), node.id, 'select');
  }
  if (
    node.failWhen !== undefined &&
    holds(node.failWhen, scopeFor(frame, node.uses, { output: value }), node.id, 'failWhen')
  ) {
    throw new StepFailure('FailedCondition', `step "${node.id}": failWhen became true`);
  }
  return { ...outcome, value };
}

function succeeded(value: Json): Outcome {
  return { status: 'succeeded', value, attempts: 0, ms: 0 };
}
function failed(error: StepError): Outcome {
  return { status: 'failed', error, value: null, attempts: 0, ms: 0 };
}
function skipped(reason: string | undefined): Outcome {
  return { status: 'skipped', reason: reason ?? 'when', value: null, attempts: 0, ms: 0 };
}
