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
}

/** `count` writes to the root run: false where the limit would be passed, and then nothing was counted. */
export function createAttemptBudget(
  count: (attempts: number) => Promise<boolean>,
  maxAttempts: number,
): AttemptBudget {
  let left = 0;
  /** Being counted: two windows reserved at once must not count on the same credit, and nobody may draw it yet. */
  let coming = 0;
  async function reserve(attempts: number): Promise<void> {
    const missing = attempts - left - coming;
    if (missing <= 0) return;
    coming += missing;
    try {
      if (!(await count(missing))) throw exceeded(maxAttempts);
      left += missing;
    } finally {
      coming -= missing;
    }
  }
  return {
    reserve,
    draw() {
      if (left > 0) {
        left -= 1;
        return undefined;
      }
      return count(1).then((counted) => {
        if (!counted) throw exceeded(maxAttempts);
      });
    },
  };
}

function exceeded(maxAttempts: number): StepFailure {
  return new StepFailure(
    'LimitExceeded',
    `the run and its sub-runs have made the most attempts allowed, ${maxAttempts}`,
  );
}
