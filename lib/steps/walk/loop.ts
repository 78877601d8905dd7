/**
 * A loop inside a loop's item, walked inside the task of the outer one. It has no journal of its own: what it has done is kept
 * with the outer item's progress, and a break-off makes the whole outer item unknown (or done anew, where all its calls may be
 * repeated).
 */
import type { Json } from '../../blueprint/json.ts';
import type { LoopNode } from '../../compile/program.ts';
import type { ItemResult } from '../../store/records.ts';
import { type Frame, type Outcome, scopeFor } from '../frame.ts';
import { callsPerIteration } from '../loop/calls.ts';
import { evaluateItems } from '../loop/evaluate-items.ts';
import { loopOutcome } from '../loop/outcome.ts';
import { goesOn } from '../loop/passes.ts';
import { Suspended, throwIfStopped, type Work } from '../work.ts';
import { innerProgress, itemFrame, type Progress } from './progress.ts';

/** Runs the body once; handed in by the walker, which walks loops as well. */
type WalkItem = (
  work: Work,
  loop: LoopNode,
  frame: Frame,
  item: Json,
  progress: Progress,
) => Promise<ItemResult>;

/** Walks the loop; `when` has been looked at. Throws StepFailure where the loop itself fails, Suspended, LeaseLost. */
export async function walkLoop(
  work: Work,
  node: LoopNode,
  frame: Frame,
  progress: Progress,
  walkItem: WalkItem,
): Promise<Outcome> {
  const results =
    node.kind === 'while'
      ? await walkPasses(work, node, frame, progress, walkItem)
      : await walkItems(work, node, frame, progress, walkItem);
  return loopOutcome(work.index, node, results);
}

async function walkItems(
  work: Work,
  node: LoopNode,
  frame: Frame,
  progress: Progress,
  walkItem: WalkItem,
): Promise<ItemResult[]> {
  const items = evaluateItems(node, scopeFor(frame, node.uses));
  await work.budget.reserve(items.length * callsPerIteration(node));
  const results: ItemResult[] = [];
  const state: { next: number; halted: boolean; suspended: Suspended | undefined } = {
    next: 0,
    halted: false,
    suspended: undefined,
  };
  async function worker(): Promise<void> {
    while (!state.halted && state.suspended === undefined) {
      throwIfStopped(work);
      const index = state.next++;
      const item = items[index];
      if (item === undefined) return;
      try {
        const place = itemFrame(frame, node, index, { [node.as]: item });
        const result = await walkItem(work, node, place, item, innerProgress(progress));
        progress.attempts += result.attempts;
        results.push(result);
        if (result.status === 'failed' && node.strategy.onStepFailure === 'abort') state.halted = true;
      } catch (error) {
        if (!(error instanceof Suspended)) throw error;
        state.suspended = sooner(state.suspended, error);
      }
    }
  }
  const workers = Array.from({ length: Math.min(node.concurrency, items.length) }, worker);
  const ends = await Promise.allSettled(workers);
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
  if (state.suspended !== undefined) throw state.suspended;
  return results.sort((a, b) => a.index - b.index);
}

async function walkPasses(
  work: Work,
  node: LoopNode,
  frame: Frame,
  progress: Progress,
  walkItem: WalkItem,
): Promise<ItemResult[]> {
  const results: ItemResult[] = [];
  let input: Json = null;
  for (let pass = 0; ; pass += 1) {
    throwIfStopped(work);
    const place = itemFrame(frame, node, pass, { input });
    const result = await walkItem(work, node, place, null, innerProgress(progress));
    progress.attempts += result.attempts;
    results.push(result);
    if (result.status === 'failed') throwIfStopped(work);
    if (!goesOn(node, frame, result)) return results;
    input = result.value;
  }
}

/** Of two suspensions the one that can go on first. */
function sooner(one: Suspended | undefined, other: Suspended): Suspended {
  if (one === undefined) return other;
  return (one.notBefore ?? 0) <= (other.notBefore ?? 0) ? one : other;
}
