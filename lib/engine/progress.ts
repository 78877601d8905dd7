/** How far a run is: settled top-level steps of all, and where the unfinished loop stands. */
import { parseProgram } from '../compile/parse.ts';
import { getDocument } from '../store/documents.ts';
import { getItemsIndex } from '../store/items.ts';
import { listWindows } from '../store/journal.ts';
import type { RunRecord, StepRecord } from '../store/records.ts';
import { getSteps } from '../store/steps.ts';
import type { EngineEnvironment } from './environment.ts';

export interface Progress {
  [key: string]: number | string;
  /** Top-level steps that have ended. */
  done: number;
  total: number;
  message: string;
}

export async function runProgress(env: EngineEnvironment, run: RunRecord): Promise<Progress> {
  const { done, total, message } = await positionOf(env, run);
  return { done, total, message };
}

/** The same, and the share of the step under way that has been done: more than 0 where there is one, less than 1. */
export async function positionOf(
  env: EngineEnvironment,
  run: RunRecord,
): Promise<Progress & { share: number }> {
  const { blueprint } = await getDocument(env.store, run.workflow, run.hash);
  const ids = parseProgram(blueprint).steps.map((step) => step.id);
  const records = (await getSteps(env.store, run.run, ids)).filter((step) => step !== undefined);
  const done = records.filter((step) => step.status !== 'running').length;
  const current = records.find((step) => step.status === 'running');
  const total = ids.length;
  if (current === undefined) return { done, total, share: 0, message: `${done} of ${total} steps` };
  if (current.type !== 'loop') return { done, total, share: 1 / 2, message: current.at };
  return { done, total, ...(await loopPosition(env, run, current)) };
}

/** How many items there are is known of a loop over a list as soon as it has begun. */
async function loopPosition(
  env: EngineEnvironment,
  run: RunRecord,
  step: StepRecord,
): Promise<{ share: number; message: string }> {
  const [windows, index] = await Promise.all([
    listWindows(env.store, run.run, step.at),
    getItemsIndex(env.store, run.run, step.at),
  ]);
  const ended = windows.reduce((sum, w) => (w.state === 'done' ? sum + w.to - w.from : sum), 0);
  const items = index === undefined ? `${ended} items` : `${ended} of ${index.count} items`;
  return { share: (1 + ended) / (2 + (index?.count ?? ended)), message: `${step.at}: ${items}` };
}
