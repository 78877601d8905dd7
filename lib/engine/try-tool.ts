/**
 * The tool `call_tool`: one trial call, recorded as a run of its own (trigger `try`) that is read, listed, limited and cancelled
 * like any other. Its record comes first, then the call; call-tool closes it with what the call came to, however long the
 * caller waits, and where it vanishes whoever reads the run does (reconcile.ts).
 *
 * A tool's own failure is an answer with `isError`, not an error of ours; so is a tool that the caller may not use.
 */
import { createHash } from 'node:crypto';
import { canonicalJson } from '../blueprint/canonical.ts';
import type { JsonObject } from '../blueprint/json.ts';
import type { TryAnswer } from '../steps/explore-protocol.ts';
import { type Principal, type RunRecord, TRY_WORKFLOW } from '../store/records.ts';
import { randomRunId } from '../store/run-id.ts';
import { closeRun, createRun } from '../store/runs.ts';
import { putValue } from '../store/values.ts';
import { requireOpenRun } from './admission.ts';
import { audited } from './audit.ts';
import { tryTool } from './catalog.ts';
import type { EngineEnvironment } from './environment.ts';
import { EngineError, HeldTooLong } from './errors.ts';
import { withinHold } from './hold.ts';

export interface TryCall {
  tool: string;
  params?: JsonObject | undefined;
  /** Engines that the request came through. */
  hops: number;
  /** Epoch ms by which the request must be answered; absent: as long as it takes. */
  heldUntil?: number | undefined;
}

/** Left of the time that a request is held: for the answer to come back. */
const ANSWER_MS = 2000;
const SENTENCE_MS = 250;
/** Shortest time worth starting a call with. */
const MIN_CALL_MS = 1000;

/** @throws EngineError Forbidden (switched off), LimitExceeded (open runs), Unavailable */
export async function callTool(env: EngineEnvironment, principal: Principal, call: TryCall) {
  const { run, answer } = await audited(
    env,
    principal,
    { action: 'tool.try', tool: call.tool, trigger: 'try' },
    () => recordedCall(env, principal, call),
    ({ run, answer: { server, tool, error } }) => ({
      run,
      ...(server === '' ? {} : { tool: `${server}/${tool}` }),
      ...(error === undefined ? {} : { outcome: error.kind }),
    }),
  );
  return { runId: run, ...answer };
}

async function recordedCall(
  env: EngineEnvironment,
  principal: Principal,
  call: TryCall,
): Promise<{ run: string; answer: TryAnswer }> {
  const { callTool: mode } = env.config;
  if (mode === 'off') {
    throw new EngineError(
      'Forbidden',
      'call_tool is switched off in this deployment; the prop "callTool" of the stack turns it on ("read-only" or "all")',
    );
  }
  await requireOpenRun(env, principal);
  const { tool, params = {}, hops, heldUntil } = call;
  const run = tryRecord(env, principal, call);
  await putValue(env.store, run.run, '$params', params);
  await createRun(env.store, run);
  const { tools: allowed } = principal;
  const answering = tryTool(env, {
    run: run.run,
    tool,
    params,
    hops,
    ...(allowed === undefined ? {} : { allowed }),
    ...(mode === 'read-only' ? { readOnly: true } : {}),
    ...(heldUntil === undefined
      ? {}
      : { timeoutMs: Math.max(MIN_CALL_MS, heldUntil - env.now() - ANSWER_MS) }),
  });
  try {
    // Before the sentence that any tool ends with, which knows of no run.
    const own = heldUntil === undefined ? undefined : heldUntil - SENTENCE_MS;
    const late = `the call has not ended; get_run with runId "${run.run}" tells what became of it, step "$output" has its value`;
    return { run: run.run, answer: await withinHold(env, own, late, answering) };
  } catch (error) {
    // Still under way, or it is not known: the record stays open until call-tool, or the silence, closes it.
    if (error instanceof EngineError && !(error instanceof HeldTooLong)) {
      await closeFailed(env, run, error.message);
    }
    throw error;
  }
}

/** call-tool answered with a fault of its own, so it is over. */
async function closeFailed(env: EngineEnvironment, run: RunRecord, cause: string): Promise<void> {
  const { closed } = await closeRun(env.store, run.run, {
    status: 'FAILED',
    epoch: 0,
    endedAt: new Date(env.now()).toISOString(),
    failure: { error: 'OutcomeUnknown', cause },
  });
  if (closed) env.telemetry.runEnded('FAILED', run.trigger);
}

function tryRecord(env: EngineEnvironment, principal: Principal, { tool, params, hops }: TryCall): RunRecord {
  const run = randomRunId();
  const now = new Date(env.now()).toISOString();
  return {
    run,
    workflow: TRY_WORKFLOW,
    revision: 0,
    hash: '',
    principal,
    owner: principal.id,
    trigger: 'try',
    called: { tool },
    status: 'RUNNING',
    stateMachineArn: '',
    versionArn: '',
    executionName: run,
    epoch: 0,
    createdAt: now,
    startedAt: now,
    touchedAt: now,
    paramsHash: createHash('sha256')
      .update(canonicalJson(params ?? {}))
      .digest('hex'),
    root: run,
    depth: 0,
    ...(hops === 0 ? {} : { hops }),
    // Counted before it is made, as every call is.
    attempts: 1,
    subRuns: 0,
    errorCount: 0,
  };
}
