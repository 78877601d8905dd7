/** The tool `run_workflow`: a dry run, or a run that is started and waited for as long as the request may be held. */
import type { JsonObject } from '../blueprint/json.ts';
import type { Principal } from '../store/records.ts';
import { inWaitPlace } from './admission.ts';
import { dryRunWorkflow } from './dry-run.ts';
import type { EngineEnvironment } from './environment.ts';
import { type StartRequest, startRun } from './start.ts';
import { summarizeRun, type WaitOptions, waitForRun } from './wait.ts';

/** Left of the time that a request is held, for the answer. */
const ANSWER_MS = 1000;

export interface RunWorkflowRequest extends StartRequest, Pick<WaitOptions, 'signal' | 'progress'> {
  /** Seconds. */
  wait: number;
  dryRun?: boolean | undefined;
  params?: JsonObject | undefined;
  hops: number;
  /** Epoch ms until which the request may be held; undefined: as long as `wait` says. */
  heldUntil?: number | undefined;
}

/** Answers a dry run's report, or the run as it stands when it has ended or the time is up. */
export async function runWorkflow(env: EngineEnvironment, principal: Principal, request: RunWorkflowRequest) {
  const { wait, heldUntil, signal, progress } = request;
  if (request.dryRun === true) return { ...(await dryRunWorkflow(env, principal, request)) };
  if (wait === 0) return summarizeRun(env, await startRun(env, principal, request));
  const ended = await inWaitPlace(env, principal, wait, async () => {
    const run = await startRun(env, principal, request);
    // The time that starting took is part of what the request is held.
    const left = heldUntil === undefined ? wait : (heldUntil - ANSWER_MS - env.now()) / 1000;
    const seconds = Math.max(0, Math.min(wait, left));
    return waitForRun(env, run.run, { seconds, signal, ...(progress ? { progress } : {}) });
  });
  return summarizeRun(env, ended);
}
