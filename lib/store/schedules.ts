/**
 * Records of schedules, and who has how many. EventBridge Scheduler knows when a schedule fires; the record knows with which
 * parameters and whose authority, and how its runs ended.
 *
 * What always holds: a record is written on the very version of it that was read (`version`), so two writers never lose each
 * other's change; a principal's places are one item, so that its limit holds however many schedule at once.
 */
import { createHash } from 'node:crypto';
import { canonicalJson } from '../blueprint/canonical.ts';
import type { Json } from '../blueprint/json.ts';
import { type Condition, getItem, type Item, putItem, queryAll, recordOf } from './item.ts';
import { scheduleKey, schedulePlacesKey } from './keys.ts';
import type { ScheduleRecord } from './records.ts';
import type { Store } from './store.ts';
import { RUN_TTL_SECONDS, TTL_ATTRIBUTE } from './table.ts';
import { expiry } from './values.ts';

/** A name as a caller gives it. */
export const SCHEDULE_NAME = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/;
/** Items of DynamoDB hold 400 KB; parameters of a schedule are an argument list and no data set. */
export const MAX_SCHEDULE_PARAMS_BYTES = 64 * 1024;

const READABLE_WORKFLOW = 30;
const READABLE_NAME = 21;

const scheduleOf = (item: Item): ScheduleRecord =>
  recordOf<ScheduleRecord>(item, ['workflow', 'name', 'awsName', 'expression', 'principal', 'version']);

/**
 * Name of a schedule in its group: the same for the same workflow and name, at most 64 of `[0-9a-zA-Z-_.]` (EventBridge
 * Scheduler API reference, CreateSchedule). It begins so that people know it again; the hash tells apart what was cut.
 */
export function awsScheduleName(workflow: string, name: string): string {
  const hash = createHash('sha256').update(`${workflow}\n${name}`).digest('hex').slice(0, 10);
  return `${workflow.slice(0, READABLE_WORKFLOW)}.${name.slice(0, READABLE_NAME)}.${hash}`;
}

/** Reads a schedule's record, consistently; a deleted one has `deletedAt`. */
export async function getScheduleRecord(
  store: Store,
  workflow: string,
  awsName: string,
): Promise<ScheduleRecord | undefined> {
  const item = await getItem(store, scheduleKey(workflow, awsName));
  return item === undefined ? undefined : scheduleOf(item);
}

/** All schedules of a workflow that are not deleted, by name, consistently: there are few. */
export async function listScheduleRecords(store: Store, workflow: string): Promise<ScheduleRecord[]> {
  const { pk } = scheduleKey(workflow, '');
  const records = (await queryAll(store, { pk, prefix: 'SCHEDULE#' })).map(scheduleOf);
  return records
    .filter((record) => record.deletedAt === undefined)
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

/**
 * Writes a record in the place of the one that was read (`before`; undefined: there was none). Answers it as written;
 * undefined: somebody else has changed it since, look again.
 */
export async function putScheduleRecord(
  store: Store,
  record: Omit<ScheduleRecord, 'version'>,
  before: ScheduleRecord | undefined,
): Promise<ScheduleRecord | undefined> {
  const next: ScheduleRecord = { ...record, version: (before?.version ?? 0) + 1 };
  const key = scheduleKey(next.workflow, next.awsName);
  const ttl = next.deletedAt === undefined ? {} : { [TTL_ATTRIBUTE]: expiry(RUN_TTL_SECONDS) };
  if (await putItem(store, { ...key, ...next, ...ttl }, asRead(before?.version))) return next;
  // The SDK repeats a write whose answer was lost: what stands there may be this very record.
  const current = await getScheduleRecord(store, next.workflow, next.awsName);
  return current !== undefined && textOf(current) === textOf(next) ? next : undefined;
}

/**
 * Makes a tombstone of a record as it was read; it goes with the time to live of the runs it started. False: it has been
 * changed since.
 */
export async function deleteScheduleRecord(
  store: Store,
  record: ScheduleRecord,
  deletedAt: string,
): Promise<boolean> {
  const gone = { ...record, enabled: false, params: '{}', failures: [], updatedAt: deletedAt, deletedAt };
  return (await putScheduleRecord(store, gone, record)) !== undefined;
}

/** The item has not been written since it was read. */
function asRead(version: number | undefined): Condition {
  return version === undefined
    ? { expression: 'attribute_not_exists(#pk)' }
    : { expression: '#version = :version', values: { ':version': version } };
}

function textOf(record: ScheduleRecord): string {
  return canonicalJson(record as unknown as Json);
}

/** A schedule as a principal's places name it. */
export interface SchedulePlace {
  workflow: string;
  awsName: string;
}

interface Places {
  places: SchedulePlace[];
  version: number;
}

async function readPlaces(store: Store, principal: string): Promise<Places | undefined> {
  const item = await getItem(store, schedulePlacesKey(principal));
  return item === undefined ? undefined : recordOf<Places>(item, ['places', 'version']);
}

const same = (a: SchedulePlace, b: SchedulePlace): boolean =>
  a.workflow === b.workflow && a.awsName === b.awsName;

/** Times a change is made anew because the item changed under it. */
const TRIES = 10;

/** Changes a principal's places; `change` answers undefined to leave them. @returns what they are then. */
async function changePlaces(
  store: Store,
  principal: string,
  change: (places: readonly SchedulePlace[]) => SchedulePlace[] | undefined,
): Promise<readonly SchedulePlace[]> {
  for (let tries = 0; ; tries += 1) {
    const before = await readPlaces(store, principal);
    const places = change(before?.places ?? []);
    if (places === undefined) return before?.places ?? [];
    const next: Places = { places, version: (before?.version ?? 0) + 1 };
    const item = { ...schedulePlacesKey(principal), ...next };
    if (await putItem(store, item, asRead(before?.version))) return places;
    if (tries === TRIES) throw new Error('The places of a principal change faster than they can be written.');
  }
}

/**
 * Takes a place for a schedule, which may have it already. Undefined: it has one now. Else all places are taken, by these;
 * some of them may be of schedules that are gone, which is for the caller to see to (`freePlaces`).
 */
export async function takePlace(
  store: Store,
  principal: string,
  place: SchedulePlace,
  limit: number,
): Promise<readonly SchedulePlace[] | undefined> {
  const places = await changePlaces(store, principal, (taken) =>
    taken.some((each) => same(each, place)) || taken.length >= limit ? undefined : [...taken, place],
  );
  return places.some((each) => same(each, place)) ? undefined : places;
}

/** Gives places back. */
export async function freePlaces(
  store: Store,
  principal: string,
  gone: readonly SchedulePlace[],
): Promise<void> {
  await changePlaces(store, principal, (taken) => {
    const left = taken.filter((each) => !gone.some((place) => same(each, place)));
    return left.length === taken.length ? undefined : left;
  });
}
