/** Looking at runs: one, many, a step's value. */
import { quoteValue } from '../blueprint/diagnostics.ts';
import type { Json } from '../blueprint/json.ts';
import { BLUEPRINT_ID } from '../blueprint/limits.ts';
import { bytesOf } from '../steps/sample.ts';
import { readResults } from '../store/journal.ts';
import {
  type ItemResult,
  type Principal,
  type RunRecord,
  type RunStatus,
  type StepRecord,
  TRY_WORKFLOW,
} from '../store/records.ts';
import { listRuns as readRuns } from '../store/run-lists.ts';
import { getRun as readRun } from '../store/runs.ts';
import { getStep, listSteps } from '../store/steps.ts';
import { getValue, getValuePage } from '../store/values.ts';
import { summaryOf } from './bounded.ts';
import { runUrl } from './console.ts';
import { openCursor, sealCursor } from './cursors.ts';
import type { EngineEnvironment } from './environment.ts';
import { EngineError } from './errors.ts';
import { mayRead } from './principals.ts';
import { runProgress } from './progress.ts';
import { isOpen, reconcileRun } from './reconcile.ts';
import { shownErrors } from './run-errors.ts';

const RUN_ID = /^[0-9a-f]{32}$/;
/** One page of a list that is a step's value. */
const VALUE_PAGE = 50;
const VALUE_BYTES = 32 * 1024;
/** Steps of one page; each may carry an error of about 1 KiB. */
const STEP_PAGE = 25;
/** Values of the run itself that `step` can name. */
const RUN_VALUES: readonly string[] = ['$params', '$output', '$errors'];

export type AnswerStatus = Exclude<RunStatus, 'STARTING'>;

/** A run that waits for its first task is running as far as its caller can tell. */
export function runAnswerStatus(run: Pick<RunRecord, 'status'>): AnswerStatus {
  return run.status === 'STARTING' ? 'RUNNING' : run.status;
}

