/**
 * What a saved workflow is bound to, for allow-lists: the tools of its steps, and of everything that it pins, for a pinned
 * sub-workflow runs with the authority of whoever pinned it.
 */
import { listNames } from '../blueprint/suggest.ts';
import { refusedTools } from '../blueprint/tool-allow-list.ts';
import type { BlueprintDocument, ToolBinding } from '../blueprint/types.ts';
import { getDocument } from '../store/documents.ts';
import type { Principal } from '../store/records.ts';
import type { Store } from '../store/store.ts';
import { EngineError } from './errors.ts';

/** Documents read at once; a blueprint can pin thousands. */
const READ_AT_ONCE = 25;

/** Of a document and all that it pins, whatever their depth. Each document is read once. */
export async function boundTools(store: Store, document: BlueprintDocument): Promise<ToolBinding[]> {
  const tools: ToolBinding[] = [];
  const seen = new Set<string>();
  let level = [document];
  while (level.length > 0) {
    const pinned = new Map<string, { workflow: string; hash: string }>();
    for (const each of level) {
      tools.push(...Object.values(each.tools));
      for (const { workflow, hash } of Object.values(each.workflows)) {
        if (!seen.has(hash)) pinned.set(hash, { workflow, hash });
        seen.add(hash);
      }
    }
    const next = [...pinned.values()];
    level = [];
    for (let from = 0; from < next.length; from += READ_AT_ONCE) {
      const batch = next.slice(from, from + READ_AT_ONCE);
      level.push(
        ...(await Promise.all(batch.map(({ workflow, hash }) => getDocument(store, workflow, hash)))),
      );
    }
  }
  return tools;
}

/**
 * A run works with its starter's authority, so the starter must be allowed every tool that the revision is bound to. Those of
 * pinned sub-workflows are left out: they run with the authority of who pinned them. What binds at run time is checked then.
 * @throws EngineError Forbidden, naming all of them
 */
export function requireTools(principal: Principal, document: BlueprintDocument): void {
  const refused = refusedTools(principal.tools, Object.values(document.tools));
  if (refused.length === 0) return;
  throw new EngineError(
    'Forbidden',
    `workflow "${document.blueprint.id}" uses ${listNames(refused)}, which you may not use; ask whoever gave you access, or start another workflow`,
  );
}
