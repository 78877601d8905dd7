/** Looking at runs: one, many, a step's value. */
import type { Json } from '../blueprint/json.ts';
import { readResults } from '../store/journal.ts';
import type { Principal, RunRecord, RunStatus, StepRecord } from '../store/records.ts';
import { listRuns as readRuns } from '../store/run-lists.ts';
import { getRun as readRun } from '../store/runs.ts';
import { getStep, listSteps } from '../store/steps.ts';
import { getValue, getValuePage } from '../store/values.ts';
import { executionUrl } from './console.ts';
import { openCursor, sealCursor } from './cursors.ts';
import type { EngineEnvironment } from './environment.ts';
import { EngineError } from './errors.ts';
import { mayRead } from './principals.ts';
import { runProgress } from './progress.ts';
import { reconcileRun } from './reconcile.ts';

/** One page of a list that is a step's value. */
const VALUE_PAGE = 50;
const VALUE_PAGE_BYTES = 32 * 1024;

export type AnswerStatus = Exclude<RunStatus, 'STARTING'>;

/** A run that waits for its first task is running as far as its caller can tell. */
export function runAnswerStatus(run: RunRecord): AnswerStatus {
  return run.status === 'STARTING' ? 'RUNNING' : run.status;
}

/** @throws EngineError NotFound, also for a run that the principal may not read: its existence is not told either. */
export async function readableRun(
  env: EngineEnvironment,
  principal: Principal,
  runId: string,
): Promise<RunRecord> {
  const run = await readRun(env.store, runId);
  if (run === undefined || !mayRead(principal, run)) {
    throw new EngineError('NotFound', `there is no run "${runId.slice(0, 64)}" that you may read`);
  }
  return reconcileRun(env, run);
}

/** The tool `get_run`. With `step` the step's record and value, a list in pages; else the run and a page of its steps. */
export async function getRun(
  env: EngineEnvironment,
  principal: Principal,
  args: { runId: string; step?: string | undefined; cursor?: string | undefined },
) {
  const run = await readableRun(env, principal, args.runId);
  const query = { operation: 'get_run', principal: principal.id, run: run.run, step: args.step ?? null };
  const { cursorSecret } = env.config;
  const from = args.cursor === undefined ? undefined : openCursor(cursorSecret, query, args.cursor);
  const seal = (position: string): string => sealCursor(cursorSecret, query, position);
  const base = { runId: run.run, status: runAnswerStatus(run) };
  if (args.step !== undefined) return { ...base, ...(await stepAnswer(env, run, args.step, from, seal)) };
  const page = await listSteps(env.store, run.run, from === undefined ? {} : { cursor: from });
  const steps = page.steps.map(stepView);
  const next = page.cursor === undefined ? {} : { nextCursor: seal(page.cursor) };
  if (from !== undefined) return { ...base, steps, ...next };
  const errors = await getValue(env.store, run.run, '$errors');
  const url = executionUrl(env, run.execution);
  return {
    ...base,
    workflow: run.workflow,
    revision: run.revision,
    trigger: run.trigger,
    startedAt: run.startedAt ?? run.createdAt,
    ...(run.endedAt === undefined ? {} : { endedAt: run.endedAt }),
    progress: await runProgress(env, run),
    attempts: run.attempts,
    steps,
    ...(Array.isArray(errors) && errors.length > 0 ? { errors } : {}),
    ...(run.failure === undefined ? {} : { failure: run.failure }),
    ...(url === undefined ? {} : { url }),
    ...next,
  };
}

function stepView(step: StepRecord) {
  const { at, type, status, attempts, startedAt } = step;
  return {
    at,
    type,
    status,
    attempts,
    startedAt,
    ...(step.ms === undefined ? {} : { ms: step.ms }),
    ...(step.reason === undefined ? {} : { reason: step.reason }),
    ...(step.error === undefined ? {} : { error: step.error }),
    ...(step.tool === undefined ? {} : { tool: `${step.server ?? '?'}/${step.tool}` }),
    ...(step.bytes === undefined ? {} : { bytes: step.bytes }),
    ...(step.count === undefined
      ? {}
      : { count: step.count, failed: step.failed ?? 0, skipped: step.skipped ?? 0 }),
  };
}

async function stepAnswer(
  env: EngineEnvironment,
  run: RunRecord,
  at: string,
  from: string | undefined,
  seal: (position: string) => string,
) {
  const step = await getStep(env.store, run.run, at);
  if (step === undefined) {
    throw new EngineError(
      'NotFound',
      `run "${run.run}" has no step "${at}" yet; get_run without step lists them`,
    );
  }
  const view = stepView(step);
  if (step.type === 'loop')
    return { step: view, ...(await loopPage(env, run, step, Number(from ?? 0), seal)) };
  const page = await getValuePage(env.store, run.run, at, {
    offset: Number(from ?? 0),
    limit: VALUE_PAGE,
    maxBytes: VALUE_PAGE_BYTES,
  });
  if (page === undefined) return { step: view, value: null };
  const { value, total, offset, next } = page;
  return {
    step: view,
    value,
    ...(total === undefined ? {} : { total, from: offset ?? 0 }),
    ...(next === undefined ? {} : { nextCursor: seal(String(next)) }),
  };
}

async function loopPage(
  env: EngineEnvironment,
  run: RunRecord,
  step: StepRecord,
  from: number,
  seal: (position: string) => string,
) {
  const items = await readResults(env.store, run.run, step.at, from, from + VALUE_PAGE);
  const total = step.count ?? items.length;
  const end = from + items.length;
  const next = items.length > 0 && end < total ? { nextCursor: seal(String(end)) } : {};
  return { items, from, total, ...next };
}

/** A run's whole output, for the resource `run://ID/output`. */
export async function getRunOutput(
  env: EngineEnvironment,
  principal: Principal,
  runId: string,
): Promise<Json> {
  const run = await readableRun(env, principal, runId);
  return (await getValue(env.store, run.run, '$output')) ?? null;
}

/** The tool `list_runs`: newest first, of a workflow or of everything the caller may read. */
export async function listRuns(
  env: EngineEnvironment,
  principal: Principal,
  args: { workflow?: string | undefined; status?: AnswerStatus | undefined; cursor?: string | undefined },
) {
  const { workflow, status } = args;
  const query = {
    operation: 'list_runs',
    principal: principal.id,
    workflow: workflow ?? null,
    status: status ?? null,
  };
  const { cursorSecret } = env.config;
  const from = args.cursor === undefined ? undefined : openCursor(cursorSecret, query, args.cursor);
  const page = await readRuns(env.store, {
    ...(workflow === undefined ? {} : { workflow }),
    ...(status === undefined ? {} : { status }),
    ...(from === undefined ? {} : { cursor: from }),
    accept: (run) => mayRead(principal, run),
    now: env.now(),
  });
  const runs = page.runs.map((run) => ({
    runId: run.run,
    workflow: run.workflow,
    revision: run.revision,
    status: runAnswerStatus(run),
    trigger: run.trigger,
    startedAt: run.startedAt ?? run.createdAt,
    ...(run.endedAt === undefined ? {} : { endedAt: run.endedAt }),
    ...(run.errorCount > 0 ? { errors: run.errorCount } : {}),
  }));
  if (page.cursor === undefined) return { runs };
  return { runs, nextCursor: sealCursor(cursorSecret, query, page.cursor) };
}
