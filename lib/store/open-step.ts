/**
 * Opening a step: who gets to work on it, and in which standing. The rules are those of `lib/store/steps.ts`; each write
 * here is conditional on the very record that the decision was made on, and is decided anew where that has changed.
 */
import { ABSENT, getItem, putItem, updateItem } from './item.ts';
import { stepKey } from './keys.ts';
import type { StepRecord } from './records.ts';
import { stepOf } from './steps.ts';
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
      : // The very lease that was seen to be over: one renewed in between, or taken over by another, stands. And the very
        // claim: an owner that is late may announce a call until it loses the step, and whoever takes it must know.
        {
          expression:
            `#status = :running AND #lease.#owner = :owner AND #lease.#until = :until AND #fence = :fence ` +
            `AND #attempts = :attempts AND ${previous.claimed === true ? '#claimed = :true' : 'attribute_not_exists(#claimed)'}`,
          values: {
            ':running': 'running',
            ':owner': previous.lease.owner,
            ':until': previous.lease.until,
            ':fence': previous.fence,
            ':attempts': previous.attempts,
            ...(previous.claimed === true ? { ':true': true } : {}),
          },
        },
  );
  return item === undefined ? undefined : opening(previous, stepOf(item));
}
