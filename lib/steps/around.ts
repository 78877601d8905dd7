/**
 * The containers of states around a step, which no task works on while the step runs: what the step's end, and a redrive that
 * comes back to it, mean for their records.
 */
import type { StepError } from '../blueprint/errors.ts';
import type { StepNode } from '../compile/program.ts';
import type { StepRecord } from '../store/records.ts';
import { failContainer, haltStep, reopenContainer } from '../store/steps.ts';
import { loopEndedBy } from './failure.ts';
import { prefixAtDepth } from './occurrence.ts';
import type { OpenedTask } from './open-task.ts';
import { containersAround } from './program-index.ts';

/** A failure that ends the run ends every container around the step with it. */
export async function failAround(
  { env, loaded: { index }, run }: OpenedTask,
  node: StepNode,
  prefix: string,
  error: StepError,
): Promise<void> {
  const now = new Date(env.clock.now()).toISOString();
  const common = {
    run: run.run,
    status: 'failed',
    epoch: run.epoch,
    startedAt: now,
    endedAt: now,
    ms: 0,
  } as const;
  const failed = [...containersAround(index, node)].map(({ id, type }) => {
    const at = prefixAtDepth(prefix, index.loops.get(id)?.length ?? 0) + id;
    return { ...common, at, step: id, type, attempts: error.attempts, error };
  });
  await Promise.all(failed.map((record) => failContainer(env.store, record)));
}

/** Containers of an older epoch go on, as the step inside them does. Answers them as they are then. */
export async function reopenAround(
  { env, loaded: { index }, run }: OpenedTask,
  stale: readonly StepRecord[],
): Promise<StepRecord[]> {
  const now = env.clock.now();
  const reopened = stale.map((record) => {
    const limit = index.program.byId.get(record.step)?.timeoutMs;
    return reopenContainer(env.store, record, run.epoch, limit === undefined ? undefined : now + limit);
  });
  return (await Promise.all(reopened)).filter((record) => record !== undefined);
}

/** A failure that ends an item of a map loop under `abort` lets no new item of that loop start. */
export async function haltAround(
  { env, loaded: { index }, run }: OpenedTask,
  node: StepNode,
  prefix: string,
): Promise<void> {
  const halted = loopEndedBy(index, node);
  if (halted === undefined || halted.strategy.onStepFailure !== 'abort') return;
  const depth = index.loops.get(halted.id)?.length ?? 0;
  await haltStep(env.store, run.run, prefixAtDepth(prefix, depth) + halted.id, run.epoch);
}
