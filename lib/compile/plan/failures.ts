/**
 * Where the machine goes when a step has failed and its tries are used up.
 *
 * A failed step under `continue` is recorded and its list goes on. Under `abort`, and always in a loop's item and in a
 * pipe, the step fails the list it stands in, and what is around the list decides:
 *
 *   top of the blueprint    the run ends: the task's error is not caught, so its state is red and can be redriven
 *   branch of a parallel    the branch ends; the parallel's settle task judges once all branches have ended
 *   item of a map           the iteration ends; the loop's settle task judges
 *   pass of a while         the loop's own task ends the loop, unless that would end the run: then the run ends here
 *   pipe, collect           its settle task records the failure, unless that would end the run: then the run ends here
 *
 * Ending the run at the failed step itself, and not at the task of a container around it, is what makes a redrive start
 * again with that step.
 */
import type { Program, StepNode } from '../program.ts';
import { branchEndOf, endOf } from './names.ts';

export type FailureTarget =
  /** Not caught: the execution fails. */
  | { to: 'end-run' }
  /** Caught; on with the step after it in its list. */
  | { to: 'next' }
  /** Caught; on with this state. */
  | { to: 'state'; name: string };

const END_RUN: FailureTarget = { to: 'end-run' };
const NEXT: FailureTarget = { to: 'next' };

/** A list of steps as its steps' failures see it. */
interface List {
  /** Whether a step under `continue` lets the list go on. */
  goesOn: boolean;
  /** Where a failure of the list itself leads. */
  out: FailureTarget;
}

/**
 * The failure target of every step that has states of its own: all but those inside batch loops, whose failures stay
 * inside the loop's task.
 */
export function planFailures(program: Program): ReadonlyMap<string, FailureTarget> {
  const targets = new Map<string, FailureTarget>();
  visitList(program.steps, { goesOn: true, out: END_RUN }, targets);
  return targets;
}

function visitList(steps: readonly StepNode[], list: List, targets: Map<string, FailureTarget>): void {
  for (const step of steps) {
    const target = step.strategy.onStepFailure === 'continue' && list.goesOn ? NEXT : list.out;
    targets.set(step.id, target);
    for (const { steps: inner, ...innerList } of innerListsOf(step, target)) {
      visitList(inner, innerList, targets);
    }
  }
}

/** The lists inside a step that have states, given where the step's own failure leads. */
function innerListsOf(step: StepNode, target: FailureTarget): (List & { steps: readonly StepNode[] })[] {
  const ownTask: FailureTarget = target.to === 'end-run' ? END_RUN : { to: 'state', name: step.id };
  switch (step.type) {
    case 'call':
      return [];
    case 'loop': {
      if (step.mode === 'batch') return [];
      const judge: FailureTarget = { to: 'state', name: step.kind === 'while' ? step.id : endOf(step.id) };
      // A while under `continue` has succeeded up to the pass that failed, also where its own failure would end the run.
      const out = step.kind === 'while' && step.strategy.onStepFailure === 'abort' ? ownTask : judge;
      return [{ steps: step.body, goesOn: false, out }];
    }
    case 'parallel':
      return step.branches.map((steps, i) => ({
        steps,
        goesOn: true,
        out: { to: 'state', name: branchEndOf(step.id, i) },
      }));
    case 'pipe':
      return [{ steps: step.steps, goesOn: false, out: ownTask }];
    case 'collect':
      return [{ steps: step.steps, goesOn: true, out: ownTask }];
  }
}
