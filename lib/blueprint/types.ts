/**
 * The blueprint language as an author writes it: what the schema accepts and what is stored.
 *
 * Field names are those of the MCP Workflow Engine paper (sections 3.3 to 3.7). Nothing here is normalized: defaults
 * are filled and lists are made uniform by `parseProgram` in `lib/compile/parse.ts`.
 */
import type { Json, JsonObject } from './json.ts';

export const PARAM_TYPES = ['string', 'number', 'integer', 'boolean', 'array', 'object'] as const;
export type ParamType = (typeof PARAM_TYPES)[number];

export interface ParamDeclaration {
  type: ParamType;
  description?: string;
  /** Absent: the parameter is required. null: it is optional and has no value. */
  default?: Json;
}

export interface ErrorStrategy {
  onStepFailure?: 'abort' | 'continue' | 'retry';
  maxRetries?: number;
  retryDelayMs?: number;
  backoffRate?: number;
  maxDelayMs?: number;
  jitter?: boolean;
  collectErrors?: boolean;
}

/** How the value of a call is read out of the tool's result; see "Results" in docs/blueprints.md. */
export const PARSE_MODES = ['structured', 'json', 'yaml', 'lines', 'text', 'raw'] as const;
export type ParseMode = (typeof PARSE_MODES)[number];

interface StepBase {
  id: string;
  description?: string;
  /** A whole template or a literal boolean. */
  when?: Json;
  failWhen?: Json;
  errorStrategy?: ErrorStrategy;
  timeoutSeconds?: number;
}

export interface ToolCallStep extends StepBase {
  type: 'call';
  /** "list_pods", or "k8s/list_pods" where two servers offer it. */
  tool: string;
  params?: JsonObject;
  parse?: ParseMode;
  select?: Json;
  /** Repeat this call even if it may already have been carried out (outcome unknown). */
  retryUnknown?: boolean;
}

export interface WorkflowCallStep extends StepBase {
  type: 'call';
  /** "other-workflow" (pinned at saving) or "other-workflow@latest" (floats). */
  workflow: string;
  params?: JsonObject;
  select?: Json;
}

export type CallStep = ToolCallStep | WorkflowCallStep;

export interface LoopStep extends StepBase {
  type: 'loop';
  /** A whole template or a literal array; exactly one of `over` and `while`. */
  over?: Json;
  while?: Json;
  /** Passes at most; required with `while`. */
  max?: number;
  as?: string;
  do: Step | Step[];
  concurrency?: number;
  maxItems?: number;
  mode?: 'batch' | 'map';
}

export interface ParallelStep extends StepBase {
  type: 'parallel';
  branches: (Step | Step[])[];
}

export interface PipeStep extends StepBase {
  type: 'pipe';
  steps: Step[];
}

export interface CollectStep extends StepBase {
  type: 'collect';
  steps: Step[];
  select?: Json;
}

export type Step = CallStep | LoopStep | ParallelStep | PipeStep | CollectStep;

/** A schedule that ships with a blueprint of the deployment. */
export interface BlueprintSchedule {
  name: string;
  /** `cron(…)`, `rate(…)` or `at(…)`. */
  schedule: string;
  /** IANA name. Default: UTC. */
  timezone?: string;
  params?: JsonObject;
  /** Default: true. */
  enabled?: boolean;
}

export interface Blueprint {
  $schema?: string;
  id: string;
  description?: string;
  version?: string;
  params?: Record<string, ParamDeclaration>;
  errorStrategy?: ErrorStrategy;
  timeoutSeconds?: number;
  steps: Step[];
  output?: Json;
  /** Only in blueprints that the deployment owns. */
  schedules?: BlueprintSchedule[];
}

/** What a call step of a stored document was bound to at saving. */
export interface ToolBinding {
  server: string;
  tool: string;
}

/** The revision that a sub-workflow step was pinned to at saving; absent for `@latest`. */
export interface WorkflowBinding {
  workflow: string;
  /** Absent in a blueprint that the stack owns: at synth only the document is known, its number is given when it is deployed. */
  revision?: number;
  hash: string;
}

/**
 * What is stored in S3 for a revision, immutable, named by the SHA-256 of its canonical JSON. The hash covers what was
 * resolved at saving. A call step missing from `tools` binds at run time.
 */
export interface BlueprintDocument {
  abi: 1;
  blueprint: Blueprint;
  tools: Record<string, ToolBinding>;
  workflows: Record<string, WorkflowBinding>;
}
