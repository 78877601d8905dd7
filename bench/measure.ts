/** Time and memory, plainly. Machines are noisy: two ways of doing the same are measured in turn, and ratios are what counts. */

/** Median of some numbers. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? Number.NaN)) / 2;
}

/** Milliseconds that `work` takes. */
export async function timed(work: () => unknown): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

/** Medians of two ways of doing the same, measured in turn `rounds` times after one unmeasured round of each. */
export async function compare(
  rounds: number,
  ours: () => Promise<unknown>,
  theirs: () => Promise<unknown>,
  warm = true,
): Promise<{ ours: number; theirs: number }> {
  if (warm) {
    await theirs();
    await ours();
  }
  const a: number[] = [];
  const b: number[] = [];
  for (let round = 0; round < rounds; round++) {
    b.push(await timed(theirs));
    a.push(await timed(ours));
  }
  return { ours: median(a), theirs: median(b) };
}

export interface Figure {
  name: string;
  value: number;
  unit: string;
  /** What we aim for, as text; the figure is told, never asserted. */
  aim?: string;
}

/** Rounds to three significant digits, which is more than these machines are worth. */
export function rounded(value: number): number {
  return Number(value.toPrecision(3));
}
