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

export interface OpenStepRequest {
  run: string;
  /** Path of the occurrence. One with a `#` in it is the engine's own (a lane): `listSteps` leaves it out. */
  at: string;
  step: string;
  type: StepRecord['type'];
  /** Unique to this delivery of the task. */
  owner: string;
  epoch: number;
  leaseMs: number;
  /** Epoch ms. */
  now: number;
  /** Epoch ms: the step's time limit, kept from its first entry on (and set anew when it is reopened). */
  deadline?: number;
  /** True where this owner is known to be dead, so that its lease is void at once. Default: only time voids. */
  isDeadOwner?: (owner: string) => boolean;
  /**
   * Whether a record that failed or was skipped in an older epoch is run anew. Default: yes. The engine answers no
   * for `OutcomeUnknown` without a hint that the call may be repeated.
   */
  mayReopen?: (record: StepRecord) => boolean;
}

/**
 * `record` is the record as it stands now, under the caller's lease where it has one; `previous` as it was before.
 *
 * - `claimed`: the caller has it. With `resumed` it was let go of in order (`more`, `wait`) and goes on.
 * - `recorded`: it is settled; replay it.
 * - `busy`: another owner has a live lease, or a newer epoch has the step.
 * - `taken`: the caller has it; the owner before vanished with its lease, and what it had `claimed` is unknown.
 * - `reopened`: the caller has it; it failed or was skipped in an older epoch and runs anew.
 */
export type OpenedStep =
  | { outcome: 'claimed'; record: StepRecord; resumed: boolean }
  | { outcome: 'recorded'; record: StepRecord }
  | { outcome: 'busy'; record: StepRecord }
  | { outcome: 'taken'; record: StepRecord; previous: StepRecord }
  | { outcome: 'reopened'; record: StepRecord; previous: StepRecord };

/** A write came from an owner who no longer has the step. What it wanted to write has been dropped, by design. */
export class LeaseLost extends Error {
  constructor(run: string, at: string) {
    super(`The lease of step "${at}" of run ${run} is no longer held.`);
    this.name = 'LeaseLost';
  }
}

const REQUIRED = ['run', 'at', 'step', 'status', 'epoch', 'fence'] as const;
const stepOf = (item: Item): StepRecord => recordOf<StepRecord>(item, REQUIRED);

/** Times a decision is made anew because the record changed under it; past it the step counts as busy. */
const DECISIONS = 5;

/** Opens a step for the caller; see `OpenedStep`. One write where the step is new, a read and a write otherwise. */
export async function openStep(store: Store, request: OpenStepRequest): Promise<OpenedStep> {
  const { run, at, owner, epoch, now } = request;
  const fresh: StepRecord = {
    run,
    at,
    step: request.step,
    type: request.type,
    status: 'running',
    epoch,
    lease: { owner, until: now + request.leaseMs },
    attempts: 0,
    startedAt: new Date(now).toISOString(),
    fence: 1,
    ...(request.deadline === undefined ? {} : { deadline: request.deadline }),
  };
  const item = { ...stepKey(run, at), ...fresh, [TTL_ATTRIBUTE]: expiry(RUN_TTL_SECONDS) };
  // No record yet: of two deliveries that arrive together exactly one makes it.
  if (await putItem(store, item, ABSENT)) return { outcome: 'claimed', record: fresh, resumed: false };

  let before: StepRecord | undefined;
  for (let decision = 0; ; decision += 1) {
    const current = await getItem(store, stepKey(run, at));
    // Only the TTL deletes records, 90 days after the run; a delivery of such a run must not start it again.
    if (current === undefined) throw new Error(`The record of step "${at}" of run ${run} is gone.`);
    const record = stepOf(current);
    // The SDK repeats a write whose answer was lost, and the repetition fails: the record says that we have the step, and
    // what it was before says how we came by it.
    if (record.status === 'running' && record.lease?.owner === owner) return opening(before, record);
    const opened = await decide(store, request, record);
    if (opened !== undefined) return opened;
    if (decision === DECISIONS) return { outcome: 'busy', record };
    before = record;
  }
}

