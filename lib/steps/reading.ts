/**
 * What a task reads from the store before it works: the frame of a step that is a state of its own.
 *
 * Everything a step may read is known from the program, so it is one consistent batch of records and one of values, sent
 * side by side. Every settled step has its value in the store, except a loop, whose value is its journal.
 */
import type { Json, JsonObject } from '../blueprint/json.ts';
import type { LoopNode, StepNode } from '../compile/program.ts';
import { getItemsIndex, readItems } from '../store/items.ts';
import { readJournal, readResults } from '../store/journal.ts';
import type { ItemResult, RunRecord, StepRecord } from '../store/records.ts';
import { getSteps } from '../store/steps.ts';
import type { Store } from '../store/store.ts';
import { getValues } from '../store/values.ts';
import type { Frame, Outcome } from './frame.ts';
import { iterationOf, iterationsOf, prefixAtDepth } from './occurrence.ts';
import { containersAround, listsOf, type ProgramIndex, withDescendants } from './program-index.ts';
import { runErrors } from './run-errors.ts';
import { runObject } from './run-object.ts';

/** What is to be read, by step id. */
export interface Reads {
  /** Steps whose outcome is looked at. */
  outcomes: Set<string>;
  /** Steps whose value is read. */
  values: Set<string>;
  /** Steps whose `results.ID` is read. */
  results: Set<string>;
  /** Containers that the task is in: their time limits hold for it, and in a redrive they go on with it. */
  around: Set<string>;
  /** The loop of which the step begins an item: under `abort` a failed item keeps it from starting. */
  halts: Set<string>;
  /** True where `run.errors` is read. */
  errors: boolean;
}

/**
 * What running `node` needs to know of the steps around it. With `inner` its inner steps are run by the same task, so their
 * reads count too, and what they read of each other does not.
 */
export function readsOf(index: ProgramIndex, node: StepNode, inner: boolean): Reads {
  const own = inner ? [...withDescendants(node)] : [node];
  const inside = new Set(own.map((each) => each.id));
  if (inner) inside.delete(node.id);
  const reads: Reads = {
    outcomes: new Set(),
    values: new Set(),
    results: new Set(),
    around: new Set(),
    halts: new Set(),
    errors: own.some(({ id }) => index.errorReaders.has(id)),
  };
  for (const each of own) {
    for (const id of each.reads) if (!inside.has(id)) reads.outcomes.add(id);
    for (const id of each.uses.values) if (!inside.has(id)) reads.values.add(id);
    for (const id of each.uses.results) if (!inside.has(id)) reads.results.add(id);
  }
  const input = index.inputs.get(node.id);
  if (input?.kind === 'step') reads.values.add(input.id);
  const begun = loopBegunBy(index, node);
  if (begun !== undefined) reads.halts.add(begun.id);
  for (const { id } of containersAround(index, node)) reads.around.add(id);
  return reads;
}

export interface ReadFrame {
  frame: Frame;
  /** Epoch ms: the earliest time limit of the containers around the step. */
  deadline: number | undefined;
  /** Containers around the step that stand in an older epoch: what they say of limits and halts is over. */
  stale: StepRecord[];
  /** The loop lets no new item start. */
  halted: boolean;
}

/** Reads the frame of `prefix` (an occurrence path without the step). */
export async function readFrame(
  store: Store,
  run: RunRecord,
  index: ProgramIndex,
  prefix: string,
  node: StepNode | undefined,
  reads: Reads,
): Promise<ReadFrame> {
  // In a first epoch only those with a time limit have something to say.
  const around = [...reads.around].filter(
    (id) => run.epoch > 0 || index.program.byId.get(id)?.timeoutMs !== undefined,
  );
  const wanted = expand(index, reads, around);
  const place = (id: string): string => prefixAtDepth(prefix, index.loops.get(id)?.length ?? 0) + id;
  const records = [...wanted.records];
  const values = [...wanted.values];
  const details = [...wanted.details];
  const loops = [...wanted.loops];
  const [foundRecords, [params, ...foundValues], foundDetails, foundLoops, names, errors] = await Promise.all(
    [
      records.length === 0 ? [] : getSteps(store, run.run, records.map(place)),
      getValues(store, run.run, ['$params', ...values.map(place)]),
      details.length === 0 ? [] : getValues(store, run.run, details.map(place), 'detail'),
      Promise.all(loops.map((id) => readResults(store, run.run, place(id)))),
      node === undefined ? {} : loopNames(store, run.run, index, prefix),
      reads.errors ? runErrors(store, index, run.run).then(({ listed }) => listed) : [],
    ],
  );

  const frame: Frame = {
    index,
    at: prefix,
    base: { params: params ?? {}, run: runObject(run, errors), ...names },
    outcomes: new Map(),
  };
  let deadline: number | undefined;
  let halted = false;
  const stale: StepRecord[] = [];
  const valueById = new Map(values.map((id, i) => [id, foundValues[i]]));
  const detailById = new Map(details.map((id, i) => [id, foundDetails[i]]));
  const itemsById = new Map(loops.map((id, i) => [id, foundLoops[i] ?? []]));
  for (const [i, id] of records.entries()) {
    const record = foundRecords[i];
    if (record === undefined) continue;
    if (reads.around.has(id) && record.epoch < run.epoch && isOpenOrFailed(record)) {
      stale.push(record);
      continue;
    }
    if (reads.around.has(id) && record.deadline !== undefined)
      deadline = Math.min(deadline ?? record.deadline, record.deadline);
    if (reads.halts.has(id) && record.halt === true) halted = true;
    if (record.status === 'running') continue;
    frame.outcomes.set(id, outcomeOfRecord(record, valueById.get(id), detailById.get(id), itemsById.get(id)));
  }
  const input = node === undefined ? undefined : index.inputs.get(node.id);
  if (input !== undefined) {
    frame.base.input =
      input.kind === 'step'
        ? (frame.outcomes.get(input.id)?.value ?? null)
        : input.kind === 'pass'
          ? await passInput(store, run.run, index, input.loop, prefix)
          : null;
  }
  return { frame, deadline, stale, halted };
}

