/**
 * ` begin`: gives the execution a run, whoever started it, and the run its parameters.
 *
 * An execution's name is unique only within its machine, and the console offers an old input again, so `input.run` is only
 * believed where it is this execution's name and the record is unclaimed or already this execution's. Every other start gets
 * a run of its own, named by the execution's ARN and start (start-source.ts):
 *
 *     {"run": "4f0c…"}      from the endpoint, or a parent's prepare task
 *     anything else         from the console, the CLI or a schedule
 */
import { createHash } from 'node:crypto';
import { canonicalJson } from '../../blueprint/canonical.ts';
import { StepFailure } from '../../blueprint/errors.ts';
import { isJsonObject, type Json, type JsonObject } from '../../blueprint/json.ts';
import { resolveParams } from '../../blueprint/params.ts';
import type { BeginTask, TaskAnswer } from '../../compile/protocol.ts';
import type { RunRecord, WorkflowHead } from '../../store/records.ts';
import { executionRunId } from '../../store/run-id.ts';
import { claimRun, createRun, getRun, isOpen, reopenRun } from '../../store/runs.ts';
import { getValue, putValue } from '../../store/values.ts';
import { findRevisionByHash, getHead } from '../../store/workflows.ts';
import { auditEntry } from '../../telemetry/audit.ts';
import { type LoadedDocument, loadDocument } from '../documents.ts';
import { endFailedRun } from '../end-run.ts';
import type { StepsEnvironment } from '../environment.ts';
import { runDeadline } from '../run-deadline.ts';
import { type StartSource, startSource } from '../start-source.ts';

/** Runs the task. Throws `Duplicate`, or a StepFailure after having closed the run. */
export async function begin(task: BeginTask, env: StepsEnvironment): Promise<TaskAnswer> {
  const began = env.clock.now();
  const [loaded, head] = await Promise.all([
    loadDocument(env.store, task.workflow, task.hash),
    getHead(env.store, task.workflow),
  ]);
  if (head === undefined)
    throw plain(new StepFailure('Cancelled', `there is no workflow "${task.workflow}"`));
  const opened = (await handedRun(task, env, loaded)) ?? (await ownRun(task, env, loaded, head));
  const { run } = opened;
  try {
    await admit(task, env, loaded, head, opened);
  } catch (error) {
    if (opened.created === true) auditStart(env, run, error instanceof StepFailure ? error.kind : 'Internal');
    throw error;
  }
  if (opened.created === true) auditStart(env, run);
  return { status: 'done', ms: env.clock.now() - began, run: run.run };
}

/** Starts that nobody asked the endpoint for; the others it has told of itself. */
function auditStart(env: StepsEnvironment, run: RunRecord, outcome?: string): void {
  const { principal, workflow, revision, trigger, schedule } = run;
  env.log(
    auditEntry(principal, {
      action: 'run.start',
      workflow,
      revision,
      run: run.run,
      trigger,
      schedule,
      outcome,
    }),
  );
}

interface Opened {
  run: RunRecord;
  /** True where this delivery made the run's record: nobody has told of the start yet. */
  created?: boolean;
  /** As given, defaults not filled. */
  params: Json | undefined;
  refusal?: StartSource['refusal'];
}

/** The run that `input.run` names, where it may be believed. */
async function handedRun(
  task: BeginTask,
  env: StepsEnvironment,
  loaded: LoadedDocument,
): Promise<Opened | undefined> {
  const input = isJsonObject(task.input) ? task.input : {};
  if (typeof input.run !== 'string' || input.run !== task.name) return undefined;
  const found = await getRun(env.store, input.run);
  if (found === undefined || found.workflow !== task.workflow || found.hash !== task.hash) return undefined;
  if (found.execution !== undefined && found.execution !== task.execution) return undefined;
  const run = await claim(task, env, loaded, found);
  return { run, params: await getValue(env.store, run.run, '$params') };
}

