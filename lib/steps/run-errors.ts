/**
 * A run's errors, from its records: every step and loop item that failed, once each, where its strategy collects errors.
 * A container that failed carries the error of the step inside it, which has the same path and counts once.
 */
import type { StepError } from '../blueprint/errors.ts';
import { readJournal } from '../store/journal.ts';
import { allSteps } from '../store/steps.ts';
import type { Store } from '../store/store.ts';
import type { ProgramIndex } from './program-index.ts';

/** Errors that are kept of a run: what its answer lists, and what `run.errors` is. The rest is counted. */
const MAX_LISTED = 10_000;

export interface RunErrors {
  /** In the order of their paths, the first `MAX_LISTED`. */
  listed: StepError[];
  count: number;
}

/** Reads the errors so far. `last`, the error that ends the run, is listed whatever its strategy collects. */
export async function runErrors(
  store: Store,
  index: ProgramIndex,
  run: string,
  last?: StepError,
): Promise<RunErrors> {
  const known = new Set<string>();
  const listed: StepError[] = [];
  const add = (error: StepError, always = false): void => {
    const collects = index.program.byId.get(error.step)?.strategy.collectErrors ?? true;
    const key = `${error.path} ${error.index ?? ''} ${error.kind}`;
    if ((!collects && !always) || known.has(key)) return;
    known.add(key);
    if (listed.length === MAX_LISTED && always) listed.pop();
    if (listed.length < MAX_LISTED) listed.push(error);
  };
  for (const record of await allSteps(store, run)) {
    if (record.type === 'loop' && (record.failed ?? 0) + (record.passed ?? 0) > 0) {
      for await (const { items = [] } of readJournal(store, run, record.at)) {
        for (const { error, passed = [] } of items)
          for (const each of [error, ...passed]) if (each !== null) add(each);
      }
    }
    if (record.status === 'failed' && record.error !== undefined) add(record.error);
  }
  if (last !== undefined) add(last, true);
  return { listed, count: known.size };
}
