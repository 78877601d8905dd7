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
import { type JournalWindow, readJournal, takeWindow } from '../../store/journal.ts';
import type { ItemResult, JournalItem, WindowRecord } from '../../store/records.ts';
import { LeaseLost } from '../../store/steps.ts';
import { stepErrorOf } from '../failure.ts';
import type { Frame } from '../frame.ts';
import { iterationOf } from '../occurrence.ts';
import { failedItem, type Progress, progressAfter } from '../walk/progress.ts';
import type { Work } from '../work.ts';
import { type Partial, progressOf, readPartial } from './partial.ts';
import { bodyMayRepeat, mayRunAnew } from './repeat.ts';

/** A window to be worked on: what it has already, and which of its items are to be run. */
export interface OpenWindow {
  record: WindowRecord;
  results: JournalItem[];
  /** Items to run, in order. */
  todo: number[];
  resumes: Map<number, Progress>;
}

/** Where the items go on that have no window yet. */
export interface JournalEnd {
  next: number;
  nextWindow: number;
}

export interface Recovered extends JournalEnd {
  /** Windows to work on first. */
  windows: OpenWindow[];
}

export interface RecoverRequest {
  at: string;
  /** The journal's windows from here on are another lane's. */
  endWindow: number;
  /** Where the last task left its unfinished windows. */
  partialAt: string;
  itemAt(index: number): Json;
  /** Told of every result that stands. */
  onKept(result: ItemResult): void;
}

/**
 * Reads the journal from `start` on and takes over what is nobody's any more. An owner from before may still be at work and
 * change a window under it, which is then decided anew. Throws LeaseLost.
 */
export async function recover(
  work: Work,
  node: LoopNode,
  frame: Frame,
  request: RecoverRequest,
  start: JournalEnd,
): Promise<Recovered> {
  const { store } = work.env;
  const { run } = work.run;
  const recovered: Recovered = { windows: [], ...start };
  const partial = await readPartial(store, run, request.partialAt);
  const windows = { from: start.nextWindow, to: request.endWindow };
  for await (const found of readJournal(store, run, request.at, { windows })) {
    const open = await recoverWindow(work, node, frame, request, found, partial);
    const { record, results } = open;
    recovered.next = Math.max(recovered.next, record.to);
    recovered.nextWindow = Math.max(recovered.nextWindow, record.window + 1);
    for (const result of results) request.onKept(result);
    if (record.state === 'claimed') recovered.windows.push(open);
  }
  return recovered;
}

/** Times that a window is decided anew because it changed: an owner from before can finish it once. */
const DECISIONS = 3;

/** The window as it stands: this task's own, or done with nothing to do in it. */
async function recoverWindow(
  work: Work,
  node: LoopNode,
  frame: Frame,
  request: RecoverRequest,
  first: JournalWindow,
  partial: Partial | undefined,
): Promise<OpenWindow> {
  const { env, owner, epoch } = work;
  let found: JournalWindow | undefined = first;
  for (let decision = 0; found !== undefined && decision < DECISIONS; decision += 1) {
    const open = await decide(work, node, frame, request, found, partial);
    if (open.record.state === 'done' && open.todo.length === 0) return open;
    await work.hold();
    const record = await takeWindow(env.store, open.record, owner, epoch);
    if (record !== undefined) return { ...open, record };
    const { window } = open.record;
    found = undefined;
    for await (const again of readJournal(env.store, work.run.run, request.at, {
      windows: { from: window, to: window + 1 },
    })) {
      found = again;
    }
  }
  throw new LeaseLost(work.run.run, request.at);
}

/** What is to be done of a window, by what is known of it. */
async function decide(
  work: Work,
  node: LoopNode,
  frame: Frame,
  request: RecoverRequest,
  { window, items = [] }: JournalWindow,
  partial: Partial | undefined,
): Promise<OpenWindow> {
  const results: JournalItem[] = [];
  const todo: number[] = [];
  const resumes = new Map<number, Progress>();
  // Of a window that was let go of in order it is known what was sent.
  const left =
    partial?.owner === window.owner
      ? partial.windows.find((each) => each.window === window.window)
      : undefined;
  const known = window.state === 'done' || left !== undefined;
  const mayRepeat = known || (await bodyMayRepeat(work, node));
  const written = new Map([...items, ...(left?.done ?? [])].map((result) => [result.index, result]));
  const suspended = new Map(left?.suspended.map((item) => [item.index, item]));
  for (let index = window.from; index < window.to; index += 1) {
    const result = written.get(index);
    const halfway = suspended.get(index);
    // In a window that was claimed anew, a failed item may have been sent again before the work broke off.
    const settled = result !== undefined && (result.status !== 'failed' || known);
    const again = result?.status === 'failed' && window.epoch < work.epoch && mayRunAnew(node, work, result);
    if (settled && !again) results.push(result);
    else if (known || mayRepeat) {
      todo.push(index);
      if (halfway !== undefined) resumes.set(index, progressOf(halfway));
      else if (result?.made !== undefined) resumes.set(index, progressAfter(result.made));
    } else results.push(unknownItem(node, frame, index, request.itemAt(index)));
  }
  return { record: window, results, todo, resumes };
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
