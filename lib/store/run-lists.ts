/**
 * Lists of runs, newest first. An index gives a page of keys, the records are then read consistently: a status here is
 * never older than the table's. A run that was put a moment ago may be missing (indexes follow the table).
 *
 * Runs of all workflows are walked day by day, at most 14 days a page: whoever asks further pages reaches the oldest that are kept.
 *
 * A cursor is plain text that says where to go on; whoever hands it out to a caller authenticates it.
 */
import { queryPage } from './item.ts';
import type { Principal, RunRecord, RunStatus } from './records.ts';
import { getRuns, isOpen, openRunsPrefix } from './runs.ts';
import type { Store } from './store.ts';
import { INDEXES, RUN_TTL_SECONDS } from './table.ts';

export interface RunQuery {
  /** Runs of one workflow; of all where absent. */
  workflow?: string;
  status?: RunStatus;
  /** Which of them the caller may see. Default: all. */
  accept?: (run: RunRecord) => boolean;
  cursor?: string;
  /** Default 50. */
  limit?: number;
  /** Epoch ms; days are walked from here backwards. */
  now: number;
}

export interface RunPage {
  runs: RunRecord[];
  /** Absent on the last page. A page can be short, or empty, and have one. */
  cursor?: string;
}

/** Records looked at for one page, so that a filter which nothing passes does not read the whole table. */
const EXAMINED = 500;
const PAGE = 50;
/** Days looked into for one page, so that a caller without runs does not have 90 of them read at once. */
const DAYS = 14;
const DAY_MS = 86_400_000;

/** One page of runs, newest first. */
export async function listRuns(store: Store, query: RunQuery): Promise<RunPage> {
  const { limit = 50, status, accept = () => true } = query;
  const wanted = (run: RunRecord): boolean => (status === undefined || run.status === status) && accept(run);
  const runs: RunRecord[] = [];
  let examined = 0;
  let position = start(query);
  let days = 1;
  while (position !== undefined) {
    const index = query.workflow === undefined ? INDEXES.byDay : INDEXES.byTime;
    const page = await queryPage(store, {
      index,
      pk: `RUNS#${query.workflow ?? position.day}`,
      newestFirst: true,
      limit: Math.min(PAGE, limit + 1),
      ...(position.after === undefined
        ? {}
        : { after: exclusiveStart(index, query.workflow ?? position.day, position.after) }),
    });
    for (const run of await getRuns(
      store,
      page.items.map((item) => String(item.pk).slice('RUN#'.length)),
    )) {
      const after = `${run.createdAt}#${run.run}`;
      examined += 1;
      if (wanted(run)) runs.push(run);
      position = { day: position.day, after };
      if (runs.length === limit || examined === EXAMINED) return { runs, cursor: after };
    }
    if (page.next !== undefined) {
      const key = page.next[index.sk];
      position = { day: position.day, after: String(key) };
      continue;
    }
    position = query.workflow === undefined ? dayBefore(position.day, query.now) : undefined;
    if (position !== undefined && days === DAYS) return { runs, cursor: `${position.day}#` };
    days += 1;
  }
  return { runs };
}

/**
 * Open runs: of one principal, sub-runs left out and the oldest first, for its limit; or of all, for the sweep. At most `limit`
 * (default 1,000).
 */
export async function listOpenRuns(
  store: Store,
  options: { principal?: Pick<Principal, 'id'>; limit?: number } = {},
): Promise<RunRecord[]> {
  const { principal, limit = 1000 } = options;
  const page = await queryPage(store, {
    index: INDEXES.open,
    pk: 'OPEN',
    limit,
    ...(principal === undefined ? {} : { prefix: openRunsPrefix(principal.id) }),
  });
  const runs = await getRuns(
    store,
    page.items.map((item) => String(item.pk).slice('RUN#'.length)),
  );
  return runs.filter((run) => isOpen(run.status));
}

interface Position {
  day: string;
  /** `<createdAt>#<run>` of the last run looked at. */
  after?: string;
}

function start(query: RunQuery): Position | undefined {
  if (query.cursor === undefined) return { day: new Date(query.now).toISOString().slice(0, 10) };
  if (/^\d{4}-\d\d-\d\d#$/.test(query.cursor)) return { day: query.cursor.slice(0, 10) };
  const [createdAt, run] = query.cursor.split('#');
  if (createdAt === undefined || run === undefined || !/^\d{4}-\d\d-\d\dT/.test(createdAt)) return undefined;
  return { day: createdAt.slice(0, 10), after: query.cursor };
}

/** The day before, until the time to live has been walked. */
function dayBefore(day: string, now: number): Position | undefined {
  const before = Date.parse(`${day}T00:00:00Z`) - DAY_MS;
  return before < now - RUN_TTL_SECONDS * 1000 - DAY_MS
    ? undefined
    : { day: new Date(before).toISOString().slice(0, 10) };
}

function exclusiveStart(
  index: typeof INDEXES.byDay | typeof INDEXES.byTime,
  pk: string,
  after: string,
): Record<string, string> {
  const run = after.slice(after.indexOf('#') + 1);
  return { pk: `RUN#${run}`, sk: 'META', [index.pk]: `RUNS#${pk}`, [index.sk]: after };
}
