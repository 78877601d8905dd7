/** How far a run is: settled top-level steps of all, and where the unfinished loop stands. */
import { parseProgram } from '../compile/parse.ts';
import { getDocument } from '../store/documents.ts';
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
  const { blueprint } = await getDocument(env.store, run.workflow, run.hash);
  const ids = parseProgram(blueprint).steps.map((step) => step.id);
  const records = (await getSteps(env.store, run.run, ids)).filter((step) => step !== undefined);
  const done = records.filter((step) => step.status !== 'running').length;
  const current = records.find((step) => step.status === 'running');
  const message =
    current === undefined ? `${done} of ${ids.length} steps` : await stepMessage(env, run, current);
  return { done, total: ids.length, message };
}

async function stepMessage(env: EngineEnvironment, run: RunRecord, step: StepRecord): Promise<string> {
  if (step.type !== 'loop') return step.at;
  const windows = await listWindows(env.store, run.run, step.at);
  const items = windows.reduce((sum, w) => (w.state === 'done' ? sum + w.to - w.from : sum), 0);
  return step.count === undefined
    ? `${step.at}: ${items} items`
    : `${step.at}: ${items} of ${step.count} items`;
}
