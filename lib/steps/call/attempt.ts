/**
 * One tool call step, from its condition to its value, with its retries: the same for a state of its own and for an item of
 * a loop.
 *
 * What always holds: an attempt is counted before it is made; a call that may not be repeated is announced before it is
 * sent (`beforeSend`), and once it is sent without an answer it is OutcomeUnknown and never made again.
 */
import { type StepError, StepFailure } from '../../blueprint/errors.ts';
import type { Json, JsonObject } from '../../blueprint/json.ts';
import type { ToolCallNode } from '../../compile/program.ts';
import type { ResolvedTool, ToolAnswer } from '../environment.ts';
import { stepErrorOf } from '../failure.ts';
import { type Frame, type Outcome, scopeFor, skippedOutcome } from '../frame.ts';
import { retryDelay } from '../retry.ts';
import { evaluate, holds } from '../templates.ts';
import {
  failureOfStop,
  mayRepeat,
  resolveTool,
  Stop,
  Suspended,
  throwIfStopped,
  type Work,
  workMs,
} from '../work.ts';
import { evaluateArguments, requireArguments } from './arguments.ts';
import { observedCall } from './observed.ts';

/** What a call keeps between invocations. */
export interface CallState {
  /** Attempts made so far. */
  attempts: number;
  /** Epoch ms before which the next one is not made. */
  notBefore?: number;
  /** Epoch ms: the step's own time limit, over all its attempts and the waits between them, from its first entry on. */
  deadline?: number;
  /** How the last attempt failed. */
  last?: StepError;
}

/** A call's state, and whom it tells. */
export interface CallProgress extends CallState {
  /** Before a call that may not be repeated is sent; what it throws keeps it from being sent. */
  beforeSend?(tool: ResolvedTool, attempts: number): Promise<void>;
  /** After an attempt that will be followed by another, `state.notBefore`. */
  onRetry?(state: CallState): Promise<void>;
}

/** Shortest time worth starting a call with. */
const MIN_CALL_MS = 1000;

/**
 * Runs the step. A failure is an outcome, not an exception. Throws Suspended (progress holds what was made so far) and
 * LeaseLost.
 */
export async function runCall(
  work: Work,
  node: ToolCallNode,
  frame: Frame,
  progress: CallProgress,
): Promise<Outcome> {
  const { clock } = work.env;
  const began = clock.now();
  const seen: { tool?: ResolvedTool; answer?: ToolAnswer } = {};
  if (node.timeoutMs !== undefined) progress.deadline ??= began + node.timeoutMs;
  try {
    const scope = scopeFor(frame, node.uses);
    if (node.when !== undefined && !holds(node.when, scope, node.id, 'when')) {
      return skippedOutcome('when');
    }
    const args = evaluateArguments(node, scope);
    await waitUntil(work, progress.notBefore);
    for (;;) {
      try {
        const value = await attempt(work, node, frame, args, progress, seen);
        return {
          status: 'succeeded',
          value,
          attempts: progress.attempts,
          ms: clock.now() - began,
          ...detailOf(work, node, seen),
        };
      } catch (error) {
        if (!(error instanceof StepFailure)) throw error;
        const delay = retryDelay(node.strategy, error.kind, progress.attempts, work.env.random);
        if (delay === undefined || work.signal.aborted) throw error;
        const notBefore = clock.now() + delay;
        if (progress.deadline !== undefined && notBefore >= progress.deadline) throw error;
        progress.notBefore = notBefore;
        progress.last = errorOf(error, node, frame, progress, seen.tool);
        await progress.onRetry?.(progress);
        await waitUntil(work, notBefore);
      }
    }
  } catch (error) {
    if (!(error instanceof StepFailure)) throw error;
    return {
      status: 'failed',
      error: errorOf(error, node, frame, progress, seen.tool),
      value: null,
      attempts: progress.attempts,
      ms: clock.now() - began,
      ...detailOf(work, node, seen),
    };
  }
}

function errorOf(
  failure: StepFailure,
  node: ToolCallNode,
  frame: Frame,
  progress: CallProgress,
  tool: ResolvedTool | undefined,
): StepError {
  return stepErrorOf(failure, {
    step: node.id,
    path: frame.at + node.id,
    attempts: progress.attempts,
    ...(typeof frame.base.index === 'number' ? { index: frame.base.index } : {}),
    ...(tool === undefined ? {} : { server: tool.server, tool: tool.tool }),
  });
}

/** One attempt: bind, check, count, announce, send, read. */
async function attempt(
  work: Work,
  node: ToolCallNode,
  frame: Frame,
  args: JsonObject,
  progress: CallProgress,
  seen: { tool?: ResolvedTool; answer?: ToolAnswer },
): Promise<Json> {
  delete seen.answer;
  throwIfStopped(work);
  const bound = work.tools.get(node.id);
  if (bound === undefined) {
    // A server that cannot be reached is an attempt too, or it would be tried for ever.
    progress.attempts += 1;
    seen.tool = await resolveTool(work, node);
    progress.attempts -= 1;
  } else {
    seen.tool = bound;
  }
  const { tool } = seen;
  requireArguments(node, args, tool.required);
  const timeoutMs = callTimeout(work, timeLeft(work, node, progress) ?? tool.timeoutMs);
  const repeatable = mayRepeat(node, tool);
  progress.attempts += 1;
  // Both before the effect, and neither without the other; an item of a loop has had both by its window.
  const counted = work.budget.draw();
  const announced = repeatable ? undefined : progress.beforeSend?.(tool, progress.attempts);
  if (counted !== undefined || announced !== undefined) await Promise.all([counted, announced]);
  throwIfStopped(work);
  work.started.calls += 1;
  seen.answer = await send(work, tool, repeatable, args, timeoutMs);
  return read(work, node, frame, seen.answer);
}

