/**
 * Run records: one for every run, opened and closed by conditional writes.
 *
 * What always holds: a run belongs to at most one execution; it is closed once an epoch, and only a task of a newer epoch
 * reopens it; a budget is counted before its effect, so a lost answer can only count too much. The index of open runs
 * holds a run exactly while its status is STARTING or RUNNING.
 */
import { ABSENT, getItem, getItems, type Item, putItem, recordOf, updateItem } from './item.ts';
import { principalKey, runKey } from './keys.ts';
import type { RunRecord, RunStatus } from './records.ts';
import type { Store } from './store.ts';
import { INDEXES, RUN_TTL_SECONDS, TTL_ATTRIBUTE } from './table.ts';
import { expiry } from './values.ts';

const REQUIRED = ['run', 'workflow', 'status', 'epoch', 'createdAt', 'root'] as const;
const runOf = (item: Item): RunRecord => recordOf<RunRecord>(item, REQUIRED);

/**
 * What the sort keys of a principal's open runs begin with in their index; sub-runs stand at its end, for no limit counts
 * them. An id in a key holds no `#`, so none begins with another one and `#`.
 */
export function openRunsPrefix(principal: string): string {
  return `${principalKey(principal)}#`;
}

export function isOpen(status: RunStatus): boolean {
  return status === 'STARTING' || status === 'RUNNING';
}

/** Part of a condition: the run has not ended. */
const OPEN = '#status IN (:starting, :runningStatus)';
const OPEN_VALUES = { ':starting': 'STARTING', ':runningStatus': 'RUNNING' };

function openIndexKeys(record: RunRecord): Item {
  return {
    [INDEXES.open.pk]: 'OPEN',
    [INDEXES.open.sk]:
      `${record.parent === undefined ? '' : '~sub#'}${openRunsPrefix(record.principal.id)}${record.createdAt}#${record.run}`,
  };
}

/**
 * Puts the record of a new run. Where one is there already (a repeat under the same idempotency key, a second delivery of
 * ` begin`, a repeated `prepare`) it stays and is answered with `created` false; whether it is the same run is for the
 * caller to tell by `paramsHash`.
 */
export async function createRun(
  store: Store,
  record: RunRecord,
): Promise<{ created: boolean; run: RunRecord }> {
  const key = runKey(record.run);
  const created = await putItem(
    store,
    {
      ...key,
      ...record,
      [INDEXES.byTime.pk]: `RUNS#${record.workflow}`,
      [INDEXES.byTime.sk]: `${record.createdAt}#${record.run}`,
      [INDEXES.byDay.pk]: `RUNS#${record.createdAt.slice(0, 10)}`,
      [INDEXES.byDay.sk]: `${record.createdAt}#${record.run}`,
      ...(isOpen(record.status) ? openIndexKeys(record) : {}),
      [TTL_ATTRIBUTE]: expiry(RUN_TTL_SECONDS),
    },
    // One record a run id, whoever starts it and however often.
    ABSENT,
  );
  if (created) return { created, run: record };
  const run = await getRun(store, record.run);
  if (run === undefined) throw new Error(`The record of run ${record.run} is gone.`);
  return { created, run };
}

/** Reads a run's record, consistently. */
export async function getRun(store: Store, run: string): Promise<RunRecord | undefined> {
  const item = await getItem(store, runKey(run));
  return item === undefined ? undefined : runOf(item);
}

/** Reads many runs' records in one consistent batch; missing ones are left out. */
export async function getRuns(store: Store, runs: readonly string[]): Promise<RunRecord[]> {
  const items = await getItems(store, runs.map(runKey));
  return items.flatMap((item) => (item === undefined ? [] : [runOf(item)]));
}

export interface RunClaim {
  execution: string;
  /** ISO time. */
  startedAt: string;
  /** ISO time of now; default `startedAt`. */
  touchedAt?: string;
  /** Epoch ms. */
  deadline?: number;
}

/**
 * Binds a run to the execution that runs it and sets it RUNNING. Undefined: there is no such run, it has ended, or it belongs
 * to another execution. Claiming it again for the same execution changes nothing.
 */
export async function claimRun(store: Store, run: string, claim: RunClaim): Promise<RunRecord | undefined> {
  const item = await updateItem(
    store,
    runKey(run),
    {
      set: { execution: claim.execution, status: 'RUNNING', touchedAt: claim.touchedAt ?? claim.startedAt },
      setOnce: { startedAt: claim.startedAt, deadline: claim.deadline },
    },
    // Unclaimed or already this execution's, so an old input offered again by the console claims nothing; and open,
    // so a delivery of ` begin` that comes after the end does not revive the run.
    {
      expression: `${OPEN} AND (attribute_not_exists(#execution) OR #execution = :execution)`,
      values: { ...OPEN_VALUES, ':execution': claim.execution },
    },
  );
  return item === undefined ? undefined : runOf(item);
}

export interface RunEnd {
  status: Exclude<RunStatus, 'STARTING' | 'RUNNING'>;
  /** ISO time. */
  endedAt: string;
  /** Redrive count that this end belongs to; an end of an older one than the record's is dropped. */
  epoch: number;
  errorCount?: number;
  /** What ended the execution where no step's error says it. */
  failure?: { error: string; cause: string };
  /** Of a trial call: the tool that was found. */
  called?: { server: string; tool: string };
}

/**
 * Closes a run. The first end of an epoch counts. Answers the record as it stands and whether this call closed it.
 */
