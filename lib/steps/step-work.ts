/**
 * The life of one task on one step: lease, frame, watch, work, settle. What an op does in between is its own.
 *
 * What always holds: a recorded end is replayed and nothing is done; a result is written under the lease and its value before
 * it; a failure that ends the run has closed the run's record before it is thrown.
 */
import type { StepError } from '../blueprint/errors.ts';
import { StepFailure } from '../blueprint/errors.ts';
import type { StepNode } from '../compile/program.ts';
import { BUSY, type StepTask, type TaskAnswer } from '../compile/protocol.ts';
import { type OpenedStep, openStep } from '../store/open-step.ts';
import type { StepRecord } from '../store/records.ts';
import { addToBudget } from '../store/runs.ts';
import { getStep, LeaseLost, releaseStep, type StepChanges, settleStep } from '../store/steps.ts';
import { putValue } from '../store/values.ts';
import { faultFields } from '../telemetry/fault-fields.ts';
import { failAround, haltAround, reopenAround } from './around.ts';
import { createAttemptBudget } from './budget.ts';
import { endFailedRun } from './end-run.ts';
import { failureEndsRun, namedError, publicFailure, stepErrorOf } from './failure.ts';
import type { Frame, Outcome } from './frame.ts';
import { showLoop, showRecorded, showStored } from './inspect.ts';
import type { OpenedTask } from './open-task.ts';
import { refused } from './open-task.ts';
import { type Reads, readFrame } from './reading.ts';
import { startWatch, type Watch } from './watch.ts';
import { Stop, Suspended, type Work } from './work.ts';

/** A step that this task has the lease of. */
export interface StepWork {
  opened: Exclude<OpenedStep, { outcome: 'recorded' | 'busy' }>;
  record: StepRecord;
  frame: Frame;
  work: Work;
  watch: Watch;
  /** Epoch ms: the earliest time limit of the step itself and of the containers around it. */
  deadline: number | undefined;
}

/** Why the first step of an item was skipped that may not start any more; a redrive runs it. */
export const HALTED = 'halted';

/** What an op makes of its step. */
export type StepEnd =
  | { kind: 'ended'; outcome: Outcome; changes?: Partial<StepRecord> }
  /** Let go of in order: the task is to come again. */
  | { kind: 'released'; answer: TaskAnswer; changes?: StepChanges };

export interface StepPlan {
  reads: Reads;
  /** The record's path, where it is not the step's own (a lane). */
  at?: string;
  /** Failures are recorded and not thrown: the settle task judges (a lane). */
  quiet?: boolean;
  mayReopen?(record: StepRecord): boolean;
  /** A time limit of the step itself, kept from its first entry. */
  timeoutMs?: number;
  onLook?(): Promise<void>;
  /** Asked where the step would begin an item of a loop that has halted: true where the item was begun before. */
  hasBegun?(): Promise<boolean>;
  /** Suspended while waiting: what the step's record keeps. */
  whenSuspended?(suspended: Suspended): { answer: TaskAnswer; changes?: StepChanges };
}

/** Runs an op on its step. Throws Busy, a public StepFailure, or a fault of ours. */
export async function onStep(
  task: StepTask,
  opened: OpenedTask,
  node: StepNode,
  plan: StepPlan,
  op: (step: StepWork) => Promise<StepEnd>,
): Promise<TaskAnswer> {
  try {
    return await workOn(task, opened, node, plan, op);
  } catch (error) {
    // The step has ended, or was never this task's.
    if (error instanceof StepFailure || (error instanceof Error && error.name === BUSY)) throw error;
    // Everything has stopped. Where the step is still ours the next delivery need not wait for the lease to run out; what is
    // known of it stands in the records, as if it had.
    await letGo(opened, plan.at ?? task.at + node.id);
    if (!(error instanceof LeaseLost)) throw error;
    throw namedError(BUSY, `another delivery has taken step "${node.id}" over`);
  }
}

async function letGo({ env, run, owner }: OpenedTask, at: string): Promise<void> {
  try {
    await releaseStep(env.store, { run: run.run, at }, owner);
  } catch (error) {
    if (error instanceof LeaseLost) return;
    env.logger.warn('a step could not be let go of', { run: run.run, at, ...faultFields(error) });
  }
}