async function send(
  work: Work,
  tool: ResolvedTool,
  repeatable: boolean,
  args: JsonObject,
  timeoutMs: number,
): Promise<ToolAnswer> {
  try {
    return await observedCall(work.env, tool, () =>
      work.env.downstream.callTool(tool, {
        args,
        timeoutMs,
        signal: work.signal,
        run: work.run.run,
        ...(work.run.hops === undefined ? {} : { hops: work.run.hops }),
      }),
    );
  } catch (error) {
    const unanswered = isUnanswered(error);
    if (work.signal.aborted) {
      const reason: unknown = work.signal.reason;
      if (!(reason instanceof Stop)) throw reason;
      if (repeatable || (error instanceof StepFailure && !unanswered)) throw failureOfStop(reason);
      throw new StepFailure(
        'OutcomeUnknown',
        `${reason.message}; the call was in flight`,
        {},
        { cause: error },
      );
    }
    if (unanswered && !repeatable) {
      const failure = error as StepFailure;
      throw new StepFailure(
        'OutcomeUnknown',
        `sent, but no answer came: ${failure.message}`,
        failure.detail,
        { cause: error },
      );
    }
    throw error;
  }
}

/** True where the request may have gone out and nothing came back. */
function isUnanswered(error: unknown): boolean {
  if (!(error instanceof StepFailure)) return false;
  // A cancelled call that was still waiting for its turn says so by having no attempts.
  if (error.kind === 'Cancelled') return error.detail.attempts !== 0;
  return error.kind === 'ToolTimeout' || error.kind === 'TransportError';
}

/** The step's value: the tool's answer, mapped and shaped. */
function read(work: Work, node: ToolCallNode, frame: Frame, answer: ToolAnswer): Json {
  if (answer.isError) throw new StepFailure('ToolError', textOf(answer));
  const mapped = work.env.downstream.valueOf(answer, node.parse);
  if (node.select === undefined && node.failWhen === undefined) return mapped;
  let value = mapped;
  if (node.select !== undefined) {
    value = evaluate(node.select, scopeFor(frame, node.uses, { output: mapped }), node.id, 'select');
  }
  if (node.failWhen !== undefined) {
    if (holds(node.failWhen, scopeFor(frame, node.uses, { output: value }), node.id, 'failWhen')) {
      throw new StepFailure('FailedCondition', `step "${node.id}": failWhen became true`);
    }
  }
  return value;
}

/** The text of an error answer, as the tool wrote it; it is cleaned where it becomes a message. */
function textOf(answer: ToolAnswer): string {
  const texts = answer.content.flatMap((block) =>
    typeof block === 'object' &&
    block !== null &&
    !Array.isArray(block) &&
    block.type === 'text' &&
    typeof block.text === 'string'
      ? [block.text]
      : [],
  );
  return texts.length > 0 ? texts.join(' ') : 'the tool answered with an error and no text';
}

/** Kept only where a template reads `results.ID`: it can be as large as the answer. */
function detailOf(
  work: Work,
  node: ToolCallNode,
  seen: { tool?: ResolvedTool; answer?: ToolAnswer },
): { detail?: JsonObject } {
  const { tool, answer } = seen;
  if (tool === undefined || answer === undefined || !work.index.resultIds.has(node.id)) return {};
  return {
    detail: {
      content: answer.content,
      ...(answer.structured === undefined ? {} : { structured: answer.structured }),
      isError: answer.isError,
      server: tool.server,
      tool: tool.tool,
    },
  };
}

/**
 * What is left of the step's own time limit; undefined where it has none. Throws where nothing is: the failure before it
 * stands, for no attempt that began after the limit could be in time.
 */
function timeLeft(work: Work, node: ToolCallNode, { deadline, last }: CallProgress): number | undefined {
  if (deadline === undefined) return undefined;
  const left = deadline - work.env.clock.now();
  if (left > 0) return left;
  if (last !== undefined) throw new StepFailure(last.kind, last.message, last);
  throw new StepFailure(
    'ToolTimeout',
    `the step's time limit of ${(node.timeoutMs ?? 0) / 1000} s was over before the call`,
  );
}

/**
 * The time limit of a call in this invocation. Throws Suspended where it does not fit and another invocation has more to
 * give; the first call of an invocation gets what there is, so that every invocation moves on.
 */
function callTimeout(work: Work, timeoutMs: number): number {
  const left = workMs(work);
  if (left >= timeoutMs) return timeoutMs;
  if (work.started.calls > 0) throw new Suspended();
  if (left < MIN_CALL_MS) throw new Suspended();
  return left;
}

/** Waits in this invocation, or throws Suspended where the time does not fit into it. */
async function waitUntil(work: Work, notBefore: number | undefined): Promise<void> {
  const delay = (notBefore ?? 0) - work.env.clock.now();
  if (delay <= 0) return;
  if (delay + MIN_CALL_MS > workMs(work)) throw new Suspended(notBefore);
  try {
    await work.env.clock.sleep(delay, work.signal);
  } catch (error) {
    throwIfStopped(work);
    throw error;
  }
}
