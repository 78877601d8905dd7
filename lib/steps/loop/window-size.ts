/**
 * How many items a window takes: about `windowMs` of calls, never fewer than run at once. Small windows cost writes; large
 * ones leave more items unknown when the work breaks off.
 */

/** A window has no more, however fast the calls are: its results are one value. */
const MAX_WINDOW = 1000;
/** Weight of the newest item in the moving average. */
const NEWEST = 0.2;

export interface WindowSizer {
  /** Tells how long an item took, in ms. */
  ended(ms: number): void;
  size(): number;
}

/** Nothing is known at first, so the first windows have only what runs at once. */
export function createWindowSizer(windowMs: number, concurrency: number): WindowSizer {
  let average: number | undefined;
  return {
    ended(ms) {
      average = average === undefined ? ms : average + NEWEST * (ms - average);
    },
    size() {
      if (average === undefined) return concurrency;
      const items = Math.ceil((windowMs / Math.max(average, 0.01)) * concurrency);
      return Math.max(concurrency, Math.min(MAX_WINDOW, items));
    },
  };
}
