/**
 * The order in which CloudFormation's requests first came. A request is delivered at least once, and a late delivery of an old
 * one must not bring back what a newer one has replaced: CloudFormation sends the next only when the last is answered or given
 * up, so the order of the first deliveries is the order of the deployments.
 */
import { ABSENT, getItem, type Item, putItem, recordOf } from './item.ts';
import { deploymentsKey } from './keys.ts';
import type { Store } from './store.ts';

interface Deployments {
  /** Request ids, newest last. */
  requests: string[];
  /** The newest that was applied to the end. */
  applied?: string;
  /** Ids of the blueprints that the stack owns, or is just taking. */
  owned: string[];
  version: number;
}

/** Older ones are not sent again: Lambda tries an event for an hour at most. */
const KEPT = 50;
/** Times that the item is written anew because it changed under it. */
const TRIES = 10;

export interface Begun {
  /** `new`: to be applied, for the first time or after a crash. `applied`: it was. `old`: a newer one has come since. */
  standing: 'new' | 'applied' | 'old';
  /** What the stack owns, these ids among it. */
  owned: string[];
}

/** Notes a request that has come and the blueprints that it ships, and says how it stands to the others. */
export function beginDeployment(store: Store, request: string, ids: readonly string[]): Promise<Begun> {
  return change<Begun>(store, (before) => {
    const at = before.requests.indexOf(request);
    const { owned } = before;
    if (at !== -1 && at < before.requests.length - 1) return { answer: { standing: 'old', owned } };
    if (at !== -1 && before.applied === request) return { answer: { standing: 'applied', owned } };
    const requests = at === -1 ? [...before.requests, request].slice(-KEPT) : before.requests;
    const all = [...new Set([...owned, ...ids])];
    return { next: { ...before, requests, owned: all }, answer: { standing: 'new', owned: all } };
  });
}

/** Whether no newer request has come. */
export async function isNewestDeployment(store: Store, request: string): Promise<boolean> {
  const item = await getItem(store, deploymentsKey);
  return item !== undefined && deploymentsOf(item).requests.at(-1) === request;
}

/** Notes that a request was applied to the end: what it shipped is what the stack owns. */
export async function endDeployment(store: Store, request: string, ids: readonly string[]): Promise<void> {
  await change(store, (before) =>
    before.requests.at(-1) === request
      ? { next: { ...before, applied: request, owned: [...ids] }, answer: undefined }
      : { answer: undefined },
  );
}

async function change<T>(
  store: Store,
  decide: (before: Deployments) => { next?: Deployments; answer: T },
): Promise<T> {
  for (let tries = 0; ; tries += 1) {
    const item = await getItem(store, deploymentsKey);
    const before = item === undefined ? { requests: [], owned: [], version: 0 } : deploymentsOf(item);
    const { next, answer } = decide(before);
    if (next === undefined) return answer;
    const condition =
      item === undefined
        ? ABSENT
        : { expression: '#version = :version', values: { ':version': before.version } };
    const written = { ...deploymentsKey, ...next, version: before.version + 1 };
    if (await putItem(store, written, condition)) return answer;
    if (tries === TRIES) throw new Error('The order of deployments changes faster than it can be written.');
  }
}

function deploymentsOf(item: Item): Deployments {
  return recordOf<Deployments>(item, ['requests', 'owned', 'version']);
}
