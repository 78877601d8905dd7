/**
 * `call`: one tool call step that is a state of its own.
 *
 * A delivery that takes over from one which vanished makes a repeatable call again; where the call may not be repeated and had
 * been announced, nobody knows whether it was carried out: OutcomeUnknown, and so it stays in every epoch unless the step says
 * `retryUnknown`.
 */
import { StepFailure } from '../../blueprint/errors.ts';
import type { ToolCallNode } from '../../compile/program.ts';
import type { CallTask, TaskAnswer } from '../../compile/protocol.ts';
import type { StepRecord } from '../../store/records.ts';
import { markClaimed, updateStep } from '../../store/steps.ts';
import { type CallProgress, runCall } from '../call/attempt.ts';
import { planOf } from '../entry.ts';
import type { StepsEnvironment } from '../environment.ts';
import { type Outcome, skippedBy, skippedOutcome } from '../frame.ts';
import { nodeOf, openTask } from '../open-task.ts';
import { failedOutcome, onStep, type StepWork } from '../step-work.ts';
import { mayRepeat, resolveTool, type Work } from '../work.ts';

export async function call(task: CallTask, env: StepsEnvironment): Promise<TaskAnswer> {
  const opened = await openTask(task, env);
  const node = nodeOf(opened.loaded, task.step);
  if (node.type !== 'call' || node.call !== 'tool')
    throw new Error(`the step "${task.step}" is no tool call`);
  const progress: CallProgress = { attempts: 0 };
  const plan = {
    ...planOf(opened, node),
    mayReopen: (record: StepRecord) => record.error?.kind !== 'OutcomeUnknown' || node.retryUnknown,
    // A machine waits only for a step with retries; without them there is nothing to wait for.
    ...(node.strategy.maxRetries === 0
      ? {}
      : {
          whenSuspended: () => ({
            answer: waitAnswer(env, progress.notBefore),
            changes: { attempts: progress.attempts, notBefore: progress.notBefore, claimed: undefined },
          }),
        }),
  };
  return onStep(task, opened, node, plan, async (step) => ({
    kind: 'ended',
    outcome: await run(step, node, progress),
  }));
}

async function run(step: StepWork, node: ToolCallNode, progress: CallProgress): Promise<Outcome> {
  const { record, frame, work } = step;
  const reason = skippedBy(frame, node);
  if (reason !== undefined) return skippedOutcome(reason);
  if (record.claimed === true && !(await repeatable(work, node))) {
    return failedOutcome(node, frame.at, unknownOutcome(), record.attempts);
  }
  progress.attempts = record.attempts;
  if (record.notBefore !== undefined) progress.notBefore = record.notBefore;
  if (record.deadline !== undefined) progress.deadline = record.deadline;
  if (record.error !== undefined) progress.last = record.error;
  const changesOf = (attempts: number) => {
    const tool = work.tools.get(node.id);
    return { attempts, ...(tool === undefined ? {} : { server: tool.server, tool: tool.tool }) };
  };
  progress.beforeSend = async (_tool, attempts) => {
    await markClaimed(work.env.store, record, work.owner, changesOf(attempts));
  };
  progress.onRetry = async ({ attempts, last, notBefore }) => {
    const changes = { ...changesOf(attempts), error: last, notBefore, claimed: undefined };
    await updateStep(work.env.store, record, work.owner, changes);
  };
  return runCall(work, node, frame, progress);
}

/** A server that does not answer now leaves it open whether its tool may be repeated: then it may not. */
async function repeatable(work: Work, node: ToolCallNode): Promise<boolean> {
  if (node.retryUnknown) return true;
  try {
    return mayRepeat(node, await resolveTool(work, node));
  } catch (error) {
    if (error instanceof StepFailure) return false;
    throw error;
  }
}

export function unknownOutcome(): StepFailure {
  return new StepFailure(
    'OutcomeUnknown',
    'the call was about to be sent when the work on it broke off; it is not known whether it was carried out',
  );
}

/** Whole seconds, at least one: what a Wait state takes. */
export function waitAnswer(env: StepsEnvironment, notBefore: number | undefined): TaskAnswer {
  const seconds = Math.max(1, Math.ceil(((notBefore ?? 0) - env.clock.now()) / 1000));
  return { status: 'wait', ms: 0, seconds };
}
