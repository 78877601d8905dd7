/**
 * The cached catalog: what the downstream servers of one configuration offered, and when. A cache only: it can be stale or
 * missing at any time, and the last writer wins. Each configuration has an entry of its own, so that a changed `mcp.json`
 * never reads what another one left.
 */
import type { Json } from '../blueprint/json.ts';
import { readBody, writeBody } from './body.ts';
import { getItem, putItem } from './item.ts';
import type { Key } from './keys.ts';
import type { Store } from './store.ts';
import { TTL_ATTRIBUTE } from './table.ts';
import { bodyOf, expiry } from './values.ts';

export interface CachedCatalog {
  /** Hash of the servers' configuration. */
  serversHash: string;
  /** ISO time. */
  fetchedAt: string;
  catalog: Json;
}

const TTL_SECONDS = 86_400;

const catalogKey = (serversHash: string): Key => ({ pk: 'CATALOG', sk: serversHash });

/** Stores what the servers offer. */
export async function putCatalog(store: Store, cached: CachedCatalog): Promise<void> {
  const { serversHash, fetchedAt, catalog } = cached;
  const body = await writeBody(store, 'catalog', catalog);
  await putItem(store, {
    ...catalogKey(serversHash),
    fetchedAt,
    ...body,
    [TTL_ATTRIBUTE]: expiry(TTL_SECONDS),
  });
}

/** What was stored last for this configuration, whatever its age. */
export async function getCachedCatalog(
  store: Store,
  serversHash: string,
): Promise<CachedCatalog | undefined> {
  const item = await getItem(store, catalogKey(serversHash));
  if (item === undefined) return undefined;
  return { serversHash, fetchedAt: String(item.fetchedAt), catalog: await readBody(store, bodyOf(item)) };
}
