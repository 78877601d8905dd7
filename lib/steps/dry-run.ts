/**
 * A dry run: what a run would call, with what. Templates are resolved as far as they can be; only tools that a trusted server
 * annotates as read-only are called. Nothing is stored and there is no run record.
 *
 * It ends where a run would: at a failure under `abort`. What reads a step that was not called is told with its
 * expressions; a loop is walked for its first items.
 */
import type { Pool } from '../downstream/pool.ts';
import type { Store } from '../store/store.ts';
import { loadDocument } from './documents.ts';
import { boundedOutput, createList } from './dry-run/answer.ts';
import { hasUnknown } from './dry-run/partial.ts';
import type { DryRun } from './dry-run/place.ts';
import { walkProgram } from './dry-run/program.ts';
import { walkList } from './dry-run/walk.ts';
import type { DryRunAnswer, DryRunRequest } from './explore-protocol.ts';

/** The endpoint's caller waits for the answer. */
const MAX_MS = 20_000;

/** Walks a stored document. */
export async function answerDryRun(
  pool: Pool,
  store: Store,
  request: DryRunRequest,
  now: () => number,
): Promise<DryRunAnswer> {
  const loaded = await loadDocument(store, request.workflow, request.hash);
  const dry: DryRun = {
    pool,
    store,
    now,
    hops: request.hops ?? 0,
    list: createList(),
    calls: 0,
    until: now() + MAX_MS,
    open: new WeakSet(),
    opened: 0,
  };
  const place = {
    dry,
    loaded,
    prefix: '',
    depth: 0,
    hypothetical: false,
    allowed: request.allowed,
    errors: [],
  };
  const end = await walkProgram(place, { params: request.params, revision: request.revision }, walkList);
  const { steps, omitted } = dry.list;
  const walked = { steps, ...(omitted === 0 ? {} : { omitted }), calls: dry.calls };
  if ('error' in end) return { ...walked, error: end.error };
  const { value, shown, unresolved } = end.output;
  return {
    ...walked,
    ...(shown === null && hasUnknown(value) ? {} : { output: boundedOutput(shown) }),
    ...(unresolved.length === 0 ? {} : { unresolved }),
  };
}
