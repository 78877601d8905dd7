/**
 * `adopt`: a sub-workflow has ended, or was never started; the step takes over its output, or fails with it.
 *
 * After a redrive of the parent a failed child is redriven, once an epoch, and waited for; it is never started a second time.
 */

import { StepFailure } from '../../blueprint/errors.ts';
import { isJsonObject, type Json, type JsonObject } from '../../blueprint/json.ts';
import type { WorkflowCallNode } from '../../compile/program.ts';
import type { AdoptTask, TaskAnswer } from '../../compile/protocol.ts';
import type { RunRecord } from '../../store/records.ts';
import { isOpen } from '../../store/runs.ts';
import { markClaimed } from '../../store/steps.ts';
import { getValue } from '../../store/values.ts';
import { planOf } from '../entry.ts';
import type { ExecutionState, StepsEnvironment } from '../environment.ts';
import { executionArnOf } from '../executions.ts';
import { type Outcome, scopeFor } from '../frame.ts';
import { nodeOf, openTask } from '../open-task.ts';
import { failedOutcome, onStep, type StepEnd, type StepWork } from '../step-work.ts';
import { evaluate, holds } from '../templates.ts';
import { throwIfStopped } from '../work.ts';
import { latestChild, workflowNodeOf } from './prepare.ts';

/** Between two looks at a child that runs again. */
const POLL_SECONDS = 5;

export async function adopt(task: AdoptTask, env: StepsEnvironment): Promise<TaskAnswer> {
  const opened = await openTask(task, env);
  const node = workflowNodeOf(nodeOf(opened.loaded, task.step));
  return onStep(task, opened, node, planOf(opened, node), (step) => run(step, node));
}

async function run(step: StepWork, node: WorkflowCallNode): Promise<StepEnd> {
  const { record, work } = step;
  const child = await latestChild(work.env.store, work.run.run, record.at, work.epoch);
  if (child === undefined) throw new Error(`the step "${record.at}" has no sub-run`);
  const execution = child.execution ?? executionArnOf(child.stateMachineArn, child.executionName);
  const state = await work.env.executions.describe(execution);
  if (child.status === 'SUCCEEDED') return succeeded(step, node, child);
  if (isRunning(child, state)) return wait();
  // A redrive of the parent: the child of an older epoch goes on from where it failed, once.
  const redriven = record.claimed === true;
  if (work.epoch > 0 && state !== undefined && !redriven && state.status !== 'SUCCEEDED') {
    await markClaimed(work.env.store, record, work.owner, { deadline: step.deadline });
    if (await work.env.executions.redrive(execution)) return wait();
  }
  return failed(step, node, child, state);
}

function isRunning(child: RunRecord, state: ExecutionState | undefined): boolean {
  if (state?.status === 'RUNNING' || state?.status === 'PENDING_REDRIVE') return true;
  // The execution is there and over, the record follows: nothing to wait for.
  return state !== undefined && state.status === 'SUCCEEDED' && isOpen(child.status);
}

function wait(): StepEnd {
  return { kind: 'released', answer: { status: 'wait', ms: 0, seconds: POLL_SECONDS } };
}

async function succeeded(step: StepWork, node: WorkflowCallNode, child: RunRecord): Promise<StepEnd> {
  const { frame, work } = step;
  const output: Json = (await getValue(work.env.store, child.run, '$output')) ?? null;
  try {
    const value =
      node.select === undefined
        ? output
        : evaluate(node.select, scopeFor(frame, node.uses, { output }), node.id, 'select');
    const failWhen =
      node.failWhen !== undefined &&
      holds(node.failWhen, scopeFor(frame, node.uses, { output: value }), node.id, 'failWhen');
    if (failWhen) throw new StepFailure('FailedCondition', `step "${node.id}": failWhen became true`);
    const outcome: Outcome = { status: 'succeeded', value, attempts: 1, ms: 0 };
    return { kind: 'ended', outcome };
  } catch (error) {
    return { kind: 'ended', outcome: failedOutcome(node, frame.at, error, 1) };
  }
}

/** Names the child's run; its own errors are read there, by those who may. */
async function failed(
  step: StepWork,
  node: WorkflowCallNode,
  child: RunRecord,
  state: ExecutionState | undefined,
): Promise<StepEnd> {
  const { frame, work } = step;
  const errors = await getValue(work.env.store, child.run, '$errors');
  const last = Array.isArray(errors) ? errors.at(-1) : undefined;
  const cause = isJsonObject(last) ? `: ${causeOf(last)}` : '';
  const status = isOpen(child.status) ? state?.status : child.status;
  const how = state === undefined ? 'could not be started' : `ended as ${status}`;
  try {
    // Ended by the time limit of a container around the step: then that is what fails the container.
    if (child.status !== 'FAILED') throwIfStopped(work);
    throw new StepFailure(
      'SubWorkflowFailed',
      `the sub-workflow "${node.workflow}" (run ${child.run}) ${how}${cause}`,
    );
  } catch (error) {
    return { kind: 'ended', outcome: failedOutcome(node, frame.at, error, 1) };
  }
}

/** The child's last error; a tool's own text stays in the child, where it says which tool it is of. */
function causeOf({ kind, message, path, server }: JsonObject): string {
  return server === undefined
    ? `${String(kind)}: ${String(message)}`
    : `${String(kind)} at step "${String(path)}"`;
}
