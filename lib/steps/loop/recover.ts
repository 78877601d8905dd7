/**
 * Where a loop stands when a task comes to it again: what its journal says is done, what must be run, what is unknown.
 *
 *     window            items with a result        items without one
 *     done              keep; failed ones of an    never sent: run
 *                       older epoch run anew
 *     claimed, let go   keep                       suspended: go on; else never sent: run
 *     claimed, broken   keep (an earlier epoch's)  repeatable: run; else OutcomeUnknown
 */
import { StepFailure } from '../../blueprint/errors.ts';
import type { Json } from '../../blueprint/json.ts';
import type { LoopNode } from '../../compile/program.ts';
import { listWindows, readResults, reopenWindow, takeOverWindow } from '../../store/journal.ts';
import type { ItemResult, WindowRecord } from '../../store/records.ts';
import { LeaseLost } from '../../store/steps.ts';
import { stepErrorOf } from '../failure.ts';
import type { Frame } from '../frame.ts';
import { iterationOf } from '../occurrence.ts';
import { failedItem, type Progress } from '../walk/progress.ts';
import type { Work } from '../work.ts';
import { type Partial, progressOf, readPartial } from './partial.ts';
import { bodyMayRepeat, mayRunAnew } from './repeat.ts';

/** A window to be worked on: what it has already, and which of its items are to be run. */
export interface OpenWindow {
  record: WindowRecord;
  results: ItemResult[];
  /** Items to run, in order. */
  todo: number[];
  resumes: Map<number, Progress>;
}

export interface Recovered {
  /** Windows to work on first. */
  windows: OpenWindow[];
  /** Results that stand, of windows that need no work. */
  kept: ItemResult[];
  /** Items from here on have no window. */
  next: number;
  nextWindow: number;
}

export interface RecoverRequest {
  at: string;
  from: number;
  to: number;
  firstWindow: number;
  /** The journal's windows from here on are another lane's. */
  endWindow: number;
  itemAt(index: number): Json;
}

/** Reads the journal and takes over what is nobody's any more. Throws LeaseLost where somebody else does. */
export async function recover(
  work: Work,
  node: LoopNode,
  frame: Frame,
  request: RecoverRequest,
): Promise<Recovered> {
  const { env, run } = work;
  const { at } = request;
  const recovered: Recovered = { windows: [], kept: [], next: request.from, nextWindow: request.firstWindow };
  const windows = (await listWindows(env.store, run.run, at)).filter(
    ({ window }) => window >= request.firstWindow && window < request.endWindow,
  );
  if (windows.length === 0) return recovered;
  const [results, partial] = await Promise.all([
    readResults(env.store, run.run, at, request.from, request.to),
    readPartial(env.store, run.run, request.firstWindow === 0 ? at : `${at}#${request.firstWindow}`),
  ]);
  const byIndex = new Map(results.map((result) => [result.index, result]));
  for (const window of windows) {
    recovered.next = Math.max(recovered.next, window.to);
    recovered.nextWindow = Math.max(recovered.nextWindow, window.window + 1);
    const open = await recoverWindow(work, node, frame, request, window, byIndex, partial);
    if (open !== undefined) recovered.windows.push(open);
    else {
      for (let index = window.from; index < window.to; index += 1) {
        const result = byIndex.get(index);
        if (result !== undefined) recovered.kept.push(result);
      }
    }
  }
  return recovered;
}

async function recoverWindow(
  work: Work,
  node: LoopNode,
  frame: Frame,
  request: RecoverRequest,
  window: WindowRecord,
  byIndex: ReadonlyMap<number, ItemResult>,
  partial: Partial | undefined,
): Promise<OpenWindow | undefined> {
  const { env, owner, epoch } = work;
  const results: ItemResult[] = [];
  const todo: number[] = [];
  const resumes = new Map<number, Progress>();
  // Of a window that was let go of in order it is known what was sent.
  const left =
    partial?.owner === window.owner
      ? partial.windows.find((each) => each.window === window.window)
      : undefined;
  const known = window.state === 'done' || left !== undefined;
  const mayRepeat = known || (await bodyMayRepeat(work, node));
  const done = new Map(left?.done.map((result) => [result.index, result]));
  const suspended = new Map(left?.suspended.map((item) => [item.index, item]));
  for (let index = window.from; index < window.to; index += 1) {
    const result = done.get(index) ?? byIndex.get(index);
    const halfway = suspended.get(index);
    // In a window that was claimed anew, a failed item may have been sent again before the work broke off.
    const settled = result !== undefined && (result.status !== 'failed' || known);
    const again = result?.status === 'failed' && window.epoch < epoch && mayRunAnew(node, work, result);
    if (settled && !again) results.push(result);
    else if (known || mayRepeat) {
      todo.push(index);
      if (halfway !== undefined) resumes.set(index, progressOf(halfway));
    } else results.push(unknownItem(node, frame, index, request.itemAt(index)));
  }
  if (window.state === 'done' && todo.length === 0) return undefined;
  const record =
    window.state === 'done'
      ? await reopenWindow(env.store, window, owner, epoch)
      : await takeOverWindow(env.store, window, owner, epoch);
  if (record === undefined) throw new LeaseLost(work.run.run, request.at);
  return { record, results, todo, resumes };
}

/** An item that was claimed by somebody who vanished: nobody knows whether its calls were carried out. */
export function unknownItem(node: LoopNode, frame: Frame, index: number, item: Json): ItemResult {
  const failure = new StepFailure(
    'OutcomeUnknown',
    'the item was about to be worked on when the work broke off; it is not known whether its call was carried out',
  );
  const step = node.body[0]?.id ?? node.id;
  const path = `${frame.at}${iterationOf(node.id, index)}${step}`;
  return failedItem(index, item, stepErrorOf(failure, { step, path, index, attempts: 0 }), 0);
}