export async function closeRun(
  store: Store,
  run: string,
  end: RunEnd,
): Promise<{ closed: boolean; run: RunRecord | undefined }> {
  const item = await updateItem(
    store,
    runKey(run),
    {
      set: {
        status: end.status,
        endedAt: end.endedAt,
        touchedAt: end.endedAt,
        errorCount: end.errorCount,
        failure: end.failure,
        called: end.called,
      },
      remove: [INDEXES.open.pk, INDEXES.open.sk],
    },
    // Open: the first end stands (a task's own, before the status event's). Not reopened by a newer epoch: the late event
    // of a failed execution must not end its redrive.
    {
      expression: `${OPEN} AND #epoch <= :epoch`,
      values: { ...OPEN_VALUES, ':epoch': end.epoch },
    },
  );
  if (item !== undefined) return { closed: true, run: runOf(item) };
  return { closed: false, run: await getRun(store, run) };
}

export interface RunReopening {
  execution: string;
  /** The redrive count. */
  epoch: number;
  /** ISO time. */
  at: string;
  /** Epoch ms. */
  deadline?: number;
  /** For ` begin` alone, once it has found the run's id to be its execution's name: also a run that nobody claimed. */
  orUnclaimed?: boolean;
}

/** Gives an open run that has none its time limit (epoch ms). Answers the record; undefined where it has ended. */
export async function limitRun(store: Store, run: string, deadline: number): Promise<RunRecord | undefined> {
  const item = await updateItem(
    store,
    runKey(run),
    { setOnce: { deadline } },
    { expression: OPEN, values: OPEN_VALUES },
  );
  return item === undefined ? undefined : runOf(item);
}

/**
 * Opens a run again for a redrive, and clears its stop flag. The first task of the epoch does it, every other finds it done.
 * Answers the open record; undefined where the run is not this execution's, is in a newer epoch, or has ended in this one.
 */
export async function reopenRun(
  store: Store,
  run: string,
  reopening: RunReopening,
): Promise<RunRecord | undefined> {
  const before = await getRun(store, run);
  if (before === undefined) return undefined;
  const item = await updateItem(
    store,
    runKey(run),
    {
      set: {
        status: 'RUNNING',
        execution: reopening.execution,
        epoch: reopening.epoch,
        touchedAt: reopening.at,
        deadline: reopening.deadline,
        ...openIndexKeys(before),
      },
      remove: ['stop', 'endedAt', 'failure', ...(reopening.deadline === undefined ? ['deadline'] : [])],
    },
    // Only forward: of all the tasks of an epoch one reopens, and none of an older one does. A run that is still open
    // (its end was never heard of) moves on as well.
    {
      expression:
        reopening.orUnclaimed === true
          ? '(#execution = :execution OR attribute_not_exists(#execution)) AND #epoch < :epoch'
          : '#execution = :execution AND #epoch < :epoch',
      values: { ':execution': reopening.execution, ':epoch': reopening.epoch },
    },
  );
  if (item !== undefined) return runOf(item);
  const current = await getRun(store, run);
  const done =
    current?.execution === reopening.execution && current.epoch === reopening.epoch && isOpen(current.status);
  return done ? current : undefined;
}

/** Sets the flag that stops a run's tasks. Answers the record; the flag stays as first set. No effect on an ended run. */
export async function setStop(
  store: Store,
  run: string,
  stop: { at: string; by: string },
): Promise<RunRecord | undefined> {
  const item = await updateItem(
    store,
    runKey(run),
    { set: { stop } },
    // A flag on an ended run would meet the redrive's first task before it reopens the record.
    { expression: `${OPEN} AND attribute_not_exists(#stop)`, values: OPEN_VALUES },
  );
  return item === undefined ? getRun(store, run) : runOf(item);
}

/** Notes that a task of the run was heard of at `at` (ISO). Answers the record where the run is open. */
export async function touchRun(store: Store, run: string, at: string): Promise<RunRecord | undefined> {
  const item = await updateItem(
    store,
    runKey(run),
    { set: { touchedAt: at } },
    { expression: OPEN, values: OPEN_VALUES },
  );
  return item === undefined ? undefined : runOf(item);
}

export interface Budget {
  attempts?: number;
  subRuns?: number;
}

/** Counts of a root run and its descendants, or which limit they would have passed. */
export type BudgetAnswer =
  | { ok: true; attempts: number; subRuns: number }
  | { ok: false; exceeded: 'attempts' | 'subRuns'; attempts: number; subRuns: number };

/**
 * Counts what is about to be done on the root run's record. Not ok: nothing was counted and nothing may be done. Counted
 * before the effect and never given back, so a count whose answer was lost errs on the side of the limit.
 */
export async function addToBudget(
  store: Store,
  root: string,
  spend: Budget,
  limits: { attempts: number; subRuns: number },
): Promise<BudgetAnswer> {
  const { attempts = 0, subRuns = 0 } = spend;
  const item = await updateItem(
    store,
    runKey(root),
    { add: { attempts, subRuns } },
    // What would pass a limit is not counted at all; concurrent tasks cannot pass it together.
    {
      expression: 'attribute_exists(#pk) AND #attempts <= :attempts AND #subRuns <= :subRuns',
      values: { ':attempts': limits.attempts - attempts, ':subRuns': limits.subRuns - subRuns },
    },
  );
  const run = item === undefined ? await getRun(store, root) : runOf(item);
  if (run === undefined) throw new Error(`There is no record of the root run ${root}.`);
  const counts = { attempts: run.attempts, subRuns: run.subRuns };
  if (item !== undefined) return { ok: true, ...counts };
  return {
    ok: false,
    exceeded: counts.attempts > limits.attempts - attempts ? 'attempts' : 'subRuns',
    ...counts,
  };
}
