/** What call-tool answers outside runs: the catalog of tools, and a trial call. */
import { StepFailure } from '../blueprint/errors.ts';
import type { Json } from '../blueprint/json.ts';
import { callTool, ToolFailure, type ToolResult } from '../downstream/call.ts';
import { readCatalog, resolveTool } from '../downstream/catalog.ts';
import type { Pool } from '../downstream/pool.ts';
import { resultValue } from '../downstream/value.ts';
import { putCatalog } from '../store/catalog.ts';
import type { Store } from '../store/store.ts';
import type { CatalogAnswer, CatalogRequest, TryAnswer, TryRequest } from './explore-protocol.ts';

/** What the servers offer; it is stored too, so that the endpoint need not ask each time. */
export async function answerCatalog(
  pool: Pool,
  store: Store,
  serversHash: string,
  request: CatalogRequest,
  now: () => number,
): Promise<CatalogAnswer> {
  const { tools, unreachable } = await readCatalog(pool, request.refresh === true ? { maxAgeMs: 0 } : {});
  const configs = [...pool.servers.values()].map((server) => server.config);
  const catalog: CatalogAnswer = {
    tools,
    servers: configs.map((config) => config.name),
    trusted: configs.filter((config) => config.trustAnnotations).map((config) => config.name),
    unavailable: unreachable,
  };
  const fetchedAt = new Date(now()).toISOString();
  await putCatalog(store, { serversHash, fetchedAt, catalog: catalog as unknown as Json });
  return catalog;
}

/** One call. What the tool or its server does wrong is part of the answer, for that is what an agent wants to learn. */
export async function answerTry(pool: Pool, request: TryRequest, now: () => number): Promise<TryAnswer> {
  const started = now();
  const done = (answer: Omit<TryAnswer, 'ms'>): TryAnswer => ({ ...answer, ms: now() - started });
  let server = '';
  let tool = request.tool;
  try {
    ({ server, name: tool } = await resolveTool(pool, request.tool));
    const result = await callTool(pool, {
      server,
      tool,
      arguments: request.params,
      hops: request.hops ?? 0,
      ...(request.timeoutMs === undefined ? {} : { timeoutMs: request.timeoutMs }),
    });
    return done({ server, tool, isError: false, ...shown(result), value: resultValue(result) });
  } catch (error) {
    if (!(error instanceof StepFailure)) throw error;
    const fault = { kind: error.kind, message: error.message };
    const result = error instanceof ToolFailure ? shown(error.result) : { content: [] };
    return done({ server, tool, isError: true, ...result, value: null, error: fault });
  }
}

function shown(result: ToolResult): Pick<TryAnswer, 'content' | 'structured'> {
  const content = result.content as Json;
  return result.structured === undefined ? { content } : { content, structured: true };
}
