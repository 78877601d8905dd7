/**
 * `settle`: the end of a container of states. How it ended follows from the records of what is inside (container.ts); a loop's
 * items are gathered into its journal.
 *
 * After a redrive it sends the machine back (`again`) where a part failed in an older epoch and may run anew, instead of
 * failing by what it finds.
 */

import { StepFailure } from '../../blueprint/errors.ts';
import type { CollectNode, LoopNode, ParallelNode, PipeNode, StepNode } from '../../compile/program.ts';
import type { SettleTask, TaskAnswer } from '../../compile/protocol.ts';
import { getItemsIndex, readItems } from '../../store/items.ts';
import { readResults } from '../../store/journal.ts';
import type { ItemResult, StepRecord } from '../../store/records.ts';
import { getSteps } from '../../store/steps.ts';
import { getValues } from '../../store/values.ts';
import { containerOutcome, listOutcome, shaped } from '../container.ts';
import { planOf } from '../entry.ts';
import type { StepsEnvironment } from '../environment.ts';
import { type Frame, skippedBy, skippedOutcome } from '../frame.ts';
import { laneAt, laneCount } from '../loop/lanes.ts';
import { countItem, countResults, newCounts } from '../loop/outcome.ts';
import { writeResults } from '../loop/write-results.ts';
import { iterationOf } from '../occurrence.ts';
import { nodeOf, type OpenedTask, openTask } from '../open-task.ts';
import { lastOf, listsOf } from '../program-index.ts';
import { outcomeOfRecord } from '../reading.ts';
import { failedOutcome, HALTED, onStep, type StepEnd, type StepWork } from '../step-work.ts';
import { failedItem, itemFrame } from '../walk/progress.ts';
import { endLoop } from './loop.ts';
import { endedByLimit, timeIsUp } from './time-limit.ts';

const AGAIN: StepEnd = { kind: 'released', answer: { status: 'again', ms: 0 } };

export async function settle(task: SettleTask, env: StepsEnvironment): Promise<TaskAnswer> {
  const opened = await openTask(task, env);
  const node = nodeOf(opened.loaded, task.step);
  if (node.type === 'call') throw new Error(`the step "${node.id}" is no container`);
  const plan = planOf(opened, node);
  if (node.type !== 'loop') {
    for (const list of listsOf(node)) addValues(plan.reads.values, node, list);
    plan.hasBegun = async () => (await innerRecords(opened, node, task.at)).some(hasRun);
  }
  return onStep(task, opened, node, plan, (step) => {
    if (node.type !== 'loop') return settleContainer(step, node);
    return node.mode === 'map' ? settleMap(step, node) : settleLanes(step, node);
  });
}

function innerRecords({ env, run }: OpenedTask, node: StepNode, prefix: string) {
  const inner = listsOf(node).flat();
  return getSteps(
    env.store,
    run.run,
    inner.map(({ id }) => prefix + id),
  );
}

function hasRun(record: StepRecord | undefined): boolean {
  return record !== undefined && !wasHalted(record);
}

/** It would have begun an item of a loop that had halted before. */
function wasHalted(record: StepRecord | undefined): boolean {
  return record?.reason === HALTED;
}

/** The values that the container's own is made of. */
function addValues(values: Set<string>, node: StepNode, list: readonly StepNode[]): void {
  const wanted = node.type === 'collect' ? list : [lastOf(list)];
  for (const each of wanted) values.add(each.id);
}

async function settleContainer(
  step: StepWork,
  node: ParallelNode | PipeNode | CollectNode,
): Promise<StepEnd> {
  const { frame, work } = step;
  const inner = listsOf(node).flat();
  const records = await getSteps(
    work.env.store,
    work.run.run,
    inner.map(({ id }) => frame.at + id),
  );
  // Behind a skipped step of a pipe: without an entry of its own only the steps inside have met that.
  const reason = skippedBy(frame, node);
  if (reason !== undefined) return { kind: 'ended', outcome: skippedOutcome(reason) };
  for (const [i, record] of records.entries()) {
    const id = inner[i]?.id;
    if (id === undefined || record === undefined || record.status === 'running' || frame.outcomes.has(id))
      continue;
    frame.outcomes.set(id, outcomeOfRecord(record));
  }
  try {
    if (records.some((record) => endedByLimit(step, record?.error))) throw timeIsUp(node);
    const outcome = containerOutcome(frame, node);
    if (
      outcome.status === 'failed' &&
      node.type === 'parallel' &&
      records.some((record) => isStale(step, record))
    )
      return AGAIN;
    // A part of it was not let begin any more: what it comes to is not known before a redrive.
    if (outcome.status !== 'failed' && records.some(wasHalted)) {
      return { kind: 'ended', outcome: skippedOutcome(HALTED) };
    }
    const attempts = records.reduce((sum, record) => sum + (record?.attempts ?? 0), 0);
    return { kind: 'ended', outcome: { ...shaped(frame, node, outcome), attempts } };
  } catch (error) {
    return { kind: 'ended', outcome: failedOutcome(node, frame.at, error) };
  }
}