async function workOn(
  task: StepTask,
  opened: OpenedTask,
  node: StepNode,
  plan: StepPlan,
  op: (step: StepWork) => Promise<StepEnd>,
): Promise<TaskAnswer> {
  const { env, loaded, run, owner } = opened;
  const began = env.clock.now();
  const at = plan.at ?? task.at + node.id;
  if (!opened.open || run.stop !== undefined) return replayOnly(task, opened, node, plan, at, began);

  const [opening, reading] = await Promise.allSettled([
    openStep(env.store, {
      run: run.run,
      at,
      step: node.id,
      type: node.type,
      owner,
      epoch: task.epoch,
      leaseMs: env.limits.leaseMs,
      now: began,
      isDeadOwner: env.isDeadOwner,
      ...(plan.timeoutMs === undefined ? {} : { deadline: began + plan.timeoutMs }),
      ...(plan.mayReopen === undefined ? {} : { mayReopen: plan.mayReopen }),
    }),
    readFrame(env.store, run, loaded.index, task.at, node, plan.reads),
  ]);
  if (opening.status === 'rejected') throw opening.reason;
  const step = opening.value;
  if (step.outcome === 'busy') throw namedError(BUSY, `another delivery works on step "${node.id}"`);
  if (step.outcome === 'recorded') return replay(task, opened, node, plan, step.record, began);

  if (reading.status === 'rejected') throw reading.reason;
  const read = reading.value;
  if (read.halted && begins(step) && (await plan.hasBegun?.()) !== true) {
    await settleStep(env.store, { ...step.record, status: 'skipped', reason: HALTED }, owner);
    throw refused(task);
  }
  const around = await reopenAround(opened, read.stale);
  const outer = earliest(read.deadline, ...around.map((record) => record.deadline));
  const deadline = earliest(step.record.deadline, outer);
  const watch = startWatch(env, run, {
    record: step.record,
    owner,
    // A call's own limit ends its attempts, and is a failure like theirs.
    deadline: node.type === 'call' ? outer : deadline,
    ...(plan.onLook === undefined ? {} : { onLook: plan.onLook }),
  });
  const work: Work = {
    env,
    document: loaded.document,
    index: loaded.index,
    run,
    owner,
    epoch: task.epoch,
    signal: watch.signal,
    hold: watch.hold,
    budget: budgetOf(opened),
    tools: new Map(),
    started: { calls: 0 },
  };
  try {
    const { record } = step;
    const end = await op({ opened: step, record, frame: read.frame, work, watch, deadline });
    await watch.end();
    if (end.kind === 'released') {
      await releaseStep(env.store, step.record, owner, end.changes);
      return { ...end.answer, ms: env.clock.now() - began };
    }
    return await settle(task, opened, node, plan, step.record, end, began, work);
  } catch (error) {
    await watch.end();
    if (error instanceof Suspended && plan.whenSuspended !== undefined) {
      const { answer, changes } = plan.whenSuspended(error);
      await releaseStep(env.store, step.record, owner, changes);
      return { ...answer, ms: env.clock.now() - began };
    }
    throw error;
  }
}

/** True for the first task on a step; in a later epoch also where it was halted in every one before. */
function begins(step: StepWork['opened']): boolean {
  if (step.outcome === 'claimed') return !step.resumed;
  return step.outcome === 'reopened' && step.previous.reason === HALTED;
}

/** An op that failed as a whole, as an outcome. */
export function failedOutcome(node: StepNode, at: string, error: unknown, attempts = 0): Outcome {
  if (!(error instanceof StepFailure)) throw error;
  return {
    status: 'failed',
    value: null,
    error: stepErrorOf(error, { step: node.id, path: at + node.id, attempts }),
    attempts,
    ms: 0,
  };
}

async function settle(
  task: StepTask,
  opened: OpenedTask,
  node: StepNode,
  plan: StepPlan,
  record: StepRecord,
  end: Extract<StepEnd, { kind: 'ended' }>,
  began: number,
  work: Work,
): Promise<TaskAnswer> {
  const { env, run, owner } = opened;
  const { outcome } = end;
  const now = env.clock.now();
  let bytes: number | undefined;
  let shown: Shown = {};
  if (outcome.status === 'succeeded' && node.type !== 'loop') {
    const stored = await putValue(env.store, run.run, record.at, outcome.value, { fence: record.fence });
    shown = showStored(env, run.run, record.at, outcome.value, stored);
    bytes = 'inline' in stored ? Buffer.byteLength(JSON.stringify(outcome.value)) : stored.bytes;
  }
  if (outcome.detail !== undefined && node.type === 'call') {
    await putValue(env.store, run.run, record.at, outcome.detail, { fence: record.fence, kind: 'detail' });
  }
  const tool = work.tools.get(node.id);
  // The error of an attempt that was followed by another is none of the step's.
  const { error: _, ...entered } = record;
  await settleStep(
    env.store,
    {
      ...entered,
      status: outcome.status,
      attempts: outcome.attempts,
      endedAt: new Date(now).toISOString(),
      ms: now - Date.parse(record.startedAt),
      ...(outcome.error === undefined ? {} : { error: outcome.error }),
      ...(outcome.reason === undefined ? {} : { reason: outcome.reason }),
      ...(tool === undefined ? {} : { server: tool.server, tool: tool.tool }),
      ...(bytes === undefined ? {} : { bytes }),
      ...end.changes,
    },
    owner,
  );
  if (outcome.reason === HALTED) throw refused(task);
  if (outcome.status === 'succeeded' && node.type === 'loop' && plan.quiet !== true) {
    shown = await showLoop(env, run.run, record.at, end.changes?.count ?? 0);
  }
  // A container that fails by a step within it is no failure of its own: that step's was told.
  if (outcome.error?.step === node.id) env.telemetry.failure(outcome.error.kind);
  const stop: unknown = work.signal.aborted ? work.signal.reason : undefined;
  return answer(
    task,
    opened,
    node,
    plan,
    outcome,
    now - began,
    bytes,
    end.changes?.count,
    stop instanceof Stop ? stop : undefined,
    shown,
  );
}