function isOpenOrFailed({ status }: StepRecord): boolean {
  return status === 'running' || status === 'failed';
}

interface Wanted {
  records: Set<string>;
  values: Set<string>;
  details: Set<string>;
  loops: Set<string>;
}

/** From what is read to what is stored; containers are added for steps that may never have run. */
function expand(index: ProgramIndex, reads: Reads, around: readonly string[]): Wanted {
  const wanted: Wanted = { records: new Set(), values: new Set(), details: new Set(), loops: new Set() };
  function record(id: string): void {
    for (
      let at = index.program.byId.get(id);
      at !== undefined && !wanted.records.has(at.id);
      at = index.parents.get(at.id)
    ) {
      wanted.records.add(at.id);
    }
  }
  function value(id: string): void {
    record(id);
    (index.program.byId.get(id)?.type === 'loop' ? wanted.loops : wanted.values).add(id);
  }
  for (const id of reads.outcomes) record(id);
  for (const id of [...around, ...reads.halts]) record(id);
  for (const id of reads.values) value(id);
  for (const id of reads.results) {
    record(id);
    const type = index.program.byId.get(id)?.type;
    if (type === 'call') wanted.details.add(id);
    if (type === 'loop') wanted.loops.add(id);
  }
  return wanted;
}

/** A record as an outcome. */
export function outcomeOfRecord(
  record: StepRecord,
  value?: Json,
  detail?: Json,
  items?: readonly ItemResult[],
): Outcome {
  if (record.status === 'running') throw new Error(`the step "${record.at}" has not ended`);
  const loop: JsonObject | undefined =
    record.type !== 'loop'
      ? undefined
      : {
          count: record.count ?? 0,
          failed: record.failed ?? 0,
          skipped: record.skipped ?? 0,
          items: (items ?? []).map(itemOf),
        };
  const succeeded = record.status === 'succeeded';
  return {
    status: record.status,
    value: !succeeded ? null : items !== undefined ? items.map((item) => item.value) : (value ?? null),
    attempts: record.attempts,
    ms: record.ms ?? 0,
    ...(record.reason === undefined ? {} : { reason: record.reason }),
    ...(record.error === undefined ? {} : { error: record.error }),
    ...(loop !== undefined ? { detail: loop } : detail === undefined ? {} : { detail: detail as JsonObject }),
  };
}

/** One entry of `results.LOOP.items`. */
export function itemOf(result: ItemResult): JsonObject {
  const { index, item, status, value, error } = result;
  return { index, item, status, value, error: error as unknown as Json };
}

/** The loops' own names (`item`, `index`) in an iteration of map loops. */
async function loopNames(
  store: Store,
  run: string,
  index: ProgramIndex,
  prefix: string,
): Promise<JsonObject> {
  const names: JsonObject = {};
  let outer = '';
  for (const { loop, index: position } of iterationsOf(prefix)) {
    const around = index.program.byId.get(loop);
    if (around === undefined || around.type !== 'loop')
      throw new Error(`"${loop}" in the path ${prefix} is no loop`);
    if (around.kind === 'over') {
      const items = await getItemsIndex(store, run, outer + loop);
      if (items === undefined) throw new Error(`the loop "${outer}${loop}" has no items`);
      const [item] = await readItems(store, items, position, position + 1);
      if (item === undefined) throw new Error(`the loop "${outer}${loop}" has no item ${position}`);
      names[around.as] = item;
    }
    names.index = position;
    outer += iterationOf(loop, position);
  }
  return names;
}

/** The `input` of a pass of a while loop of states: the value of the pass before, null at first. */
async function passInput(
  store: Store,
  run: string,
  index: ProgramIndex,
  loop: string,
  prefix: string,
): Promise<Json> {
  const depth = index.loops.get(loop)?.length ?? 0;
  const iteration = iterationsOf(prefix)[depth];
  if (iteration === undefined || iteration.index === 0) return null;
  const at = prefixAtDepth(prefix, depth) + loop;
  // A pass is a window of its own.
  const pass = { from: iteration.index - 1, to: iteration.index };
  for await (const { items } of readJournal(store, run, at, { windows: pass }))
    return items?.[0]?.value ?? null;
  return null;
}

/** The loop under `abort` whose item begins with this step. */
function loopBegunBy(index: ProgramIndex, node: StepNode): LoopNode | undefined {
  const parent = index.parents.get(node.id);
  if (parent === undefined || !listsOf(parent).some((list) => list[0] === node)) return undefined;
  if (parent.type !== 'loop') return loopBegunBy(index, parent);
  return parent.strategy.onStepFailure === 'abort' ? parent : undefined;
}
