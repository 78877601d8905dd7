/**
 * The most events that one execution can write into its history: every loop at its limit, every branch's failure path,
 * every task sent again as often as the run's time allows. Not counted are redeliveries (a throttled function, a second
 * delivery) and redrives: the reserve below is theirs.
 *
 * A batch loop's task answers `more`, and a call `wait`, only when the function's time is nearly used up, so how often
 * one of them is sent again is bounded by time. Steps one after another share that time; branches and concurrent
 * iterations each have it to themselves.
 */
import { MAX_HISTORY_EVENTS, MAX_INLINE_CONCURRENCY } from '../../asl/limits.ts';
import type { LoopNode } from '../program.ts';
import { branchEndCounts, iterationCounts, ownCounts, PASS, REENTRY } from './counts.ts';
import type { PlannedStep } from './plan.ts';

/** Maps are inline only where a fifth of the history is left for redeliveries and redrives. */
export const INLINE_EVENT_BUDGET = MAX_HISTORY_EVENTS * 0.8;

export interface WorstCase {
  /** Events, without tasks that are sent again. */
  events: number;
  /** How many tasks that can be sent again may run at once. */
  reentrant: number;
}

const NONE: WorstCase = { events: 0, reentrant: 0 };

/** One after another: events add up, and only one of them runs at a time. */
export function worstOfList(steps: readonly PlannedStep[], distributed: ReadonlySet<string>): WorstCase {
  return steps.reduce<WorstCase>((sum, step) => {
    const worst = worstOfStep(step, distributed);
    return { events: sum.events + worst.events, reentrant: Math.max(sum.reentrant, worst.reentrant) };
  }, NONE);
}

/** @param distributed ids of the loops whose iterations are executions of their own and cost this history nothing. */
export function worstOfStep(step: PlannedStep, distributed: ReadonlySet<string>): WorstCase {
  const own = ownCounts(step).events;
  switch (step.shape) {
    case 'call':
      return { events: own, reentrant: step.waits ? 1 : 0 };
    case 'batch-loop':
      return { events: own, reentrant: 1 };
    case 'sub-workflow':
      return { events: own, reentrant: 1 };
    case 'lanes':
      if (distributed.has(step.id)) return { events: own, reentrant: 0 };
      return { events: own + step.lanes * iterationCounts(step).events, reentrant: step.lanes };
    case 'map-loop': {
      if (distributed.has(step.id)) return { events: own, reentrant: 0 };
      const body = worstOfList(step.body, distributed);
      const each = iterationCounts(step).events + PASS.events + body.events;
      return {
        events: own + each * itemLimit(step),
        reentrant: body.reentrant * Math.min(step.node.concurrency, MAX_INLINE_CONCURRENCY, itemLimit(step)),
      };
    }
    case 'while-loop': {
      const body = worstOfList(step.body, distributed);
      return {
        events: own + (iterationCounts(step).events + body.events) * step.node.limit,
        reentrant: body.reentrant,
      };
    }
    case 'parallel': {
      const branches = step.branches.map((branch) => {
        const worst = worstOfList(branch, distributed);
        return { ...worst, events: worst.events + branchEndCounts(branch).events + PASS.events };
      });
      return {
        events: branches.reduce((sum, branch) => sum + branch.events, own),
        reentrant: branches.reduce((sum, branch) => sum + branch.reentrant, 0),
      };
    }
    case 'chain': {
      const inner = worstOfList(step.steps, distributed);
      return { events: own + inner.events, reentrant: inner.reentrant };
    }
  }
}

/** Items at most: the length of a literal `over`, or `maxItems`. */
export function itemLimit(step: { node: LoopNode }): number {
  return literalItems(step.node) ?? step.node.limit;
}

/** The number of items where `over` is a literal array; templates in its items make no difference. */
export function literalItems({ over }: LoopNode): number | undefined {
  if (over?.kind === 'array') return over.items.length;
  return over?.kind === 'literal' && Array.isArray(over.value) ? over.value.length : undefined;
}

/** A worst case as one number. */
export function mostEvents(worst: WorstCase, runSeconds: number, functionSeconds: number): number {
  const again = Math.ceil(runSeconds / (functionSeconds / 2));
  return worst.events + worst.reentrant * again * REENTRY.events;
}
