/**
 * Steps walked inside a task: the body of a batch loop, whatever stands in it. The rules for skipping, failing and values are
 * those of steps that are states of their own, and the same code (frame.ts, container.ts, attempt.ts).
 */
import { StepFailure } from '../../blueprint/errors.ts';
import type { Json } from '../../blueprint/json.ts';
import type {
  CollectNode,
  LoopNode,
  ParallelNode,
  PipeNode,
  StepNode,
  ToolCallNode,
} from '../../compile/program.ts';
import type { ItemResult } from '../../store/records.ts';
import { LeaseLost } from '../../store/steps.ts';
import { type CallProgress, runCall } from '../call/attempt.ts';
import { containerOutcome, type ListOutcome, shaped } from '../container.ts';
import { stepErrorOf } from '../failure.ts';
import { type Frame, type Outcome, outcomeOf, scopeFor, skippedBy, skippedOutcome } from '../frame.ts';
import { endsItsList, lastOf } from '../program-index.ts';
import { holds } from '../templates.ts';
import { throwIfStopped, type Work } from '../work.ts';
import { withTimeLimit } from './deadline.ts';
import { walkLoop } from './loop.ts';
import { failedItem, innerProgress, type Progress } from './progress.ts';

/** Runs a loop's body once, in the frame of the iteration. Throws Suspended (`progress` has what was done) and LeaseLost. */
export async function walkItem(
  work: Work,
  loop: LoopNode,
  frame: Frame,
  item: Json,
  progress: Progress,
): Promise<ItemResult> {
  const index = frame.base.index as number;
  const end = await walkList(work, loop.body, loop, frame, progress);
  const error = 'error' in end ? end.error : null;
  const passed = [...progress.failures].filter((failure) => failure !== error);
  const more = passed.length === 0 ? {} : { passed };
  if (error !== null) return { ...failedItem(index, item, error, progress.attempts), ...more };
  const last = 'last' in end ? end.last : undefined;
  return {
    index,
    item,
    status: last?.status === 'skipped' ? 'skipped' : 'succeeded',
    value: last?.value ?? null,
    error: null,
    attempts: progress.attempts,
    ...more,
  };
}

/** Walks a list until a failure ends it. In a pipe each step's `input` is the value of the one before. */
async function walkList(
  work: Work,
  list: readonly StepNode[],
  parent: StepNode,
  frame: Frame,
  progress: Progress,
): Promise<ListOutcome> {
  let place = frame;
  for (const node of list) {
    const outcome = await walkStep(work, node, place, progress);
    frame.outcomes.set(node.id, outcome);
    // A container that failed has the very error of the step inside it.
    if (outcome.error !== undefined) progress.failures.add(outcome.error);
    progress.attempts += outcome.attempts;
    if (outcome.status === 'failed' && outcome.error !== undefined && endsItsList(node, parent)) {
      return { error: outcome.error };
    }
    // The outcomes stay shared: what a pipe's step made is readable after the pipe.
    if (parent.type === 'pipe') place = { ...frame, base: { ...frame.base, input: outcome.value } };
  }
  return { last: outcomeOf(frame, lastOf(list).id) };
}

function walkStep(work: Work, node: StepNode, frame: Frame, progress: Progress): Promise<Outcome> | Outcome {
  const reason = skippedBy(frame, node);
  if (reason !== undefined) return skippedOutcome(reason);
  if (node.type !== 'call') return walkContainer(work, node, frame, progress);
  if (node.call === 'workflow') {
    throw new Error(`the sub-workflow step "${node.id}" cannot be walked inside a task`);
  }
  return walkCall(work, node, frame, progress);
}

/** A call, or what it ended with before the task was suspended. */
async function walkCall(work: Work, node: ToolCallNode, frame: Frame, progress: Progress): Promise<Outcome> {
  const path = frame.at + node.id;
  const ended = progress.ended.get(path);
  if (ended !== undefined) return ended;
  const call: CallProgress = { attempts: 0, ...progress.pending.get(path) };
  try {
    const outcome = await runCall(work, node, frame, call);
    progress.ended.set(path, outcome);
    return outcome;
  } catch (error) {
    // Suspended: the attempts made so far count when it goes on.
    progress.pending.set(path, call);
    throw error;
  }
}

async function walkContainer(
  work: Work,
  node: Exclude<StepNode, { type: 'call' }>,
  frame: Frame,
  progress: Progress,
): Promise<Outcome> {
  const began = work.env.clock.now();
  const inner = innerProgress(progress);
  let outcome: Outcome;
  try {
    if (node.when !== undefined && !holds(node.when, scopeFor(frame, node.uses), node.id, 'when')) {
      return skippedOutcome('when');
    }
    outcome = await withTimeLimit(work, node, frame.at + node.id, progress, (limited) =>
      node.type === 'loop'
        ? walkLoop(limited, node, frame, inner, walkItem)
        : walkInner(limited, node, frame, inner),
    );
    outcome = shaped(frame, node, outcome);
  } catch (error) {
    if (!(error instanceof StepFailure)) throw error;
    const { index } = frame.base;
    const place = { step: node.id, path: frame.at + node.id, attempts: 0 };
    const at = typeof index === 'number' ? { ...place, index } : place;
    outcome = { status: 'failed', value: null, error: stepErrorOf(error, at), attempts: 0, ms: 0 };
  }
  return { ...outcome, attempts: inner.attempts, ms: work.env.clock.now() - began };
}

async function walkInner(
  work: Work,
  node: ParallelNode | PipeNode | CollectNode,
  frame: Frame,
  progress: Progress,
): Promise<Outcome> {
  if (node.type === 'parallel') {
    const walks = node.branches.map((branch) => walkList(work, branch, node, frame, progress));
    const ends = await Promise.allSettled(walks);
    const faults = ends.flatMap((end) => (end.status === 'rejected' ? [end.reason as unknown] : []));
    // A lost lease goes before a suspension: then nothing may be kept.
    const worst = faults.find((fault) => fault instanceof LeaseLost) ?? faults.at(0);
    if (worst !== undefined) throw worst;
  } else {
    await walkList(work, node.steps, node, frame, progress);
  }
  // A time limit that is over fails the container, even where its strategy would go on without the step.
  throwIfStopped(work);
  return containerOutcome(frame, node);
}
