/**
 * Which maps are distributed. An inline map writes its iterations into the history of the execution around it, which
 * holds 25,000 events; each item of a distributed one is an execution with a history of its own.
 *
 *     pods: map, maxItems 50,  one call an item      50 × 7 events      inline
 *     pods: map, maxItems 100,000 (the default)      700,000 events     distributed
 *     rows: map, 100 items, in each of them
 *       cells: map, 500 items                        rows distributed; cells inline in each of its children
 *
 * Within one execution the most expensive outermost map goes first until the rest fits, so as few maps as possible are
 * distributed. A map that wants more than 40 items at once is always distributed. A `while` cannot be: its passes depend
 * on each other.
 */
import { MAX_HISTORY_EVENTS, MAX_INLINE_CONCURRENCY } from '../../asl/limits.ts';
import { type Diagnostic, diagnostic } from '../../blueprint/diagnostics.ts';
import { BEGIN_AND_FINISH, EXECUTION } from './counts.ts';
import { innerLists, type PlannedStep } from './plan.ts';
import { INLINE_EVENT_BUDGET, mostEvents, worstOfList, worstOfStep } from './worst-case.ts';

export interface Distribution {
  distributed: ReadonlySet<string>;
  diagnostics: Diagnostic[];
}

interface Times {
  runSeconds: number;
  functionSeconds: number;
}

/** @param steps a plan's steps, with no map distributed yet. */
export function planDistribution(steps: readonly PlannedStep[], times: Times): Distribution {
  const distributed = new Set<string>(wideMaps(steps));
  const diagnostics: Diagnostic[] = [];
  const around = EXECUTION.events + BEGIN_AND_FINISH.events;
  distributeIn(steps, around, { distributed, diagnostics, times });
  return { distributed, diagnostics };
}

interface Work {
  distributed: Set<string>;
  diagnostics: Diagnostic[];
  times: Times;
}

/** Makes one execution fit, then the children of the maps that left it. */
function distributeIn(steps: readonly PlannedStep[], around: number, work: Work): void {
  const events = () =>
    around +
    mostEvents(worstOfList(steps, work.distributed), work.times.runSeconds, work.times.functionSeconds);
  const candidates = outermostMaps(steps, work.distributed)
    .map(({ step, passes }) => ({ step, events: passes * worstOfStep(step, work.distributed).events }))
    .sort((a, b) => b.events - a.events);
  for (const { step } of candidates) {
    if (events() <= INLINE_EVENT_BUDGET) break;
    work.distributed.add(step.id);
  }
  const most = events();
  if (most > MAX_HISTORY_EVENTS) work.diagnostics.push(tooManyEvents(steps, most, work));
  for (const step of childrenOf(steps, work.distributed)) {
    if (step.shape === 'map-loop') distributeIn(step.body, EXECUTION.events, work);
  }
}

function tooManyEvents(steps: readonly PlannedStep[], most: number, work: Work): Diagnostic {
  const costly = steps
    .flatMap(withWhiles)
    .map((step) => ({ step, events: worstOfStep(step, work.distributed).events }))
    .reduce((a, b) => (b.events > a.events ? b : a));
  const { node } = costly.step;
  const cause =
    costly.step.shape === 'while-loop'
      ? `the loop "${node.id}" alone can take ${costly.events} of them in its ${costly.step.node.limit} passes`
      : `the step "${node.id}" alone can take ${costly.events} of them`;
  return diagnostic('BP901', node.pointer, {
    message: `an execution of this blueprint can need ${most} history events, and Step Functions ends one at ${MAX_HISTORY_EVENTS}; ${cause}`,
    got: `${most} events`,
    expected: `at most ${MAX_HISTORY_EVENTS}`,
    hint: 'lower "max" of a "while" whose passes are states, use batch loops, or move part of the steps into a sub-workflow',
  });
}

/** A step and the whiles inside it, which multiply what is in them. */
function withWhiles(step: PlannedStep): PlannedStep[] {
  const inner = step.shape === 'map-loop' ? [] : innerLists(step).flatMap((list) => list.flatMap(withWhiles));
  return [...inner.filter((each) => each.shape === 'while-loop'), step];
}

function wideMaps(steps: readonly PlannedStep[]): string[] {
  return steps.flatMap((step) => {
    const inner = innerLists(step).flatMap(wideMaps);
    const wide = step.shape === 'map-loop' && step.node.concurrency > MAX_INLINE_CONCURRENCY;
    return wide ? [step.id, ...inner] : inner;
  });
}

/** The inline maps of an execution that are not inside another map of it, and how often each runs: whiles repeat them. */
function outermostMaps(
  steps: readonly PlannedStep[],
  distributed: ReadonlySet<string>,
  passes = 1,
): { step: PlannedStep; passes: number }[] {
  return steps.flatMap((step) => {
    if (isMap(step)) return distributed.has(step.id) ? [] : [{ step, passes }];
    const inside = step.shape === 'while-loop' ? passes * step.node.limit : passes;
    return innerLists(step).flatMap((list) => outermostMaps(list, distributed, inside));
  });
}

/** The distributed maps whose children this execution starts. */
function childrenOf(steps: readonly PlannedStep[], distributed: ReadonlySet<string>): PlannedStep[] {
  return steps.flatMap((step) =>
    distributed.has(step.id) ? [step] : innerLists(step).flatMap((list) => childrenOf(list, distributed)),
  );
}

function isMap(step: PlannedStep): boolean {
  return step.shape === 'map-loop' || step.shape === 'lanes';
}
