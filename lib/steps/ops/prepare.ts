/**
 * `prepare`: a sub-workflow is about to be started. Its run record is written here, with an id that follows from run, path and
 * epoch, so a second delivery prepares the same run; Step Functions then starts it.
 *
 * A child of an older epoch that has begun is not started again: the answer has no child, and `adopt` goes on with it.
 */
import { createHash } from 'node:crypto';
import { canonicalJson } from '../../blueprint/canonical.ts';
import { StepFailure } from '../../blueprint/errors.ts';
import type { JsonObject } from '../../blueprint/json.ts';
import type { WorkflowCallNode } from '../../compile/program.ts';
import type { PrepareTask, TaskAnswer } from '../../compile/protocol.ts';
import { actingWith } from '../../store/authority.ts';
import type { Principal, RunRecord, WorkflowHead, WorkflowRevision } from '../../store/records.ts';
import { childRunId } from '../../store/run-id.ts';
import { addToBudget, createRun, getRun } from '../../store/runs.ts';
import type { Store } from '../../store/store.ts';
import { putValue } from '../../store/values.ts';
import { getBoundRevision, getHead, getRevision } from '../../store/workflows.ts';
import { evaluateArguments } from '../call/arguments.ts';
import { loadDocument } from '../documents.ts';
import { entered, planOf } from '../entry.ts';
import type { StepsEnvironment } from '../environment.ts';
import { scopeFor } from '../frame.ts';
import { nodeOf, openTask } from '../open-task.ts';
import { onStep, type StepEnd, type StepWork } from '../step-work.ts';
import { throwIfStopped } from '../work.ts';

export async function prepare(task: PrepareTask, env: StepsEnvironment): Promise<TaskAnswer> {
  const opened = await openTask(task, env);
  const node = workflowNodeOf(nodeOf(opened.loaded, task.step));
  return onStep(task, opened, node, planOf(opened, node), (step) =>
    entered(step, node, () => prepareChild(step, node)),
  );
}

async function prepareChild(step: StepWork, node: WorkflowCallNode): Promise<StepEnd> {
  const { frame, record, work } = step;
  const before = await latestChild(work.env.store, work.run.run, record.at, work.epoch);
  const child = before ?? (await makeChild(step, node, evaluateArguments(node, scopeFor(frame, node.uses))));
  // One that nobody has claimed was never started, whatever epoch it is of.
  if (child.status !== 'STARTING') return released(step, {});
  const { run, versionArn, executionName } = child;
  return released(step, { child: { stateMachineArn: versionArn, name: executionName, input: { run } } });
}

/** The step stays open for `adopt`; its record has the limit that the sub-run keeps within. */
function released({ deadline }: StepWork, answer: Partial<TaskAnswer>): StepEnd {
  return { kind: 'released', answer: { status: 'done', ms: 0, ...answer }, changes: { deadline } };
}

/** The child of the newest epoch up to this one. */
export async function latestChild(
  store: Store,
  run: string,
  at: string,
  epoch: number,
): Promise<RunRecord | undefined> {
  for (let each = epoch; each >= 0; each -= 1) {
    const child = await getRun(store, childRunId(run, at, each));
    if (child !== undefined) return child;
  }
  return undefined;
}

async function makeChild(step: StepWork, node: WorkflowCallNode, params: JsonObject): Promise<RunRecord> {
  const { record, work } = step;
  const { env, run } = work;
  const { limits, store } = env;
  throwIfStopped(work);
  if (run.depth + 1 > limits.maxDepth) {
    throw new StepFailure(
      'LimitExceeded',
      `step "${node.id}": sub-workflows stand ${limits.maxDepth} deep, which is the limit`,
    );
  }
  const { head, revision, pinned } = await target(step, node);
  // Before the budget: what is refused has cost nothing.
  const authority = pinned ? await pinner(step, node) : undefined;
  const { index } = await loadDocument(store, node.workflow, revision.hash);
  const budget = await addToBudget(
    store,
    run.root,
    { subRuns: 1 },
    { attempts: limits.maxAttempts, subRuns: limits.maxSubRuns },
  );
  if (!budget.ok) {
    throw new StepFailure(
      'LimitExceeded',
      `step "${node.id}": the run has started the most sub-runs allowed, ${limits.maxSubRuns}`,
    );
  }
  const now = env.clock.now();
  const id = childRunId(run.run, record.at, work.epoch);
  const own = now + Math.min(index.program.timeoutSeconds, limits.maxRunSeconds) * 1000;
  // Before the record: whoever finds the one finds the other.
  await putValue(store, id, '$params', params);
  const { run: child } = await createRun(store, {
    run: id,
    workflow: node.workflow,
    revision: revision.revision,
    hash: revision.hash,
    ...(authority === undefined ? inherited(run) : actingWith(run.principal, authority)),
    owner: head.owner.id,
    trigger: 'workflow',
    status: 'STARTING',
    stateMachineArn: revision.stateMachineArn ?? head.stateMachineArn,
    versionArn: revision.versionArn ?? head.versionArn,
    executionName: id,
    epoch: 0,
    createdAt: new Date(now).toISOString(),
    touchedAt: new Date(now).toISOString(),
    deadline: Math.min(own, run.deadline ?? own, step.deadline ?? own),
    paramsHash: createHash('sha256').update(canonicalJson(params)).digest('hex'),
    root: run.root,
    parent: { run: run.run, at: record.at },
    depth: run.depth + 1,
    ...(run.hops === undefined ? {} : { hops: run.hops }),
    attempts: 0,
    subRuns: 0,
    errorCount: 0,
  });
  return child;
}

/** The revision that the step was pinned to, or the current one where it floats. */
async function target(
  step: StepWork,
  node: WorkflowCallNode,
): Promise<{ head: WorkflowHead; revision: WorkflowRevision; pinned: boolean }> {
  const { env, document } = step.work;
  const head = await getHead(env.store, node.workflow);
  if (head === undefined || head.deletedAt !== undefined) {
    const what = head === undefined ? 'does not exist' : 'has been deleted';
    throw new StepFailure('SubWorkflowFailed', `step "${node.id}": the workflow "${node.workflow}" ${what}`);
  }
  const bound = Object.hasOwn(document.workflows, node.id) ? document.workflows[node.id] : undefined;
  const revision =
    bound === undefined
      ? await getRevision(env.store, node.workflow, head.revision)
      : await getBoundRevision(env.store, bound);
  if (revision === undefined) {
    throw new StepFailure(
      'SubWorkflowFailed',
      `step "${node.id}": the workflow "${node.workflow}" has no such revision`,
    );
  }
  return { head, revision, pinned: bound !== undefined };
}

/** Who saved the revision that the run is of: what it pins runs with the authority that was recorded then. */
async function pinner({ work: { env, run } }: StepWork, node: WorkflowCallNode): Promise<Principal> {
  const { workflow, revision, hash } = run;
  const saved = await getBoundRevision(env.store, { workflow, revision, hash });
  if (saved !== undefined) return saved.principal;
  throw new StepFailure(
    'SubWorkflowFailed',
    `step "${node.id}": there is no record of who pinned the workflow "${node.workflow}", so it has no authority`,
  );
}

/** One that floats runs with the authority of the run that calls it. */
function inherited({ principal, authority }: RunRecord): Pick<RunRecord, 'principal' | 'authority'> {
  return { principal, ...(authority === undefined ? {} : { authority }) };
}

export function workflowNodeOf(node: ReturnType<typeof nodeOf>): WorkflowCallNode {
  if (node.type !== 'call' || node.call !== 'workflow')
    throw new Error(`the step "${node.id}" is no sub-workflow`);
  return node;
}
