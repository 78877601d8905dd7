/**
 * Binding: what a blueprint leaves to the moment of saving. Each tool gets its server, each sub-workflow its revision;
 * the document's hash covers both, so a saved revision does the same for ever.
 *
 * A tool that no connected server offers stays unbound and is looked up when it runs; `@latest` stays floating.
 */
import type { Blueprint, BlueprintDocument, ToolBinding, WorkflowBinding } from '../blueprint/types.ts';
import type { Program } from '../compile/program.ts';
import type { CatalogAnswer } from '../steps/explore-protocol.ts';
import type { KnownWorkflow } from './check-blueprint.ts';

/** Pure: the same blueprint, catalog and workflows give the same document. */
export function bindDocument(
  blueprint: Blueprint,
  program: Program,
  catalog: CatalogAnswer | undefined,
  known: ReadonlyMap<string, KnownWorkflow>,
): BlueprintDocument {
  const tools: [string, ToolBinding][] = [];
  const workflows: [string, WorkflowBinding][] = [];
  for (const [id, node] of program.byId) {
    if (node.type !== 'call') continue;
    if (node.call === 'workflow') {
      const target = known.get(node.workflow);
      if (node.floating || target === undefined) continue;
      const { revision, hash } = target;
      workflows.push([
        id,
        { workflow: node.workflow, ...(revision === undefined ? {} : { revision }), hash },
      ]);
      continue;
    }
    const server = node.server ?? onlyServer(catalog, node.tool);
    if (server !== undefined) tools.push([id, { server, tool: node.tool }]);
  }
  return { abi: 1, blueprint, tools: Object.fromEntries(tools), workflows: Object.fromEntries(workflows) };
}

function onlyServer(catalog: CatalogAnswer | undefined, tool: string): string | undefined {
  const servers = (catalog?.tools ?? []).filter((t) => t.name === tool).map((t) => t.server);
  return servers.length === 1 ? servers[0] : undefined;
}
