/**
 * Step records and their leases: who may work on a step, and what came of it.
 *
 * What always holds:
 * - at most one owner has a live lease on a step, and only its owner changes the record while it runs;
 * - a result is written once an epoch: a settled record is replayed, never worked on again, except that a task of
 *   a newer epoch (a redrive) reopens one that failed or was skipped;
 * - a task of an older epoch than the record's never takes it.
 *
 * Owners are unique to a delivery. The clock of another machine may be off by a second or so; leases are 30 s, renewed
 * every 10, so a live owner keeps its step, and one that is late finds its write refused.
 */
import {
  ABSENT,
  getItem,
  getItems,
  type Item,
  putItem,
  queryAll,
  queryPage,
  recordOf,
  updateItem,
} from './item.ts';
import { runKey, stepKey } from './keys.ts';
import type { StepRecord } from './records.ts';
import type { Store } from './store.ts';
import { RUN_TTL_SECONDS, TTL_ATTRIBUTE } from './table.ts';
import { expiry } from './values.ts';

/** A write came from an owner who no longer has the step. What it wanted to write has been dropped, by design. */
export class LeaseLost extends Error {
  constructor(run: string, at: string) {
    super(`The lease of step "${at}" of run ${run} is no longer held.`);
    this.name = 'LeaseLost';
  }
}

const REQUIRED = ['run', 'at', 'step', 'status', 'epoch', 'fence'] as const;
export const stepOf = (item: Item): StepRecord => recordOf<StepRecord>(item, REQUIRED);

/** Holds while the caller's lease is the record's: nobody has taken the step over, nobody has settled it. */
const held = (owner: string) => ({
  expression: '#status = :running AND #lease.#owner = :owner',
  values: { ':running': 'running', ':owner': owner },
});

/** Extends a lease to `until` (epoch ms). False: it is lost, and whoever held it must stop. */
export async function renewLease(
  store: Store,
  run: string,
  at: string,
  owner: string,
  until: number,
): Promise<boolean> {
  const item = await updateItem(
    store,
    stepKey(run, at),
    { set: { lease: { owner, until } } },
    // An expired lease that nobody took may still be renewed: the step was never anyone else's.
    held(owner),
  );
  return item !== undefined;
}

export type StepChanges = Partial<
  Pick<
    StepRecord,
    | 'attempts'
    | 'claimed'
    | 'notBefore'
    | 'server'
    | 'tool'
    | 'count'
    | 'failed'
    | 'skipped'
    | 'error'
    | 'bytes'
    | 'deadline'
  >
>;

/**
 * Changes a running step's record under its lease; a key that is present with undefined is removed. Answers the record as
 * it is then. Throws `LeaseLost`.
 */
export async function updateStep(
  store: Store,
  record: Pick<StepRecord, 'run' | 'at'>,
  owner: string,
  changes: StepChanges,
): Promise<StepRecord> {
  const entries = Object.entries(changes);
  const item = await updateItem(
    store,
    stepKey(record.run, record.at),
    {
      set: Object.fromEntries(entries.filter(([, value]) => value !== undefined)),
      remove: entries.filter(([, value]) => value === undefined).map(([name]) => name),
    },
    held(owner),
  );
  if (item === undefined) throw new LeaseLost(record.run, record.at);
  return stepOf(item);
}

/**
 * Says, before anything is sent, that a call is about to be made which may not be repeated. Whoever finds the mark on
 * a step that it takes over does not know whether the call was made. Throws `LeaseLost`: then nothing may be sent.
 */
export async function markClaimed(
  store: Store,
  record: Pick<StepRecord, 'run' | 'at'>,
  owner: string,
  changes: StepChanges = {},
): Promise<StepRecord> {
  return updateStep(store, record, owner, { ...changes, claimed: true, notBefore: undefined });
}

/**
 * Lets go of a running step in order, before the task answers `more` or `wait`: the next delivery goes on with it at once.
 * Throws `LeaseLost`.
 */
export async function releaseStep(
  store: Store,
  record: Pick<StepRecord, 'run' | 'at'>,
  owner: string,
  changes: StepChanges = {},
): Promise<void> {
  const entries = Object.entries(changes);
  const item = await updateItem(
    store,
    stepKey(record.run, record.at),
    {
      set: Object.fromEntries(entries.filter(([, value]) => value !== undefined)),
      remove: ['lease', ...entries.filter(([, value]) => value === undefined).map(([name]) => name)],
    },
    held(owner),
  );
  if (item !== undefined) return;
  // The SDK repeats a write whose answer was lost: without a lease and with our changes it was ours.
  const current = await getStep(store, record.run, record.at);
  if (current?.status === 'running' && current.lease === undefined) return;
  throw new LeaseLost(record.run, record.at);
}

/**
 * Writes how a step ended: `record.status` is succeeded, failed or skipped. Its value must have been put before, under
 * `record.fence`. Throws `LeaseLost`, and then the result of whoever has the step now counts.
 */
