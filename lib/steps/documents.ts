/** Documents by hash, parsed and indexed once: what a warm function knows it does not read again. */
import type { BlueprintDocument } from '../blueprint/types.ts';
import { parseProgram } from '../compile/parse.ts';
import { getDocument } from '../store/documents.ts';
import type { Store } from '../store/store.ts';
import { indexProgram, type ProgramIndex } from './program-index.ts';

export interface LoadedDocument {
  hash: string;
  document: BlueprintDocument;
  index: ProgramIndex;
}

/** Programs kept; the oldest goes first. The store keeps the documents themselves. */
const KEPT = 64;
const loaded = new Map<string, Promise<LoadedDocument>>();

/** The program of a stored document. Throws where there is none of that hash: a machine without its document cannot run. */
export function loadDocument(store: Store, workflow: string, hash: string): Promise<LoadedDocument> {
  // The hash is the content's, so it is enough of a key whatever store it came from.
  const known = loaded.get(hash);
  if (known !== undefined) return known;
  const loading = read(store, workflow, hash);
  loaded.set(hash, loading);
  loading.catch(() => loaded.delete(hash));
  if (loaded.size > KEPT) {
    const oldest = loaded.keys().next().value;
    if (oldest !== undefined) loaded.delete(oldest);
  }
  return loading;
}

async function read(store: Store, workflow: string, hash: string): Promise<LoadedDocument> {
  const document = await getDocument(store, workflow, hash);
  return { hash, document, index: indexProgram(parseProgram(document.blueprint)) };
}
