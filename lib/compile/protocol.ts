/**
 * What a compiled state machine says to call-tool and what it hears back. A compiled machine outlives the code that
 * compiled it, so this is a wire contract: fields are added under a new `abi`, and every earlier one is still accepted.
 *
 * No argument and no result stands in either message: call-tool reads the document by its hash and the values from the
 * store.
 */
import type { Json } from '../blueprint/json.ts';

export const ABI = 1;

/** Fields of every task. */
interface TaskBase {
  abi: typeof ABI;
  workflow: string;
  /** Hash of the document that the machine was compiled from. */
  hash: string;
}

/** The run's first task: opens the run record, whoever started the execution. */
export interface BeginTask extends TaskBase {
  op: 'begin';
  /** The execution's input, as it came. */
  input: Json;
  /** Execution ARN, name, start time and redrive count from the context object. */
  execution: string;
  name: string;
  startedAt: string;
  epoch: number;
  machine: string;
}

/** Fields of every task after ` begin`. */
interface StepTaskBase extends TaskBase {
  run: string;
  /** ARN of the root execution: of the parent where the task runs in a child of a distributed map. */
  execution: string;
  /** Times the execution has been redriven. */
  epoch: number;
  step: string;
  /** Path prefix of the loop iteration around the step: `` or `pods/00012/`. The occurrence is `prefix + step`. */
  at: string;
}

/** A tool call. Answers done, skipped or wait. */
export interface CallTask extends StepTaskBase {
  op: 'call';
}
/** A whole batch loop (`over` or `while`) of concurrency up to 10. Answers done, skipped, more or wait. */
export interface LoopTask extends StepTaskBase {
  op: 'loop';
}
/** Evaluates `when` and `over` of a loop that runs in lanes or as a map. Answers done or skipped, with `count`. */
export interface ItemsTask extends StepTaskBase {
  op: 'items';
}
/** One lane of a batch loop. Answers done, more or wait; a failed item never fails the lane. */
export interface LaneTask extends StepTaskBase {
  op: 'lane';
  lane: number;
}
/** Next pass of a `while` loop of states. Answers `pass` with the inner `at`, or done or skipped with the outer `at`. */
export interface PassTask extends StepTaskBase {
  op: 'pass';
}
/** Entry of a parallel, pipe or collect that has `when` or `timeoutSeconds`. Answers done or skipped. */
export interface EnterTask extends StepTaskBase {
  op: 'enter';
}
/** End of a container (loop, parallel, pipe, collect). Answers done, or again where a redrive must run parts anew. */
export interface SettleTask extends StepTaskBase {
  op: 'settle';
}
/** Writes the child's run record. Answers skipped, or done with `child`; done without `child`: adopt at once. */
export interface PrepareTask extends StepTaskBase {
  op: 'prepare';
}
/** Takes a finished child's output. Answers done, or wait while a redriven child still runs. */
export interface AdoptTask extends StepTaskBase {
  op: 'adopt';
}
/** The run's last task: evaluates `output`, closes the record. `step` is empty. Answers done. */
export interface FinishTask extends StepTaskBase {
  op: 'finish';
}

export type StepTask =
  | CallTask
  | LoopTask
  | ItemsTask
  | LaneTask
  | PassTask
  | EnterTask
  | SettleTask
  | PrepareTask
  | AdoptTask
  | FinishTask;

export type Task = BeginTask | StepTask;

export interface TaskAnswer {
  status: 'done' | 'skipped' | 'more' | 'wait' | 'pass' | 'again';
  ms: number;
  /** Size of the step's value as JSON. */
  bytes?: number;
  /**
   * For people who look at the execution, and read by no state: the step's value up to 32 KiB, or a link to where it is stored,
   * or nothing, as the deployment says.
   */
  value?: Json;
  /** With `wait`: seconds until the task is to be sent again, at least 1. */
  seconds?: number;
  /** With `items`: how many. */
  count?: number;
  /** With `pass`, and when a while loop ends: the `at` that the following states have. */
  at?: string;
  /** From `begin`: the run's id. */
  run?: string;
  /** From `prepare`: what startExecution.sync:2 is to start. */
  child?: { stateMachineArn: string; name: string; input: { run: string } };
}

/** Error names beside the step error kinds: platform conditions that the machine itself handles. */
export const BUSY = 'Busy';
/** A second delivery of one schedule occurrence: the execution ends at once, as a success without a run. */
export const DUPLICATE = 'Duplicate';