/** The run of an execution that somebody else started: its record is made here. */
async function ownRun(
  task: BeginTask,
  env: StepsEnvironment,
  loaded: LoadedDocument,
  head: WorkflowHead,
): Promise<Opened> {
  const run = executionRunId(task.execution, task.startedAt);
  const { trigger, principal, params, schedule, refusal } = await startSource(env.store, task, head, run);
  const revision = await findRevisionByHash(env.store, task.workflow, task.hash);
  const record: RunRecord = {
    run,
    workflow: task.workflow,
    revision: revision?.revision ?? head.revision,
    hash: task.hash,
    principal,
    owner: head.owner.id,
    trigger,
    status: 'STARTING',
    stateMachineArn: task.machine,
    versionArn: revision?.versionArn ?? task.machine,
    executionName: task.name,
    epoch: 0,
    createdAt: task.startedAt,
    touchedAt: task.startedAt,
    paramsHash: createHash('sha256')
      .update(canonicalJson(params ?? {}))
      .digest('hex'),
    ...(schedule === undefined ? {} : { schedule }),
    root: run,
    depth: 0,
    attempts: 0,
    subRuns: 0,
    errorCount: 0,
  };
  const { created, run: made } = await createRun(env.store, record);
  // A second delivery goes on with what the first one found; an old run or a schedule may have changed since.
  const stored = created ? undefined : await getValue(env.store, run, '$params');
  return {
    run: await claim(task, env, loaded, made),
    created,
    ...(stored === undefined
      ? { params, ...(refusal === undefined ? {} : { refusal }) }
      : { params: stored }),
  };
}

/** Binds the run to this execution; a redriven one opens it again. */
async function claim(
  task: BeginTask,
  env: StepsEnvironment,
  loaded: LoadedDocument,
  run: RunRecord,
): Promise<RunRecord> {
  if (run.execution === task.execution && task.epoch > run.epoch) {
    const again = await reopenRun(env.store, run.run, {
      execution: task.execution,
      epoch: task.epoch,
      at: new Date(env.clock.now()).toISOString(),
      deadline: await runDeadline(env, loaded.index, run),
    });
    if (again !== undefined) return again;
  }
  const seconds = Math.min(loaded.index.program.timeoutSeconds, env.limits.maxRunSeconds);
  // A sub-run's limit ends with its parent's, which prepare has written.
  const claimed = await claimRun(env.store, run.run, {
    execution: task.execution,
    startedAt: task.startedAt,
    deadline: Date.parse(task.startedAt) + seconds * 1000,
  });
  if (claimed !== undefined) return claimed;
  throw plain(new StepFailure('Cancelled', 'the run has ended, or belongs to another execution'));
}

/** Checks what may be refused, and stores the parameters with their defaults. */
async function admit(
  task: BeginTask,
  env: StepsEnvironment,
  loaded: LoadedDocument,
  head: WorkflowHead,
  { run, params: given, refusal }: Opened,
): Promise<void> {
  if (!isOpen(run.status)) throw plain(new StepFailure('Cancelled', 'the run has ended'));
  if (head.deletedAt !== undefined) {
    await refuse(
      task,
      env,
      loaded,
      run,
      new StepFailure('Cancelled', `the workflow "${task.workflow}" has been deleted`),
    );
  }
  if (refusal !== undefined) await refuse(task, env, loaded, run, refusal);
  const { params, problems } = resolveParams(loaded.index.program.params, given);
  if (problems.length > 0) {
    await refuse(task, env, loaded, run, new StepFailure('InvalidArguments', problems.join('; ')));
  }
  if (!same(params, given)) await putValue(env.store, run.run, '$params', params);
  else if (run.trigger === 'console' || run.trigger === 'schedule')
    await putValue(env.store, run.run, '$params', params);
}

/** Closes the run and throws. */
async function refuse(
  task: BeginTask,
  env: StepsEnvironment,
  loaded: LoadedDocument,
  run: RunRecord,
  failure: StepFailure,
): Promise<never> {
  const { kind, message } = failure;
  await endFailedRun(env, loaded.index, run, task.epoch, {
    step: ' begin',
    path: '',
    kind,
    message,
    attempts: 0,
  });
  throw plain(failure);
}

function same(params: JsonObject, given: Json | undefined): boolean {
  return given !== undefined && JSON.stringify(params) === JSON.stringify(given);
}

/** Our own sentences only, so the message may leave; the stack may not. */
function plain(failure: StepFailure): StepFailure {
  failure.stack = `${failure.kind}: ${failure.message}`;
  return failure;
}
