/**
 * A run's errors, from its records: every step and loop item that failed, once each, where its strategy collects errors.
 * A container that failed carries the error of the step inside it, which has the same path and counts once.
 */
import type { StepError } from '../blueprint/errors.ts';
import { readResults } from '../store/journal.ts';
import { allSteps } from '../store/steps.ts';
import type { Store } from '../store/store.ts';
import type { ProgramIndex } from './program-index.ts';

/** Reads the errors so far, in the order of their paths. */
export async function runErrors(store: Store, index: ProgramIndex, run: string): Promise<StepError[]> {
  const records = await allSteps(store, run);
  const found = new Map<string, StepError>();
  const add = (error: StepError): void => {
    const collects = index.program.byId.get(error.step)?.strategy.collectErrors ?? true;
    const key = `${error.path} ${error.index ?? ''} ${error.kind}`;
    if (collects && !found.has(key)) found.set(key, error);
  };
  for (const record of records) {
    if (record.type === 'loop' && (record.failed ?? 0) + (record.passed ?? 0) > 0) {
      for (const { error, passed } of await readResults(store, run, record.at)) {
        if (error !== null) add(error);
        for (const each of passed ?? []) add(each);
      }
    }
    if (record.status === 'failed' && record.error !== undefined) add(record.error);
  }
  return [...found.values()];
}
