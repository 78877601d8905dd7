/**
 * One task's work: what it is done with, and when it must stop. Every place that sends something asks here first.
 *
 * There are three ways to stop. The run is cancelled or its time is over: what is in flight is aborted and fails. The lease
 * is lost: another delivery has the step, so everything ends at once and nothing more is written. The function's time runs
 * short: nothing new is started, and the task is suspended in order.
 */
import { StepFailure } from '../blueprint/errors.ts';
import { allowsTool, type ToolAllowList } from '../blueprint/tool-allow-list.ts';
import type { BlueprintDocument, ToolBinding } from '../blueprint/types.ts';
import type { ToolCallNode } from '../compile/program.ts';
import type { RunRecord } from '../store/records.ts';
import type { AttemptBudget } from './budget.ts';
import type { ResolvedTool, StepsEnvironment } from './environment.ts';
import type { ProgramIndex } from './program-index.ts';

export interface Work {
  env: StepsEnvironment;
  document: BlueprintDocument;
  index: ProgramIndex;
  run: RunRecord;
  owner: string;
  epoch: number;
  /** Aborted with a `Stop` or a `LeaseLost` as its reason. */
  signal: AbortSignal;
  /** Makes sure that the step is still this task's: what was read before is then nobody else's. Throws LeaseLost. */
  hold(): Promise<void>;
  budget: AttemptBudget;
  /** Tools bound in this task, by step. */
  tools: Map<string, ResolvedTool>;
  /** Calls that this invocation has started: the first one is never put off. */
  started: { calls: number };
}

/** Why the run, or a container with a time limit, ended before the work did. */
export class Stop extends Error {
  readonly kind: 'cancelled' | 'run-deadline' | 'step-deadline';
  constructor(kind: Stop['kind'], message: string) {
    super(message);
    this.name = 'Stop';
    this.kind = kind;
  }
}

/** The function's time runs short, or a delay does not fit into it: the task goes on in another invocation. */
export class Suspended extends Error {
  /** Epoch ms before which nothing is to be done. */
  readonly notBefore: number | undefined;
  constructor(notBefore?: number) {
    super('suspended: the work goes on in another invocation');
    this.name = 'Suspended';
    this.notBefore = notBefore;
  }
}

/** The failure that a stop is for a step that had nothing in flight. */
export function failureOfStop(stop: Stop): StepFailure {
  return new StepFailure(
    stop.kind === 'step-deadline' ? 'LimitExceeded' : 'Cancelled',
    stop.message,
    {},
    { cause: stop },
  );
}

/** Throws where the work is over: LeaseLost, or the failure of the stop. */
export function throwIfStopped(work: Pick<Work, 'signal'>): void {
  if (!work.signal.aborted) return;
  const reason: unknown = work.signal.reason;
  if (reason instanceof Stop) throw failureOfStop(reason);
  throw reason;
}

/**
 * The tool that a step is bound to: at saving, as its author wrote it, or now. One look-up a task.
 * Throws UnknownTool, ToolNotAllowed, ServerUnavailable.
 */
export async function resolveTool(work: Work, node: ToolCallNode): Promise<ResolvedTool> {
  const known = work.tools.get(node.id);
  if (known !== undefined) return known;
  const bound = Object.hasOwn(work.document.tools, node.id) ? work.document.tools[node.id] : undefined;
  const named = node.server === undefined ? { tool: node.tool } : { server: node.server, tool: node.tool };
  const { tools } = work.run.principal;
  // Before its server is so much as connected to, where it is known.
  if (bound !== undefined) requireTool(tools, bound);
  const tool = await work.env.downstream.resolveTool(bound ?? named);
  requireTool(tools, tool);
  work.tools.set(node.id, tool);
  return tool;
}

/**
 * The allow-list of the authority that the work is done with, as it was recorded at the start: a list that was narrowed since
 * holds for what is started from then on. Throws ToolNotAllowed.
 */
export function requireTool(list: ToolAllowList, { server, tool }: ToolBinding): void {
  if (allowsTool(list, { server, tool })) return;
  throw new StepFailure(
    'ToolNotAllowed',
    `"${server}/${tool}" is not among the tools that this run was given the authority for; nothing was sent`,
    { server, tool },
  );
}

/** True where a call of this step may be made again although it is not known what became of it. */
export function mayRepeat(node: ToolCallNode, tool: ResolvedTool): boolean {
  return tool.repeatable || node.retryUnknown;
}

/** Milliseconds of work left in this invocation, the margin for writing and answering taken off. */
export function workMs(work: Work): number {
  return work.env.remainingMs() - work.env.limits.marginMs;
}

/** The same work with another signal: a container's time limit inside it. */
export function withSignal(work: Work, signal: AbortSignal): Work {
  return { ...work, signal };
}
