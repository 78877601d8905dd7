/**
 * Attempts are counted on the root run before they are made, so that no way of nesting or redelivering goes past the
 * limit. A loop counts a window's worth in one write and draws from it.
 */
import { StepFailure } from '../blueprint/errors.ts';

export interface AttemptBudget {
  /** Makes sure that `attempts` can be drawn without a write in between. Throws LimitExceeded. */
  reserve(attempts: number): Promise<void>;
  /** Draws one. Throws LimitExceeded. */
  draw(): Promise<void> | undefined;
  /** What is reserved and not drawn. */
  left(): number;
}

/** `count` writes to the root run: false where the limit would be passed, and then nothing was counted. */
export function createAttemptBudget(
  count: (attempts: number) => Promise<boolean>,
  maxAttempts: number,
): AttemptBudget {
  let left = 0;
  async function reserve(attempts: number): Promise<void> {
    const missing = attempts - left;
    if (missing <= 0) return;
    // Taken before the write is answered: two windows reserved at once must not count the same credit.
    left += missing;
    const counted = await count(missing);
    if (counted) return;
    left -= missing;
    throw new StepFailure(
      'LimitExceeded',
      `the run and its sub-runs have made the most attempts allowed, ${maxAttempts}`,
    );
  }
  return {
    reserve,
    draw() {
      if (left > 0) {
        left -= 1;
        return undefined;
      }
      return count(1).then((counted) => {
        if (!counted) {
          throw new StepFailure(
            'LimitExceeded',
            `the run and its sub-runs have made the most attempts allowed, ${maxAttempts}`,
          );
        }
      });
    },
    left: () => left,
  };
}
