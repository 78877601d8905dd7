/**
 * Waiting for a run a bounded time, with progress, and the answer that `run_workflow` gives of it. Waiting polls the
 * record: nothing in AWS pushes to a function that is answering a request.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Json } from '../blueprint/json.ts';
import type { RunRecord } from '../store/records.ts';
import { getRun } from '../store/runs.ts';
import { getValue } from '../store/values.ts';
import { summaryOf } from './bounded.ts';
import { runUrl } from './console.ts';
import type { EngineEnvironment } from './environment.ts';
import { positionOf } from './progress.ts';
import { isOpen, reconcileRun } from './reconcile.ts';
import { shownErrors } from './run-errors.ts';
import { runAnswerStatus } from './runs.ts';

const FIRST_POLL_MS = 25;
const LAST_POLL_MS = 1000;
const PROGRESS_MS = 500;
/** An output up to this size is answered whole, a larger one as a summary with a link. */
const MAX_OUTPUT_BYTES = 16 * 1024;

export interface WaitOptions {
  seconds: number;
  signal: AbortSignal;
  progress?: (done: number, total: number, message: string) => Promise<void>;
}

/** Resolves with the run when it has ended, the time is up or the caller is gone. */
export async function waitForRun(
  env: EngineEnvironment,
  run: string,
  { seconds, signal, progress }: WaitOptions,
): Promise<RunRecord> {
  const until = env.now() + seconds * 1000;
  let pause = FIRST_POLL_MS;
  let reported = 0;
  let told = -1;
  for (;;) {
    const read = await getRun(env.store, run);
    if (read === undefined) throw new Error('a run record vanished while it was waited for');
    const record = await reconcileRun(env, read);
    if (progress !== undefined && (env.now() - reported >= PROGRESS_MS || !isOpen(record))) {
      reported = env.now();
      const { done, total, share, message } = await positionOf(env, record);
      // Each notification tells of more than the one before (MCP, "Progress").
      if (done + share > told) {
        told = done + share;
        await progress(told, total, message);
      }
    }
    const left = until - env.now();
    if (!isOpen(record) || left <= 0 || signal.aborted) return record;
    await sleep(Math.min(pause, left), undefined, { signal }).catch(() => undefined);
    pause = Math.min(pause * 1.5, LAST_POLL_MS);
  }
}

/** The answer to whoever started or asked: status, output or its summary, errors. Short, because an agent pays for it. */
export async function summarizeRun(env: EngineEnvironment, run: RunRecord) {
  const url = runUrl(env, run);
  const answer = {
    runId: run.run,
    status: runAnswerStatus(run),
    ...(url === undefined ? {} : { url }),
  };
  if (isOpen(run)) return answer;
  const [output, errors] = await Promise.all([
    run.status === 'SUCCEEDED' ? getValue(env.store, run.run, '$output') : undefined,
    shownErrors(env, run),
  ]);
  return { ...answer, ...(output === undefined ? {} : outputOf(output)), ...errors };
}

function outputOf(output: Json): Record<string, Json> {
  const summary = summaryOf(output, MAX_OUTPUT_BYTES);
  return summary === undefined ? { output } : { summary };
}
