/** ` finish`: evaluates the blueprint's `output` and closes the run. Failed steps read as null. */
import { StepFailure } from '../../blueprint/errors.ts';
import type { Json } from '../../blueprint/json.ts';
import type { FinishTask, TaskAnswer } from '../../compile/protocol.ts';
import { endFailedRun, endSucceededRun } from '../end-run.ts';
import type { StepsEnvironment } from '../environment.ts';
import { publicFailure, stepErrorOf } from '../failure.ts';
import { outcomeOf, scopeFor } from '../frame.ts';
import { showRecorded } from '../inspect.ts';
import { openTask, refused } from '../open-task.ts';
import { lastOf } from '../program-index.ts';
import { readFrame } from '../reading.ts';
import { evaluate } from '../templates.ts';

export async function finish(task: FinishTask, env: StepsEnvironment): Promise<TaskAnswer> {
  const began = env.clock.now();
  const { loaded, run, open } = await openTask(task, env);
  const { index } = loaded;
  // A second delivery, after the first has closed the run.
  if (run.status === 'SUCCEEDED') {
    return { status: 'done', ms: env.clock.now() - began, ...(await showRecorded(env, run.run, '$output')) };
  }
  if (!open || run.stop !== undefined) throw refused(task);
  const { program } = index;
  const last = lastOf(program.steps).id;
  const uses = program.output === undefined ? { values: [last], results: [] } : program.outputUses;
  const { frame } = await readFrame(env.store, run, index, '', undefined, {
    outcomes: new Set(),
    values: new Set(uses.values),
    results: new Set(uses.results),
    around: new Set(),
    halts: new Set(),
    errors: index.outputReadsErrors,
  });
  let output: Json;
  try {
    output =
      program.output === undefined
        ? outcomeOf(frame, last).value
        : evaluate(program.output, scopeFor(frame, uses), 'output', 'output');
  } catch (error) {
    if (!(error instanceof StepFailure)) throw error;
    const failed = stepErrorOf(error, { step: ' finish', path: '', attempts: 0 });
    await endFailedRun(env, index, run, task.epoch, failed);
    throw publicFailure(failed);
  }
  await endSucceededRun(env, index, run, task.epoch, output);
  const shown = await showRecorded(env, run.run, '$output');
  const bytes = Buffer.byteLength(JSON.stringify(output));
  return { status: 'done', ms: env.clock.now() - began, bytes, ...shown };
}
