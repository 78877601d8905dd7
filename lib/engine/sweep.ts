/** The sweep: open runs that nobody reads are looked up as well, so that none stays open after its execution has ended. */
import { listOpenRuns } from '../store/run-lists.ts';
import type { EngineEnvironment } from './environment.ts';
import { isOpen, reconcileRun } from './reconcile.ts';

/** Looked up at once; Step Functions answers 15 a second. */
const AT_ONCE = 5;

/** Reconciles the open runs, oldest first, at most 1,000. @returns how many were looked at and how many it closed. */
export async function sweepRuns(env: EngineEnvironment): Promise<{ open: number; closed: number }> {
  const runs = await listOpenRuns(env.store);
  let closed = 0;
  for (let from = 0; from < runs.length; from += AT_ONCE) {
    const looked = runs.slice(from, from + AT_ONCE).map((run) => reconcileRun(env, run));
    for (const run of await Promise.all(looked)) if (!isOpen(run)) closed += 1;
  }
  return { open: runs.length, closed };
}