/** The run has ended, or is to: only what is recorded may be said again. */
async function replayOnly(
  task: StepTask,
  opened: OpenedTask,
  node: StepNode,
  plan: StepPlan,
  at: string,
  began: number,
): Promise<TaskAnswer> {
  const record = await getStep(opened.env.store, opened.run.run, at);
  if (record === undefined || record.status === 'running' || record.epoch > task.epoch) throw refused(task);
  return replay(task, opened, node, plan, record, began);
}

async function replay(
  task: StepTask,
  opened: OpenedTask,
  node: StepNode,
  plan: StepPlan,
  record: StepRecord,
  began: number,
): Promise<TaskAnswer> {
  if (record.status === 'running') throw new Error(`the step "${record.at}" is not settled`);
  if (record.reason === HALTED && plan.quiet !== true) throw refused(task);
  const outcome: Outcome = {
    status: record.status,
    value: null,
    attempts: record.attempts,
    ms: record.ms ?? 0,
    ...(record.error === undefined ? {} : { error: record.error }),
  };
  const shown = await showAgain(opened, node, plan, record);
  const ms = opened.env.clock.now() - began;
  return answer(task, opened, node, plan, outcome, ms, record.bytes, record.count, undefined, shown);
}

type Shown = Pick<TaskAnswer, 'value'>;

async function showAgain(
  { env, run }: OpenedTask,
  node: StepNode,
  plan: StepPlan,
  record: StepRecord,
): Promise<Shown> {
  if (record.status !== 'succeeded' || plan.quiet === true) return {};
  if (node.type === 'loop') return showLoop(env, run.run, record.at, record.count ?? 0);
  return showRecorded(env, run.run, record.at);
}

/** The task's answer, or its failure; one that ends the run closes the record first. */
async function answer(
  task: StepTask,
  opened: OpenedTask,
  node: StepNode,
  plan: StepPlan,
  outcome: Outcome,
  ms: number,
  bytes: number | undefined,
  count: number | undefined,
  stop: Stop | undefined,
  shown: Shown,
): Promise<TaskAnswer> {
  if (outcome.status === 'failed' && plan.quiet !== true) {
    const { error } = outcome;
    if (error === undefined) throw new Error(`the step "${task.at}${node.id}" failed without an error`);
    await closeAfter(task, opened, node, error, stop);
    await haltAround(opened, node, task.at);
    throw publicFailure(error);
  }
  return {
    status: outcome.status === 'skipped' ? 'skipped' : 'done',
    ms,
    ...(bytes === undefined ? {} : { bytes }),
    ...(count === undefined ? {} : { count }),
    ...shown,
  };
}

async function closeAfter(
  task: StepTask,
  opened: OpenedTask,
  node: StepNode,
  error: StepError,
  stop: Stop | undefined,
): Promise<void> {
  const { env, loaded, run } = opened;
  if (!opened.open) return;
  // A second delivery, after one that settled the step and got no further, has the record to go by.
  const cancelled = stop?.kind === 'cancelled' || run.stop !== undefined;
  if (cancelled) return endFailedRun(env, loaded.index, run, task.epoch, error, 'CANCELLED');
  if (stop?.kind === 'run-deadline')
    return endFailedRun(env, loaded.index, run, task.epoch, error, 'TIMED_OUT');
  if (!failureEndsRun(loaded.index, node)) return;
  await failAround(opened, node, task.at, error);
  await endFailedRun(env, loaded.index, run, task.epoch, error);
}

function budgetOf(opened: OpenedTask) {
  const { env, run } = opened;
  const limits = { attempts: env.limits.maxAttempts, subRuns: env.limits.maxSubRuns };
  return createAttemptBudget(
    async (attempts) => (await addToBudget(env.store, run.root, { attempts }, limits)).ok,
    env.limits.maxAttempts,
  );
}

function earliest(...times: (number | undefined)[]): number | undefined {
  const known = times.filter((time) => time !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
}
