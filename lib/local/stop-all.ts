/** Stopping what was started step by step. */

/**
 * Runs the steps from the last to the first, each once the one before has ended. What cannot be stopped does not keep the
 * rest from it: the failures are thrown together at the end, as an AggregateError with `message`.
 */
export async function stopAll(undo: readonly (() => Promise<void> | void)[], message: string): Promise<void> {
  const failures: unknown[] = [];
  for (const step of [...undo].reverse()) {
    try {
      await step();
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw new AggregateError(failures, message);
}
