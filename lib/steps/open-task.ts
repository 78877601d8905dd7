/**
 * What every task but ` begin` starts with: its program, and the run it belongs to, which must be open under the execution
 * that asks. A task of a newer epoch opens the run again.
 */
import { StepFailure } from '../blueprint/errors.ts';
import type { StepNode } from '../compile/program.ts';
import type { StepTask } from '../compile/protocol.ts';
import type { RunRecord } from '../store/records.ts';
import { getRun, isOpen, limitRun, reopenRun } from '../store/runs.ts';
import { type LoadedDocument, loadDocument } from './documents.ts';
import type { StepsEnvironment } from './environment.ts';
import { namedError } from './failure.ts';
import { runDeadline } from './run-deadline.ts';

export interface OpenedTask {
  env: StepsEnvironment;
  loaded: LoadedDocument;
  run: RunRecord;
  /** False where the run has ended in this epoch: what is recorded may be replayed, nothing else may be done. */
  open: boolean;
  owner: string;
}

/** Opens a task. Throws Cancelled where the run is not this execution's. */
export async function openTask(task: StepTask, env: StepsEnvironment): Promise<OpenedTask> {
  const [loaded, found] = await Promise.all([
    loadDocument(env.store, task.workflow, task.hash),
    getRun(env.store, task.run),
  ]);
  if (
    found === undefined ||
    found.execution !== task.execution ||
    found.hash !== task.hash ||
    task.epoch < found.epoch
  ) {
    throw refused(task);
  }
  const run = await timed(task, env, loaded, found);
  if (run === undefined) throw refused(task);
  return { env, loaded, run, open: isOpen(run.status), owner: env.newOwner() };
}

/** A newer epoch opens the run again. Who opened it without its program at hand has left its time limit open. */
async function timed(
  task: StepTask,
  env: StepsEnvironment,
  { index }: LoadedDocument,
  found: RunRecord,
): Promise<RunRecord | undefined> {
  const newer = task.epoch > found.epoch;
  if (!newer && (found.deadline !== undefined || !isOpen(found.status))) return found;
  const deadline = await runDeadline(env, index, found);
  if (!newer) return (await limitRun(env.store, task.run, deadline)) ?? found;
  const { execution, epoch } = task;
  const at = new Date(env.clock.now()).toISOString();
  return reopenRun(env.store, task.run, { execution, epoch, at, deadline });
}

export function refused(task: StepTask): StepFailure {
  const failure = new StepFailure(
    'Cancelled',
    `step "${task.step}": the run is not open under this execution`,
  );
  failure.stack = `${failure.kind}: ${failure.message}`;
  return failure;
}

/** The step that a task names. */
export function nodeOf(loaded: LoadedDocument, step: string): StepNode {
  const node = loaded.index.program.byId.get(step);
  if (node === undefined)
    throw namedError('UnknownStep', `the document ${loaded.hash} has no step "${step}"`);
  return node;
}
