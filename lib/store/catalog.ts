/**
 * The cached catalog of a downstream server: what its `tools/list` answered, when, and under which configuration. A cache
 * only: it can be stale or missing at any time, and the last writer wins.
 */
import type { Json } from '../blueprint/json.ts';
import { type Body, readBody, writeBody } from './body.ts';
import { type Item, putItem, queryAll } from './item.ts';
import type { Store } from './store.ts';
import { bodyOf } from './values.ts';

export interface CachedCatalog {
  server: string;
  /** Hash of the configuration that the server was asked under. */
  configHash: string;
  /** ISO time. */
  fetchedAt: string;
  tools: Json;
}

/** Stores what a server offers. */
export async function putCatalog(store: Store, catalog: CachedCatalog): Promise<void> {
  const { tools, ...rest } = catalog;
  const body: Body = await writeBody(store, `catalog-${catalog.server}`, tools);
  await putItem(store, { pk: 'CATALOG', sk: `SERVER#${catalog.server}`, ...rest, ...body });
}

/** Every cached catalog, by server name. */
export async function listCatalogs(store: Store): Promise<CachedCatalog[]> {
  const items = await queryAll(store, { pk: 'CATALOG', prefix: 'SERVER#' });
  return Promise.all(items.map((item) => catalogOf(store, item)));
}

async function catalogOf(store: Store, item: Item): Promise<CachedCatalog> {
  return {
    server: String(item.server),
    configHash: String(item.configHash),
    fetchedAt: String(item.fetchedAt),
    tools: await readBody(store, bodyOf(item)),
  };
}
