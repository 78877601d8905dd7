/**
 * What a run will cost, before it runs: state transitions (AWS bills them), history events (at most 25,000 an execution)
 * and invocations of the call-tool function. Numbers where the blueprint tells, else a formula of the loops' sizes.
 *
 * It is the cost of a run in which every step runs and succeeds at once. Not in it: a skipped step (less), a task that is
 * sent again because its function's time ran out or a retry has to wait (`again` says what each time adds), redeliveries
 * and redrives. Of a sub-workflow only the states around it are counted.
 */

import { type Formula, type FormulaTerm, formula } from './formula.ts';
import type { Counts } from './plan/counts.ts';
import {
  add,
  BEGIN_AND_FINISH,
  branchEndCounts,
  EXECUTION,
  iterationCounts,
  ownCounts,
  REENTRY,
} from './plan/counts.ts';
import { innerLists, type Plan, type PlannedStep } from './plan/plan.ts';
import { itemLimit, literalItems } from './plan/worst-case.ts';

export interface Estimate {
  transitions: Formula;
  /** History events of the run's own execution; those of a distributed map's children are in `children`. */
  events: Formula;
  invocations: Formula;
  /** Sub-workflows started. */
  subRuns: Formula;
  /** The loops that are states, whose sizes stand in the formulas. */
  loops: LoopEstimate[];
  /** Each item of a distributed map is an execution with a history of its own. */
  children: { loop: string; events: Formula }[];
  /** What each time adds that a task is sent again. */
  again: { tasks: string[]; transitions: number; events: number; invocations: number };
  /** All of it in a few lines. */
  text: string;
}

interface LoopEstimate {
  loop: string;
  /** Number of iterations where it is known (a literal `over`; lanes): the formulas' numbers include them. */
  count?: number;
  /** At most so many items (`maxItems`), passes (`max`) or lanes. */
  atMost: number;
  runsAs: 'inline map' | 'distributed map' | 'lanes' | 'distributed lanes' | 'cycle of states';
}

/** How often something happens: a number, times the sizes of these loops. */
interface Times {
  number: number;
  of: string[];
}

/** Where in a run something happens. */
interface Place {
  /** In the whole run. */
  inRun: Times;
  /** In the execution it stands in: the run's own, or one child of a distributed map. */
  inExecution: Times;
  /** The distributed loop whose child that is. */
  child?: string;
}

interface Entry {
  place: Place;
  counts: Counts;
  subRuns: number;
}

const ONCE: Times = { number: 1, of: [] };

/** The estimate of a plan; pure. */
export function estimateRun(plan: Plan): Estimate {
  const run: Place = { inRun: ONCE, inExecution: ONCE };
  const entries: Entry[] = [
    { place: run, counts: add(EXECUTION, BEGIN_AND_FINISH), subRuns: 0 },
    ...countList(plan.steps, run),
  ];
  const inRun = (quantity: (entry: Entry) => number) =>
    formula(entries.map((entry) => term(quantity(entry), entry.place.inRun)));
  const eventsOf = (child: string | undefined) =>
    formula(
      entries
        .filter(({ place }) => place.child === child)
        .map(({ place, counts }) => term(counts.events, place.inExecution)),
    );
  const loops = loopsOf(plan.steps);
  const estimate = {
    transitions: inRun(({ counts }) => counts.transitions),
    events: eventsOf(undefined),
    invocations: inRun(({ counts }) => counts.invocations),
    subRuns: inRun(({ subRuns }) => subRuns),
    loops,
    children: loops
      .filter(({ runsAs }) => runsAs === 'distributed map' || runsAs === 'distributed lanes')
      .map(({ loop }) => ({ loop, events: eventsOf(loop) })),
    again: { tasks: reentrantTasks(plan.steps), ...REENTRY },
  };
  return { ...estimate, text: estimateText(estimate) };
}

function countList(steps: readonly PlannedStep[], place: Place): Entry[] {
  return steps.flatMap((step) => [
    { place, counts: ownCounts(step), subRuns: step.shape === 'sub-workflow' ? 1 : 0 },
    ...countInner(step, place),
  ]);
}

