/**
 * The plan: for each step of a program, which states it becomes and where a failure leads. Everything that is decided is
 * decided here; the emitter only writes it down, and the estimate only counts it.
 */
import type { Diagnostic } from '../../blueprint/diagnostics.ts';
import type { BlueprintDocument } from '../../blueprint/types.ts';
import type {
  CollectNode,
  LoopNode,
  ParallelNode,
  PipeNode,
  Program,
  ToolCallNode,
  WorkflowCallNode,
} from '../program.ts';
import type { FailureTarget } from './failures.ts';

/** What a machine is compiled for. */
export interface CompileTarget {
  callToolArn: string;
  /** Time limit of the call-tool function; 900 on AWS. */
  functionTimeoutSeconds: number;
}

interface PlannedBase {
  id: string;
  /** The step's first state. */
  entry: string;
  onFailure: FailureTarget;
  /** Whether its first task can answer `skipped` instead of doing its work. */
  skippable: boolean;
}

/** call → Task; with retries a Choice and a Wait for a delay that does not fit into the function's time. */
export interface PlannedCall extends PlannedBase {
  shape: 'call';
  node: ToolCallNode;
  waits: boolean;
}

/** loop, batch, at most 10 at once → one Task that walks the items, and a Choice and a Wait that send it again. */
export interface PlannedBatchLoop extends PlannedBase {
  shape: 'batch-loop';
  node: LoopNode;
}

/** loop, batch, over 10 at once → items Task, Map over lanes, settle Task. */
export interface PlannedLanes extends PlannedBase {
  shape: 'lanes';
  node: LoopNode;
  lanes: number;
  distributed: boolean;
}

/** loop, map → items Task, Map over the items, settle Task. */
export interface PlannedMapLoop extends PlannedBase {
  shape: 'map-loop';
  node: LoopNode;
  distributed: boolean;
  body: PlannedStep[];
}

/** while, map → a pass Task and the body, in a cycle. */
export interface PlannedWhileLoop extends PlannedBase {
  shape: 'while-loop';
  node: LoopNode;
  body: PlannedStep[];
}

/** sub-workflow → prepare Task, startExecution.sync:2, adopt Task. */
export interface PlannedSubWorkflow extends PlannedBase {
  shape: 'sub-workflow';
  node: WorkflowCallNode;
}

/** parallel → enter Task where needed, Parallel, settle Task. */
export interface PlannedParallel extends PlannedBase {
  shape: 'parallel';
  node: ParallelNode;
  enters: boolean;
  branches: PlannedStep[][];
}

/** pipe, collect → enter Task where needed, the inner states, a settle Task that has the step's own name. */
export interface PlannedChain extends PlannedBase {
  shape: 'chain';
  node: PipeNode | CollectNode;
  enters: boolean;
  steps: PlannedStep[];
}

export type PlannedStep =
  | PlannedCall
  | PlannedBatchLoop
  | PlannedLanes
  | PlannedMapLoop
  | PlannedWhileLoop
  | PlannedSubWorkflow
  | PlannedParallel
  | PlannedChain;

export interface Plan {
  program: Program;
  document: BlueprintDocument;
  /** SHA-256 of the document's canonical JSON: what tasks name it by. */
  hash: string;
  target: CompileTarget;
  steps: PlannedStep[];
  /** Limits that no way of planning keeps. */
  diagnostics: Diagnostic[];
}

/** The first state of a list, or what follows an empty one. */
export function entryOf(steps: readonly PlannedStep[], next: string): string {
  return steps[0]?.entry ?? next;
}

/** The lists of planned steps inside a planned step, as far as they have states of their own. */
export function innerLists(step: PlannedStep): readonly (readonly PlannedStep[])[] {
  switch (step.shape) {
    case 'call':
    case 'batch-loop':
    case 'lanes':
    case 'sub-workflow':
      return [];
    case 'map-loop':
    case 'while-loop':
      return [step.body];
    case 'parallel':
      return step.branches;
    case 'chain':
      return [step.steps];
  }
}
