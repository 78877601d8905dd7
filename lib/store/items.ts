/**
 * The items of a loop: what `over` gave, written once when the loop is entered, in chunks of about 256 KiB, with an
 * index that says where each item is. A task reads the chunks of the items it walks and no others.
 */
import type { Json } from '../blueprint/json.ts';
import { type Body, readBody, writeBody } from './body.ts';
import { ABSENT, getItem, type Item, putItem } from './item.ts';
import { itemsKey } from './keys.ts';
import type { Store } from './store.ts';
import { RUN_TTL_SECONDS, TTL_ATTRIBUTE } from './table.ts';
import { bodyOf, expiry } from './values.ts';

const CHUNK_BYTES = 256 * 1024;
/** Chunks written or read side by side. */
const AT_ONCE = 8;

type Chunk = Body & { from: number; to: number };

/** Where a loop's items lie. */
export interface ItemsIndex {
  run: string;
  at: string;
  count: number;
  chunks: Chunk[];
}

/**
 * Writes a loop's items. The first writer's stand: a second delivery, or a redrive, gets the index that is there, so every
 * task of the loop walks the same list.
 */
export async function putItems(
  store: Store,
  run: string,
  at: string,
  items: readonly Json[],
): Promise<ItemsIndex> {
  const known = await getItemsIndex(store, run, at);
  if (known !== undefined) return known;
  const parts = chunksOf(items);
  const chunks: Chunk[] = [];
  for (let first = 0; first < parts.length; first += AT_ONCE) {
    const batch = parts.slice(first, first + AT_ONCE);
    chunks.push(
      ...(await Promise.all(
        batch.map(async ({ from, to }) => ({
          ...(await writeBody(store, run, items.slice(from, to))),
          from,
          to,
        })),
      )),
    );
  }
  const index: ItemsIndex = { run, at, count: items.length, chunks };
  const written = await putItem(
    store,
    {
      ...itemsKey(run, at),
      run,
      at,
      count: items.length,
      // As a body of its own: 16 MiB of items have 64 chunks, and an author may raise the limit.
      ...(await writeBody(store, run, chunks as unknown as Json)),
      [TTL_ATTRIBUTE]: expiry(RUN_TTL_SECONDS),
    },
    // Chunks are immutable and named by content, so only the index decides; the first one stands.
    ABSENT,
  );
  if (written) return index;
  const first = await getItemsIndex(store, run, at);
  if (first === undefined) throw new Error(`The items of "${at}" of run ${run} are gone.`);
  return first;
}

export async function getItemsIndex(store: Store, run: string, at: string): Promise<ItemsIndex | undefined> {
  const item: Item | undefined = await getItem(store, itemsKey(run, at));
  if (item === undefined) return undefined;
  const chunks = (await readBody(store, bodyOf(item))) as unknown as Chunk[];
  return { run, at, count: Number(item.count), chunks };
}

/** Items [from, to) of a loop, in order. */
export async function readItems(
  store: Store,
  index: ItemsIndex,
  from = 0,
  to = index.count,
): Promise<Json[]> {
  const chunks = index.chunks.filter((chunk) => chunk.from < to && chunk.to > from);
  const items: Json[] = [];
  for (let first = 0; first < chunks.length; first += AT_ONCE) {
    const batch = chunks.slice(first, first + AT_ONCE);
    const bodies = await Promise.all(batch.map((chunk) => readBody(store, chunk)));
    for (const [position, body] of bodies.entries()) {
      const chunk = batch[position];
      if (chunk === undefined || !Array.isArray(body))
        throw new Error(`A chunk of "${index.at}" is no list.`);
      items.push(...body.slice(Math.max(0, from - chunk.from), to - chunk.from));
    }
  }
  return items;
}

function chunksOf(items: readonly Json[]): { from: number; to: number }[] {
  const chunks: { from: number; to: number }[] = [];
  let from = 0;
  let bytes = 0;
  for (const [index, item] of items.entries()) {
    const size = Buffer.byteLength(JSON.stringify(item)) + 1;
    if (index > from && bytes + size > CHUNK_BYTES) {
      chunks.push({ from, to: index });
      from = index;
      bytes = 0;
    }
    bytes += size;
  }
  if (items.length > from) chunks.push({ from, to: items.length });
  return chunks;
}
