/**
 * Blueprint documents: `blueprints/<id>/<sha256>.json`, immutable. What is read is checked against the hash it was asked
 * by, so a machine that names a hash runs that document or nothing.
 *
 * The hash is of the canonical text; what is kept has its keys as the author wrote them, because the objects in a blueprint
 * become arguments and outputs in that order, and whoever reads it back knows it again.
 */
import { documentHash } from '../blueprint/canonical.ts';
import { BLUEPRINT_ID } from '../blueprint/limits.ts';
import type { BlueprintDocument } from '../blueprint/types.ts';
import { OBJECTS } from './keys.ts';
import { getObject, putObject } from './objects.ts';
import type { Bucket, Store } from './store.ts';

/** Documents kept in memory, of at most 1 MiB each. The oldest goes first. */
const CACHED_DOCUMENTS = 64;
const cache = new WeakMap<Bucket, Map<string, Promise<BlueprintDocument>>>();

/** Stores a document under its hash. One that is there already is the same one. Throws where the hash is not its own. */
export async function putDocument(
  store: Store,
  id: string,
  hash: string,
  document: BlueprintDocument,
): Promise<void> {
  if (documentHash(document) !== hash) {
    throw new Error(`The document of "${id}" does not have the hash ${hash}.`);
  }
  await putObject(store, documentKey(id, hash), JSON.stringify(document), 'application/json', true);
}

/** Reads a document; it is read once a process. Throws where there is none, or where it is not what its name says. */
export function getDocument(store: Store, id: string, hash: string): Promise<BlueprintDocument> {
  const key = documentKey(id, hash);
  const documents = cache.get(store.bucket) ?? new Map<string, Promise<BlueprintDocument>>();
  cache.set(store.bucket, documents);
  const known = documents.get(key);
  if (known !== undefined) return known;
  const reading = readDocument(store, key, hash);
  documents.set(key, reading);
  reading.catch(() => documents.delete(key));
  for (const oldest of documents.keys()) {
    if (documents.size <= CACHED_DOCUMENTS) break;
    documents.delete(oldest);
  }
  return reading;
}

async function readDocument(store: Store, key: string, hash: string): Promise<BlueprintDocument> {
  const object = await getObject(store, key);
  if (object === undefined) throw new Error(`There is no document "${key}".`);
  const document = JSON.parse(Buffer.from(object.bytes).toString('utf8')) as BlueprintDocument;
  if (documentHash(document) !== hash) throw new Error(`The document "${key}" is not what its name says.`);
  return document;
}

function documentKey(id: string, hash: string): string {
  if (!BLUEPRINT_ID.test(id)) throw new Error('A document needs the id of a blueprint.');
  if (!/^[0-9a-f]{64}$/.test(hash)) throw new Error(`The hash of a document of "${id}" is not one.`);
  return `${OBJECTS.documents}${id}/${hash}.json`;
}
