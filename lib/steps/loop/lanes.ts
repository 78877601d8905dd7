/**
 * How a loop of more than ten items at once is divided: lanes of at most ten, each with a part of the items and of the
 * journal's windows to itself, so that two lanes never want the same window.
 *
 *     concurrency 25, 100 items  →  lane 0: 9 at once, items 0–35   lane 1: 8, 36–67   lane 2: 8, 68–99
 */
import { LANE_CONCURRENCY } from '../../blueprint/limits.ts';

/** Windows that a lane may have; the store's keys take a million windows a loop. */
const WINDOWS_A_LANE = 20_000;

export interface Lane {
  from: number;
  to: number;
  concurrency: number;
  firstWindow: number;
  endWindow: number;
}

export function laneCount(concurrency: number): number {
  return Math.ceil(concurrency / LANE_CONCURRENCY);
}

/** Lane `lane` of a loop; its share of the items is its share of the concurrency. */
export function laneOf(concurrency: number, count: number, lane: number): Lane {
  const lanes = laneCount(concurrency);
  const share = (each: number): number =>
    Math.floor(concurrency / lanes) + (each < concurrency % lanes ? 1 : 0);
  let before = 0;
  for (let each = 0; each < lane; each += 1) before += share(each);
  const at = (places: number): number => Math.floor((places * count) / concurrency);
  return {
    from: at(before),
    to: at(before + share(lane)),
    concurrency: share(lane),
    firstWindow: lane * WINDOWS_A_LANE,
    endWindow: (lane + 1) * WINDOWS_A_LANE,
  };
}

/** The path of a lane's own record. `#` marks it as the engine's: no list of steps shows it. */
export function laneAt(at: string, lane: number): string {
  return `${at}#lane${lane}`;
}