export async function settleStep(store: Store, record: StepRecord, owner: string): Promise<StepRecord> {
  if (record.status === 'running') throw new Error(`Step "${record.at}" cannot be settled as running.`);
  const key = stepKey(record.run, record.at);
  const {
    run: _run,
    at: _at,
    lease: _lease,
    claimed: _claimed,
    notBefore: _notBefore,
    fence,
    halt: _halt,
    ...rest
  } = record;
  const item = await updateItem(
    store,
    key,
    {
      set: { ...rest, settledBy: owner },
      // The error of an attempt that was followed by a better one is no error of the step.
      remove: ['lease', 'claimed', 'notBefore', ...(rest.error === undefined ? ['error'] : [])],
    },
    // The lease is still the caller's: a late writer (expired and taken over, or settled by another) changes nothing.
    {
      expression: '#status = :running AND #lease.#owner = :owner AND #fence = :fence',
      values: { ':running': 'running', ':owner': owner, ':fence': fence },
    },
  );
  if (item !== undefined) return stepOf(item);
  const current = await getStep(store, record.run, record.at);
  // The SDK repeats a write whose answer was lost; the owner is unique to the delivery, so this is our own result.
  if (current?.settledBy === owner && current.fence === fence) return current;
  throw new LeaseLost(record.run, record.at);
}

/**
 * Sets a loop's stop flag, whoever has its lease: a lane may, for the loop that it walks. No effect once settled, nor in an
 * epoch after `epoch`.
 */
export async function haltStep(store: Store, run: string, at: string, epoch: number): Promise<void> {
  await updateItem(
    store,
    stepKey(run, at),
    { set: { halt: true } },
    // A flag on a settled loop would meet its next epoch, and one of a late task a loop that runs anew.
    {
      expression: '#status = :running AND #epoch <= :epoch',
      values: { ':running': 'running', ':epoch': epoch },
    },
  );
}

/**
 * Records that a container of states has failed, which nobody works on: its steps run, and one of them has ended it. It may
 * never have been entered. No effect on one that has ended, or that a newer epoch has.
 */
export async function failContainer(store: Store, failed: Omit<StepRecord, 'fence'>): Promise<void> {
  const key = stepKey(failed.run, failed.at);
  const item = { ...key, ...failed, fence: 1, [TTL_ATTRIBUTE]: expiry(RUN_TTL_SECONDS) };
  if (await putItem(store, item, ABSENT)) return;
  const { status, epoch, endedAt, error } = failed;
  const current = await getStep(store, failed.run, failed.at);
  const ms = current === undefined ? undefined : Date.parse(endedAt ?? '') - Date.parse(current.startedAt);
  await updateItem(
    store,
    key,
    { set: { status, epoch, endedAt, ms, error }, remove: ['lease', 'halt'], add: { fence: 1 } },
    {
      expression: '#status = :running AND #epoch <= :epoch',
      values: { ':running': 'running', ':epoch': epoch },
    },
  );
}

/**
 * Lets a container go on in a newer epoch: a redrive came back to a step inside it, past its own beginning. Its time starts
 * anew, and what stopped it no longer does. Answers the record as it stands; the first task of the epoch changes it.
 */
export async function reopenContainer(
  store: Store,
  { run, at }: Pick<StepRecord, 'run' | 'at'>,
  epoch: number,
  deadline: number | undefined,
): Promise<StepRecord | undefined> {
  const item = await updateItem(
    store,
    stepKey(run, at),
    {
      set: { status: 'running', epoch, deadline },
      remove: [
        'lease',
        'halt',
        'endedAt',
        'ms',
        'error',
        'settledBy',
        ...(deadline === undefined ? ['deadline'] : []),
      ],
      add: { fence: 1 },
    },
    {
      expression: '#epoch < :epoch AND #status IN (:running, :failed)',
      values: { ':epoch': epoch, ':running': 'running', ':failed': 'failed' },
    },
  );
  return item === undefined ? getStep(store, run, at) : stepOf(item);
}

export async function getStep(store: Store, run: string, at: string): Promise<StepRecord | undefined> {
  const item = await getItem(store, stepKey(run, at));
  return item === undefined ? undefined : stepOf(item);
}

/** Reads many steps in one consistent batch, in the order of `ats`; undefined where a step has not been entered. */
export async function getSteps(
  store: Store,
  run: string,
  ats: readonly string[],
): Promise<(StepRecord | undefined)[]> {
  const items = await getItems(
    store,
    ats.map((at) => stepKey(run, at)),
  );
  return items.map((item) => (item === undefined ? undefined : stepOf(item)));
}

/** One page of a run's steps in the order of their paths. `cursor` is the path to go on after. */
export async function listSteps(
  store: Store,
  run: string,
  options: { cursor?: string; limit?: number; prefix?: string } = {},
): Promise<{ steps: StepRecord[]; cursor?: string }> {
  const { cursor, limit = 100, prefix = '' } = options;
  const page = await queryPage(store, {
    pk: runKey(run).pk,
    prefix: `STEP#${prefix}`,
    limit,
    ...(cursor === undefined ? {} : { after: { ...stepKey(run, cursor) } }),
  });
  const records = page.items.map(stepOf);
  const last = records.at(-1);
  return {
    steps: records.filter((record) => !record.at.includes('#')),
    ...(page.next === undefined || last === undefined ? {} : { cursor: last.at }),
  };
}

/** Every step of a run. */
export async function allSteps(store: Store, run: string): Promise<StepRecord[]> {
  const items = await queryAll(store, { pk: runKey(run).pk, prefix: 'STEP#' });
  return items.map(stepOf).filter((record) => !record.at.includes('#'));
}
