/**
 * How a loop ended, from how its items did: under `abort` the first failed item's error fails it, under `continue` it succeeds
 * with null at the failed places.
 */
import type { StepError } from '../../blueprint/errors.ts';
import type { LoopNode } from '../../compile/program.ts';
import { readJournal } from '../../store/journal.ts';
import type { ItemResult } from '../../store/records.ts';
import type { Store } from '../../store/store.ts';
import type { Outcome } from '../frame.ts';
import type { ProgramIndex } from '../program-index.ts';
import { itemOf } from '../reading.ts';

/** Counts of a loop, gathered as its items end. */
export interface LoopCounts {
  count: number;
  failed: number;
  skipped: number;
  /** Failures inside items that did not end them. */
  passed: number;
  attempts: number;
  /** Of the failed item with the lowest index. */
  firstError: StepError | undefined;
  firstFailed: number;
}

export function newCounts(): LoopCounts {
  return {
    count: 0,
    failed: 0,
    skipped: 0,
    passed: 0,
    attempts: 0,
    firstError: undefined,
    firstFailed: Number.POSITIVE_INFINITY,
  };
}

/** Adds an item's end. */
export function countItem(counts: LoopCounts, result: ItemResult): void {
  counts.count += 1;
  counts.attempts += result.attempts;
  counts.passed += result.passed?.length ?? 0;
  if (result.status === 'skipped') counts.skipped += 1;
  if (result.status !== 'failed') return;
  counts.failed += 1;
  if (result.index < counts.firstFailed && result.error !== null) {
    counts.firstFailed = result.index;
    counts.firstError = result.error;
  }
}

/** The counts of what a loop's journal has; its values are read and dropped again. */
export async function countResults(store: Store, run: string, at: string): Promise<LoopCounts> {
  const counts = newCounts();
  for await (const { items = [] } of readJournal(store, run, at)) {
    for (const item of items) countItem(counts, item);
  }
  return counts;
}

/** The outcome of a loop whose items are all at hand, in order. */
export function loopOutcome(index: ProgramIndex, node: LoopNode, results: readonly ItemResult[]): Outcome {
  const counts = newCounts();
  for (const result of results) countItem(counts, result);
  const detail = index.resultIds.has(node.id)
    ? {
        detail: {
          count: counts.count,
          failed: counts.failed,
          skipped: counts.skipped,
          items: results.map(itemOf),
        },
      }
    : {};
  if (counts.firstError !== undefined && node.strategy.onStepFailure === 'abort') {
    return {
      status: 'failed',
      error: counts.firstError,
      value: null,
      attempts: counts.attempts,
      ms: 0,
      ...detail,
    };
  }
  return {
    status: 'succeeded',
    value: results.map((result) => result.value),
    attempts: counts.attempts,
    ms: 0,
    ...detail,
  };
}
