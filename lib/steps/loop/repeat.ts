/** Whether what a loop's item does may be done again. */
import { StepFailure } from '../../blueprint/errors.ts';
import type { LoopNode } from '../../compile/program.ts';
import type { ItemResult } from '../../store/records.ts';
import { mayRepeat, resolveTool, type Work } from '../work.ts';
import { toolCallsIn } from './calls.ts';

/** True where every call of the body may be repeated. A server that cannot be asked leaves that open: then not. */
export async function bodyMayRepeat(work: Work, node: LoopNode): Promise<boolean> {
  for (const call of toolCallsIn(node)) {
    if (call.retryUnknown) continue;
    try {
      if (!mayRepeat(call, await resolveTool(work, call))) return false;
    } catch (error) {
      if (error instanceof StepFailure) return false;
      throw error;
    }
  }
  return true;
}

/** A failed item is run anew in a newer epoch, except one that may have done its work, unless its step allows that. */
export function mayRunAnew(node: LoopNode, work: Work, result: ItemResult): boolean {
  if (result.error?.kind !== 'OutcomeUnknown') return true;
  const step = work.index.program.byId.get(result.error.step);
  // The item as a whole broke off: every call in it must allow it.
  const calls = step?.type === 'call' ? [step] : toolCallsIn(node);
  return calls.every((call) => call.call === 'tool' && call.retryUnknown);
}
