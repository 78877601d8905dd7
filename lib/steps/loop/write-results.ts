/**
 * Writes the results of a loop whose items were states into its journal, so that every loop is read in one way. A second
 * delivery, and a redrive, write the same windows anew.
 */
import { claimWindow, finishWindow, listWindows, takeWindow } from '../../store/journal.ts';
import type { ItemResult, WindowRecord } from '../../store/records.ts';
import { LeaseLost } from '../../store/steps.ts';
import type { Work } from '../work.ts';

/** Items of a window. */
const WINDOW = 500;

/** `results` by index; items that never ran are missing. `count` is how many items the loop has. */
export async function writeResults(
  work: Work,
  at: string,
  count: number,
  results: readonly ItemResult[],
): Promise<void> {
  const { store } = work.env;
  const known = new Map(
    (await listWindows(store, work.run.run, at)).map((window) => [window.window, window]),
  );
  for (let from = 0; from < count; from += WINDOW) {
    const to = Math.min(count, from + WINDOW);
    const window = await own(work, at, known.get(from / WINDOW), from / WINDOW, from, to);
    const part = results.filter(({ index }) => index >= from && index < to);
    if (!(await finishWindow(store, window, part))) throw new LeaseLost(work.run.run, at);
  }
}

/** Makes a window this task's own, whatever its state. Throws LeaseLost. */
export async function own(
  work: Work,
  at: string,
  known: WindowRecord | undefined,
  window: number,
  from: number,
  to: number,
): Promise<WindowRecord> {
  const { env, owner, epoch } = work;
  const { run } = work.run;
  if (known === undefined) {
    const claim = { run, at, window, from, to, owner, epoch };
    if (!(await claimWindow(env.store, claim))) throw new LeaseLost(run, at);
    return { ...claim, state: 'claimed' };
  }
  await work.hold();
  const taken = await takeWindow(env.store, known, owner, epoch);
  if (taken === undefined) throw new LeaseLost(run, at);
  return taken;
}