/** A failure of an older epoch that a redrive runs anew. */
export function isStale({ work }: StepWork, record: StepRecord | undefined): boolean {
  if (record === undefined || record.epoch >= work.epoch) return false;
  if (record.status === 'skipped') return record.reason !== 'when';
  if (record.status !== 'failed') return false;
  if (record.error?.kind !== 'OutcomeUnknown') return true;
  const failed = work.index.program.byId.get(record.error.step);
  return failed?.type === 'call' && failed.call === 'tool' && failed.retryUnknown;
}

async function settleLanes(step: StepWork, node: LoopNode): Promise<StepEnd> {
  const { record, work } = step;
  const { store } = work.env;
  const lanes = Array.from({ length: laneCount(node.concurrency) }, (_, lane) => laneAt(record.at, lane));
  const records = await getSteps(store, record.run, lanes);
  const counts = await countResults(store, record.run, record.at);
  const unfinished = records.some((lane) => lane === undefined || lane.status !== 'succeeded');
  if (unfinished && records.some((lane) => isStale(step, lane))) return AGAIN;
  const stopped = records.find((lane) => lane?.status === 'failed' && lane.error?.step === node.id)?.error;
  // A lane that the platform lost is no item's failure: the items that it left are not done.
  const lost = counts.firstError === undefined && stopped === undefined && unfinished;
  const failure =
    stopped !== undefined
      ? new StepFailure(stopped.kind, stopped.message, stopped)
      : lost
        ? new StepFailure('Cancelled', `step "${node.id}": not every lane of the loop came to its end`)
        : undefined;
  return endLoop(step, node, counts, failure);
}

/** Items whose steps are read side by side. */
const ITEMS_AT_ONCE = 200;

async function settleMap(step: StepWork, node: LoopNode): Promise<StepEnd> {
  const { frame, record, work } = step;
  const { store } = work.env;
  const list = await getItemsIndex(store, record.run, record.at);
  if (list === undefined) throw new Error(`the loop "${record.at}" has no items`);
  const items = await readItems(store, list);
  const results: ItemResult[] = [];
  let stale = false;
  for (let from = 0; from < list.count; from += ITEMS_AT_ONCE) {
    const part = Array.from({ length: Math.min(ITEMS_AT_ONCE, list.count - from) }, (_, i) => from + i);
    const read = await readIterations(step, node, part);
    for (const [i, { records, value }] of read.entries()) {
      const index = from + i;
      if (records.some((each) => isStale(step, each))) stale = true;
      const result = iterationResult(frame, node, index, items[index] ?? null, records, value);
      if (result !== undefined) results.push(result);
    }
  }
  const counts = newCounts();
  for (const result of results) countItem(counts, result);
  const missing = results.length < list.count;
  const fails = node.strategy.onStepFailure === 'abort' && (counts.failed > 0 || missing);
  if (fails && (stale || (missing && step.opened.outcome === 'reopened'))) return AGAIN;
  await writeResults(work, record.at, list.count, results);
  const lost = missing && counts.failed === 0;
  const failure = results.some(({ error }) => endedByLimit(step, error))
    ? timeIsUp(node)
    : lost
      ? new StepFailure('Cancelled', `step "${node.id}": not every item was run`)
      : undefined;
  return endLoop(step, node, counts, failure);
}

interface Iteration {
  records: (StepRecord | undefined)[];
  value: ItemResult['value'];
}

/** The records of the body's steps in each iteration, and its last step's value. */
async function readIterations(
  { record, work, frame }: StepWork,
  node: LoopNode,
  indexes: readonly number[],
): Promise<Iteration[]> {
  const { store } = work.env;
  const prefixes = indexes.map((index) => frame.at + iterationOf(node.id, index));
  const last = lastOf(node.body);
  const [records, values] = await Promise.all([
    getSteps(
      store,
      record.run,
      prefixes.flatMap((prefix) => node.body.map(({ id }) => prefix + id)),
    ),
    last.type === 'loop'
      ? Promise.all(
          prefixes.map(async (prefix) =>
            (await readResults(store, record.run, prefix + last.id)).map(({ value }) => value),
          ),
        )
      : getValues(
          store,
          record.run,
          prefixes.map((prefix) => prefix + last.id),
        ),
  ]);
  return indexes.map((_, i) => ({
    records: records.slice(i * node.body.length, (i + 1) * node.body.length),
    value: values[i] ?? null,
  }));
}

/** How an iteration ended; undefined where it never began. */
export function iterationResult(
  outer: Frame,
  node: LoopNode,
  index: number,
  item: ItemResult['item'],
  records: readonly (StepRecord | undefined)[],
  value: ItemResult['value'],
): ItemResult | undefined {
  const frame = itemFrame(outer, node, index, { [node.as]: item });
  let attempts = 0;
  for (const [i, record] of records.entries()) {
    const id = node.body[i]?.id;
    if (id === undefined || record === undefined || record.status === 'running') continue;
    attempts += record.attempts;
    frame.outcomes.set(id, outcomeOfRecord(record, i === node.body.length - 1 ? value : null));
  }
  if (frame.outcomes.size === 0) return undefined;
  const end = listOutcome(frame, node.body, node);
  if ('error' in end) return failedItem(index, item, end.error, attempts);
  if (records.some(wasHalted)) return undefined;
  const { status } = end.last;
  return {
    index,
    item,
    status: status === 'skipped' ? 'skipped' : 'succeeded',
    value: end.last.value,
    error: null,
    attempts,
  };
}