function countInner(step: PlannedStep, place: Place): Entry[] {
  switch (step.shape) {
    case 'call':
    case 'batch-loop':
    case 'sub-workflow':
      return [];
    case 'lanes':
      return [{ place: iterationPlace(place, step, step.lanes), counts: iterationCounts(step), subRuns: 0 }];
    case 'map-loop':
    case 'while-loop': {
      const size = step.shape === 'map-loop' ? literalItems(step.node) : undefined;
      const inside = iterationPlace(place, step, size);
      return [{ place: inside, counts: iterationCounts(step), subRuns: 0 }, ...countList(step.body, inside)];
    }
    case 'parallel':
      return step.branches.flatMap((branch) => [
        { place, counts: branchEndCounts(branch), subRuns: 0 },
        ...countList(branch, place),
      ]);
    case 'chain':
      return countList(step.steps, place);
  }
}

/** Inside a loop: as often as outside, times its size where that is known, else times the loop. */
function iterationPlace(outer: Place, step: PlannedStep, size: number | undefined): Place {
  const repeated = ({ number, of }: Times): Times =>
    size === undefined ? { number, of: [...of, step.id] } : { number: number * size, of };
  const inRun = repeated(outer.inRun);
  const distributed = 'distributed' in step && step.distributed;
  if (distributed) return { inRun, inExecution: ONCE, child: step.id };
  return { ...outer, inRun, inExecution: repeated(outer.inExecution) };
}

function term(each: number, times: Times): FormulaTerm {
  return { each: each * times.number, of: times.of };
}

function loopsOf(steps: readonly PlannedStep[]): LoopEstimate[] {
  return steps.flatMap((step) => [...loopOf(step), ...innerLists(step).flatMap((inner) => loopsOf(inner))]);
}

function loopOf(step: PlannedStep): LoopEstimate[] {
  switch (step.shape) {
    case 'lanes':
      return [
        {
          loop: step.id,
          atMost: step.lanes,
          count: step.lanes,
          runsAs: step.distributed ? 'distributed lanes' : 'lanes',
        },
      ];
    case 'map-loop': {
      const loop: LoopEstimate = {
        loop: step.id,
        atMost: itemLimit(step),
        runsAs: step.distributed ? 'distributed map' : 'inline map',
      };
      const count = literalItems(step.node);
      return [count === undefined ? loop : { ...loop, count }];
    }
    case 'while-loop':
      return [{ loop: step.id, atMost: step.node.limit, runsAs: 'cycle of states' }];
    default:
      return [];
  }
}

/** The steps that may be sent again when a function's time runs out or a retry has to wait. */
function reentrantTasks(steps: readonly PlannedStep[]): string[] {
  return steps.flatMap((step) => {
    const again =
      step.shape === 'batch-loop' || step.shape === 'lanes' || (step.shape === 'call' && step.waits);
    const inner = innerLists(step).flatMap((list) => reentrantTasks(list));
    return again ? [step.id, ...inner] : inner;
  });
}

function estimateText(estimate: Omit<Estimate, 'text'>): string {
  const { transitions, events, invocations, subRuns, loops, children, again } = estimate;
  const lines = [
    `state transitions: ${transitions.text}`,
    `history events: ${events.text}`,
    ...children.map(({ loop, events: own }) => `history events of each child of "${loop}": ${own.text}`),
    `invocations: ${invocations.text}`,
  ];
  if (subRuns.text !== '0')
    lines.push(`sub-workflow runs: ${subRuns.text} (their own costs are not included)`);
  const open = loops.filter(({ count }) => count === undefined);
  if (open.length > 0) {
    const sizes = open.map(({ loop, atMost, runsAs }) => `${loop} at most ${atMost} (${runsAs})`);
    lines.push(`where a loop's name stands for its size: ${sizes.join(', ')}`);
  }
  if (again.tasks.length > 0) {
    lines.push(
      `each time that one of ${listed(again.tasks)} is sent again (its function's time is over, or a retry has to wait) adds up to ${again.transitions} transitions, ${again.events} events, ${again.invocations} invocation`,
    );
  }
  return lines.join('\n');
}

const MAX_LISTED = 6;

function listed(ids: readonly string[]): string {
  const more = ids.length - MAX_LISTED;
  return ids.slice(0, MAX_LISTED).join(', ') + (more > 0 ? ` and ${more} more steps` : '');
}