/** @throws EngineError NotFound, also for a run that the principal may not read: its existence is not told either. */
export async function readableRun(
  env: EngineEnvironment,
  principal: Principal,
  runId: string,
): Promise<RunRecord> {
  // What is no run id is not looked up: it would have to become a key first.
  const run = RUN_ID.test(runId) ? await readRun(env.store, runId) : undefined;
  if (run === undefined || !mayRead(principal, run)) {
    throw new EngineError('NotFound', `runId: there is no run ${quoteValue(runId)} that you may read`);
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
  const from = args.cursor === undefined ? undefined : await openCursor(cursorSecret, query, args.cursor);
  const seal = (position: string): Promise<string> => sealCursor(cursorSecret, query, position);
  const base = { runId: run.run, status: runAnswerStatus(run) };
  if (args.step !== undefined) return { ...base, ...(await stepAnswer(env, run, args.step, from, seal)) };
  const page = await listSteps(env.store, run.run, {
    limit: STEP_PAGE,
    ...(from === undefined ? {} : { cursor: from }),
  });
  const steps = page.steps.map((step) => stepView(step, run));
  const next = page.cursor === undefined ? {} : { nextCursor: await seal(page.cursor) };
  if (from !== undefined) return { ...base, steps, ...next };
  const errors = await shownErrors(env, run);
  return {
    ...base,
    ...subjectOf(run),
    trigger: run.trigger,
    startedAt: run.startedAt ?? run.createdAt,
    ...(run.endedAt === undefined ? {} : { endedAt: run.endedAt }),
    // A trial call has no steps.
    ...(run.trigger === 'try' ? {} : { progress: await runProgress(env, run) }),
    attempts: run.attempts,
    steps,
    ...errors,
    ...linkOf(env, run),
    ...next,
  };
}

/** What a run is a run of: a revision of a workflow, or, of a trial call, a tool. */
function subjectOf({ trigger, workflow, revision, called }: RunRecord) {
  if (trigger !== 'try' || called === undefined) return { workflow, revision };
  return { tool: called.server === undefined ? called.tool : `${called.server}/${called.tool}` };
}

/** Where the run can be watched in the console. */
function linkOf(env: EngineEnvironment, run: RunRecord): { url?: string } {
  const url = runUrl(env, run);
  return url === undefined ? {} : { url };
}

/**
 * A step as its caller sees it. In a run that has ended nothing is running: a container that the run's failure went through,
 * or a step whose worker vanished, has ended with it, whatever its record could still be told.
 */
function stepView(step: StepRecord, run: RunRecord) {
  const { at, type, attempts, startedAt } = step;
  const cutOff = step.status === 'running' && !isOpen(run);
  const status = cutOff ? 'failed' : step.status;
  const reason = cutOff ? 'run-ended' : step.reason;
  return {
    at,
    type,
    status,
    attempts,
    startedAt,
    ...(step.ms === undefined ? {} : { ms: step.ms }),
    ...(reason === undefined ? {} : { reason }),
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
  seal: (position: string) => Promise<string>,
) {
  const offset = Number(from ?? 0);
  if (RUN_VALUES.includes(at)) return valuePage(env, run, at, offset, seal);
  const step = await stepOf(env, run, at);
  const view = stepView(step, run);
  const page = step.type === 'loop' ? loopPage : valuePage;
  return { step: view, ...(await page(env, run, at, offset, seal, step.count)) };
}

async function stepOf(env: EngineEnvironment, run: RunRecord, at: string): Promise<StepRecord> {
  const step = await getStep(env.store, run.run, at);
  if (step !== undefined) return step;
  // A batch loop keeps what its items came to and not each step in them.
  const loop = at.includes('/') ? at.slice(0, at.indexOf('/')) : undefined;
  const around = loop === undefined ? undefined : await getStep(env.store, run.run, loop);
  const how =
    around === undefined
      ? `get_run without "step" lists them, and ${RUN_VALUES.join(', ')} are the run's own values`
      : `what the items of "${loop}" came to is read with step "${loop}"`;
  throw new EngineError('NotFound', `step: run "${run.run}" has no step ${quoteValue(at)} yet; ${how}`);
}

/** A value; a list in pages; what is too large for an answer as a summary. */
async function valuePage(
  env: EngineEnvironment,
  run: RunRecord,
  at: string,
  offset: number,
  seal: (position: string) => Promise<string>,
) {
  const limits = { offset, limit: VALUE_PAGE, maxBytes: VALUE_BYTES };
  const page = await getValuePage(env.store, run.run, at, limits);
  if (page === undefined) return { value: null };
  const { value, total, next } = page;
  const summary = summaryOf(value, VALUE_BYTES);
  return {
    ...(summary === undefined ? { value } : { summary, at }),
    ...(total === undefined ? {} : { total, from: offset }),
    ...(next === undefined ? {} : { nextCursor: await seal(String(next)) }),
  };
}

/** Items of a loop with their values. One that is too large by itself has a summary in its value's place. */
async function loopPage(
  env: EngineEnvironment,
  run: RunRecord,
  at: string,
  from: number,
  seal: (position: string) => Promise<string>,
  count?: number,
) {
  const found = await readResults(env.store, run.run, at, from, from + VALUE_PAGE);
  const items: Json[] = [];
  let bytes = 0;
  for (const result of found) {
    const item = shownItem(result);
    bytes += bytesOf(item);
    if (items.length > 0 && bytes > VALUE_BYTES) break;
    items.push(item);
  }
  const end = from + items.length;
  const total = count ?? end;
  const next = items.length > 0 && end < total ? { nextCursor: await seal(String(end)) } : {};
  return { items, from, total, ...next };
}

function shownItem({ item, value, error, ...rest }: ItemResult): Json {
  const [itemSummary, valueSummary] = [item, value].map((part) => summaryOf(part, VALUE_BYTES / 2));
  const shown = {
    ...rest,
    item: itemSummary ?? item,
    ...(valueSummary === undefined ? { value } : { summary: valueSummary }),
    error,
  };
  return shown as unknown as Json;
}

/** A step's whole value, for the resource `run://ID/value/AT`. */
export async function getRunValue(
  env: EngineEnvironment,
  principal: Principal,
  runId: string,
  at: string,
): Promise<Json> {
  const run = await readableRun(env, principal, runId);
  if (!RUN_VALUES.includes(at)) {
    const step = await stepOf(env, run, at);
    if (step.type === 'loop') return (await readResults(env.store, run.run, at)) as unknown as Json;
  }
  return (await getValue(env.store, run.run, at)) ?? null;
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
  const from = args.cursor === undefined ? undefined : await openCursor(cursorSecret, query, args.cursor);
  // Trial calls are listed as those of `call_tool`.
  if (workflow !== undefined && workflow !== TRY_WORKFLOW && !BLUEPRINT_ID.test(workflow))
    return { runs: [] };
  // A run that has not begun yet is answered as running.
  const wanted = (run: RunRecord): boolean =>
    mayRead(principal, run) && (status === undefined || runAnswerStatus(run) === status);
  const page = await readRuns(env.store, {
    ...(workflow === undefined ? {} : { workflow }),
    ...(from === undefined ? {} : { cursor: from }),
    accept: wanted,
    now: env.now(),
  });
  const current = (await Promise.all(page.runs.map((run) => reconcileRun(env, run)))).filter(wanted);
  const runs = current.map((run) => ({
    runId: run.run,
    ...subjectOf(run),
    status: runAnswerStatus(run),
    trigger: run.trigger,
    startedAt: run.startedAt ?? run.createdAt,
    ...(run.endedAt === undefined ? {} : { endedAt: run.endedAt }),
    ...(run.errorCount > 0 ? { errors: run.errorCount } : {}),
    ...linkOf(env, run),
  }));
  if (page.cursor === undefined) return { runs };
  return { runs, nextCursor: await sealCursor(cursorSecret, query, page.cursor) };
}
