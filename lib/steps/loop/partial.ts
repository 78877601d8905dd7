/**
 * What a task leaves of its unfinished windows when it lets go in order (`more`, `wait`): items that ended, items that are in
 * the middle of their body, and by their absence items that were never sent.
 *
 * It is one value beside the loop's journal and speaks only for windows that still belong to the owner who wrote it: who takes
 * a window over and vanishes leaves it unknown, whatever was said of it before.
 */
import type { Json } from '../../blueprint/json.ts';
import type { JournalItem } from '../../store/records.ts';
import type { Store } from '../../store/store.ts';
import { getValue, putValue } from '../../store/values.ts';
import type { CallState } from '../call/attempt.ts';
import type { Outcome } from '../frame.ts';
import { newProgress, type Progress } from '../walk/progress.ts';

export interface PartialItem {
  index: number;
  ended: [string, Outcome][];
  pending: [string, CallState][];
  /** Absent in what earlier engines left. */
  limits?: [string, number][];
}

export interface PartialWindow {
  window: number;
  done: JournalItem[];
  suspended: PartialItem[];
}

export interface Partial {
  owner: string;
  windows: PartialWindow[];
}

/** `#` marks it as the engine's own: no step has it in its path. */
const placeOf = (at: string): string => `${at}#partial`;

export async function writePartial(
  store: Store,
  run: string,
  at: string,
  partial: Partial,
  fence: number,
): Promise<void> {
  await putValue(store, run, placeOf(at), partial as unknown as Json, { fence });
}

export async function readPartial(store: Store, run: string, at: string): Promise<Partial | undefined> {
  return (await getValue(store, run, placeOf(at))) as unknown as Partial | undefined;
}

export function partialItem(index: number, { ended, pending, limits }: Progress): PartialItem {
  return { index, ended: [...ended], pending: [...pending], limits: [...limits] };
}

/** Attempts and failures are counted as the item is walked again. */
export function progressOf({ ended, pending, limits }: PartialItem): Progress {
  return { ...newProgress(), ended: new Map(ended), pending: new Map(pending), limits: new Map(limits) };
}
