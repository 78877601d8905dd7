/**
 * The program: a blueprint made uniform. Defaults are filled, lists are lists, every template is parsed, and each step
 * knows the strategy that applies to it and the steps it reads. The planner, the emitter and call-tool work on this and
 * never on the authored JSON.
 */
import type { ParamDeclaration, ParseMode } from '../blueprint/types.ts';
import type { Template } from '../expression/template.ts';

/** An error strategy with nothing left open; a step without one of its own has its nearest outward one, whole. */
export interface Strategy {
  /** `retry` is `abort` with two retries by default, so only two outcomes remain here. */
  onStepFailure: 'abort' | 'continue';
  maxRetries: number;
  retryDelayMs: number;
  backoffRate: number;
  maxDelayMs: number;
  jitter: boolean;
  collectErrors: boolean;
}

interface NodeBase {
  id: string;
  /** JSON pointer into the blueprint, e.g. `/steps/2/do/0`. */
  pointer: string;
  description?: string;
  when?: Template;
  failWhen?: Template;
  strategy: Strategy;
  /** From `timeoutSeconds`; absent: the server's limit for a call, none for a container. */
  timeoutMs?: number;
  /** Ids whose `steps.X` value is read before the step runs (when, params, over); a failed one skips this step. */
  reads: string[];
  /** Every id whose value or result any template of the step itself names (its inner steps not included). */
  uses: { values: string[]; results: string[] };
}

export interface ToolCallNode extends NodeBase {
  type: 'call';
  call: 'tool';
  /** Absent where the author named none. The document's binding has the server chosen at saving. */
  server?: string;
  tool: string;
  params: Record<string, Template>;
  parse?: ParseMode;
  select?: Template;
  retryUnknown: boolean;
}

export interface WorkflowCallNode extends NodeBase {
  type: 'call';
  call: 'workflow';
  workflow: string;
  /** `id@latest`: the revision is looked up when the step runs. */
  floating: boolean;
  params: Record<string, Template>;
  select?: Template;
}

export interface LoopNode extends NodeBase {
  type: 'loop';
  kind: 'over' | 'while';
  over?: Template;
  while?: Template;
  /** `max` of a while, else `maxItems`. */
  limit: number;
  as: string;
  body: StepNode[];
  concurrency: number;
  /** As it will run: a body with a sub-workflow or a map loop makes it `map` whatever the author wrote. */
  mode: 'batch' | 'map';
}

export interface ParallelNode extends NodeBase {
  type: 'parallel';
  branches: StepNode[][];
}

export interface PipeNode extends NodeBase {
  type: 'pipe';
  steps: StepNode[];
}

export interface CollectNode extends NodeBase {
  type: 'collect';
  steps: StepNode[];
  select?: Template;
}

export type StepNode = ToolCallNode | WorkflowCallNode | LoopNode | ParallelNode | PipeNode | CollectNode;

export interface Program {
  id: string;
  description?: string;
  version?: string;
  params: Record<string, ParamDeclaration>;
  strategy: Strategy;
  timeoutSeconds: number;
  steps: StepNode[];
  /** Absent: the last step's value. */
  output?: Template;
  outputUses: { values: string[]; results: string[] };
  /** Every step, nested ones too, by id. */
  byId: ReadonlyMap<string, StepNode>;
  /** For each step, the ids of the steps around it, outermost first. */
  ancestors: ReadonlyMap<string, readonly string[]>;
}
