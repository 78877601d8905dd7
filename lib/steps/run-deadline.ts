/**
 * When a run's time is over, counted from now: its own limit, and within it that of the step of the parent that waits for it.
 * A redrive gives a run its whole time again, and a sub-run no more than its parent has.
 */
import type { RunRecord } from '../store/records.ts';
import { getRun, isOpen } from '../store/runs.ts';
import { getStep } from '../store/steps.ts';
import type { StepsEnvironment } from './environment.ts';
import type { ProgramIndex } from './program-index.ts';

/** Epoch ms. */
export async function runDeadline(
  env: StepsEnvironment,
  { program }: ProgramIndex,
  { parent }: Pick<RunRecord, 'parent'>,
): Promise<number> {
  const own = env.clock.now() + Math.min(program.timeoutSeconds, env.limits.maxRunSeconds) * 1000;
  if (parent === undefined) return own;
  const [run, step] = await Promise.all([
    getRun(env.store, parent.run),
    getStep(env.store, parent.run, parent.at),
  ]);
  // A parent that has ended waits for nothing: somebody has redriven the sub-run by itself.
  if (run === undefined || !isOpen(run.status)) return own;
  return Math.min(own, run.deadline ?? own, step?.deadline ?? own);
}
