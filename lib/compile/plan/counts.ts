/**
 * What states cost: transitions (what AWS bills), history events (at most 25,000 an execution) and invocations of the
 * call-tool function. The one table behind the choice between inline and distributed maps and behind the estimate.
 *
 * Events are those that a state writes when it succeeds at once, as recorded by AWS: a Task writes StateEntered,
 * TaskScheduled, TaskStarted, TaskSucceeded and StateExited; `.sync` adds TaskSubmitted; a Map writes StateEntered,
 * MapStateStarted, MapStateSucceeded and StateExited, two events an iteration, and, distributed, MapRunStarted and
 * MapRunSucceeded instead of those of the iterations.
 */
import type { PlannedStep } from './plan.ts';

export interface Counts {
  transitions: number;
  events: number;
  invocations: number;
}

const NOTHING: Counts = { transitions: 0, events: 0, invocations: 0 };

export function add(...counts: readonly Counts[]): Counts {
  const sum = { ...NOTHING };
  for (const each of counts) {
    sum.transitions += each.transitions;
    sum.events += each.events;
    sum.invocations += each.invocations;
  }
  return sum;
}

function times(counts: Counts, factor: number): Counts {
  return {
    transitions: counts.transitions * factor,
    events: counts.events * factor,
    invocations: counts.invocations * factor,
  };
}

const TASK: Counts = { transitions: 1, events: 5, invocations: 1 };
const SUB_EXECUTION: Counts = { transitions: 1, events: 6, invocations: 0 };
const CHOICE: Counts = { transitions: 1, events: 2, invocations: 0 };
const WAIT = CHOICE;
/** The Pass at the end of an iteration or a branch. */
export const PASS = CHOICE;
const PARALLEL: Counts = { transitions: 1, events: 4, invocations: 0 };
const MAP: Counts = { transitions: 1, events: 4, invocations: 0 };
const DISTRIBUTED_MAP: Counts = { transitions: 1, events: 6, invocations: 0 };
/** MapIterationStarted and MapIterationSucceeded. */
const ITERATION: Counts = { transitions: 0, events: 2, invocations: 0 };
/** ExecutionStarted and ExecutionSucceeded: of the run, of each child of a distributed map. */
export const EXECUTION: Counts = { transitions: 0, events: 2, invocations: 0 };
/** ` begin` and ` finish`. */
export const BEGIN_AND_FINISH = times(TASK, 2);
/** A task that is sent again after `wait`. */
export const REENTRY = add(CHOICE, WAIT, TASK);

/** The states of a step that are entered once each time it runs, without its iterations and inner steps. */
export function ownCounts(step: PlannedStep): Counts {
  switch (step.shape) {
    case 'call':
      return step.waits ? add(TASK, CHOICE) : TASK;
    case 'batch-loop':
      return add(TASK, CHOICE);
    case 'lanes':
      return add(beforeMap(step), mapOf(step), TASK, CHOICE);
    case 'map-loop':
      return add(beforeMap(step), mapOf(step), TASK, CHOICE);
    case 'while-loop':
      return add(TASK, CHOICE);
    case 'sub-workflow':
      return add(TASK, CHOICE, SUB_EXECUTION, TASK, CHOICE);
    case 'parallel':
      return add(entering(step), PARALLEL, TASK, CHOICE);
    case 'chain':
      return add(entering(step), TASK);
  }
}

/** The states of a step itself in one of its iterations: a lane's task, the task between the passes of a while. */
export function iterationCounts(step: PlannedStep): Counts {
  switch (step.shape) {
    case 'lanes':
      return add(step.distributed ? EXECUTION : ITERATION, TASK, CHOICE, PASS);
    case 'map-loop':
      return add(step.distributed ? EXECUTION : ITERATION, endsInChoice(step.body) ? PASS : NOTHING);
    case 'while-loop':
      return add(TASK, CHOICE);
    default:
      return NOTHING;
  }
}

/** The Pass at the end of a branch, where its last state cannot end it. */
export function branchEndCounts(branch: readonly PlannedStep[]): Counts {
  return endsInChoice(branch) ? PASS : NOTHING;
}

/** A Choice cannot end an iteration or a branch, so a Pass follows it; a Task can. */
function endsInChoice(list: readonly PlannedStep[]): boolean {
  const last = list.at(-1);
  if (last === undefined) return true;
  return !(last.shape === 'chain' || (last.shape === 'call' && !last.waits));
}

function beforeMap(step: { skippable: boolean }): Counts {
  return step.skippable ? add(TASK, CHOICE) : TASK;
}

function mapOf(step: { distributed: boolean }): Counts {
  return step.distributed ? DISTRIBUTED_MAP : MAP;
}

function entering(step: { enters: boolean; skippable: boolean }): Counts {
  if (!step.enters) return NOTHING;
  return step.skippable ? add(TASK, CHOICE) : TASK;
}