/** How the caller got the step: from what the record was before, undefined where there was none. */
function opening(previous: StepRecord | undefined, record: StepRecord): OpenedStep {
  if (previous === undefined) return { outcome: 'claimed', record, resumed: false };
  if (previous.status !== 'running') return { outcome: 'reopened', record, previous };
  if (previous.lease === undefined) return { outcome: 'claimed', record, resumed: true };
  return { outcome: 'taken', record, previous };
}

/** One decision on a record as it was read; undefined where it changed before the decision could be written. */
async function decide(
  store: Store,
  request: OpenStepRequest,
  previous: StepRecord,
): Promise<OpenedStep | undefined> {
  const { owner, epoch, now, isDeadOwner, mayReopen } = request;
  const lease = { owner, until: now + request.leaseMs };

  if (previous.status !== 'running') {
    const again = previous.status === 'failed' || previous.status === 'skipped';
    if (!again || previous.epoch >= epoch || mayReopen?.(previous) === false) {
      return { outcome: 'recorded', record: previous };
    }
    const item = await updateItem(
      store,
      stepKey(request.run, request.at),
      {
        set: {
          status: 'running',
          epoch,
          lease,
          attempts: 0,
          startedAt: new Date(now).toISOString(),
          deadline: request.deadline,
        },
        remove: [
          'endedAt',
          'ms',
          'error',
          'reason',
          'claimed',
          'notBefore',
          'halt',
          'settledBy',
          'bytes',
          'failed',
          'skipped',
          ...(request.deadline === undefined ? ['deadline'] : []),
        ],
        add: { fence: 1 },
      },
      // Still the settled record that was read: of two deliveries of the new epoch one reopens it, and a record that was
      // reopened and settled in between has another epoch.
      {
        expression: '#status = :status AND #epoch = :epoch AND #fence = :fence',
        values: { ':status': previous.status, ':epoch': previous.epoch, ':fence': previous.fence },
      },
    );
    return item === undefined ? undefined : opening(previous, stepOf(item));
  }

  // A newer epoch has the step: this delivery belongs to an execution's past.
  if (previous.epoch > epoch) return { outcome: 'busy', record: previous };
  const live = previous.lease !== undefined && previous.lease.until > now;
  if (live && isDeadOwner?.(previous.lease?.owner ?? '') !== true)
    return { outcome: 'busy', record: previous };

  const item = await updateItem(
    store,
    stepKey(request.run, request.at),
    // In a newer epoch the step's time starts anew, and what stopped it in the older one no longer does.
    epoch > previous.epoch
      ? {
          set: { epoch, lease, deadline: request.deadline },
          remove: ['halt', 'notBefore', ...(request.deadline === undefined ? ['deadline'] : [])],
          add: { fence: 1 },
        }
      : { set: { lease }, add: { fence: 1 } },
    previous.lease === undefined
      ? // Let go of in order: the first who comes goes on with it.
        {
          expression: '#status = :running AND attribute_not_exists(#lease) AND #fence = :fence',
          values: { ':running': 'running', ':fence': previous.fence },
        }
      : // The very lease that was seen to be over: one renewed in between, or taken over by another, stands.
        {
          expression:
            '#status = :running AND #lease.#owner = :owner AND #lease.#until = :until AND #fence = :fence',
          values: {
            ':running': 'running',
            ':owner': previous.lease.owner,
            ':until': previous.lease.until,
            ':fence': previous.fence,
          },
        },
  );
  return item === undefined ? undefined : opening(previous, stepOf(item));
}

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
      set: { ...rest, settledBy: owner }, // The error of an attempt that was followed by a better one is no error of the step.
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

/** Sets a loop's stop flag, whoever has its lease: a lane may, for the loop that it walks. No effect once settled. */
export async function haltStep(store: Store, run: string, at: string): Promise<void> {
  await updateItem(
    store,
    stepKey(run, at),
    { set: { halt: true } },
    // A flag on a settled loop would meet its next epoch.
    { expression: '#status = :running', values: { ':running': 'running' } },
  );
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
