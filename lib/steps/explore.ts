/** What call-tool answers outside runs: the catalog of tools, and a trial call. */
import { StepFailure } from '../blueprint/errors.ts';
import type { Json } from '../blueprint/json.ts';
import { storeBlobs } from '../downstream/blobs.ts';
import { callTool, ToolFailure, type ToolResult } from '../downstream/call.ts';
import { readCatalog, resolveTool } from '../downstream/catalog.ts';
import { cleanText } from '../downstream/clean-text.ts';
import type { Pool } from '../downstream/pool.ts';
import { resultValue } from '../downstream/value.ts';
import { putCatalog } from '../store/catalog.ts';
import type { Store } from '../store/store.ts';
import type { CatalogAnswer, CatalogRequest, TryAnswer, TryRequest } from './explore-protocol.ts';
import { bytesOf, sampleOf } from './sample.ts';

const MAX_VALUE_BYTES = 8 * 1024;
const MAX_CONTENT_BYTES = 1024;

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
    return done({ server, tool, isError: false, ...(await shown(result)) });
  } catch (error) {
    if (!(error instanceof StepFailure)) throw error;
    const fault = { kind: error.kind, message: cleanText(error.message) };
    const content = error instanceof ToolFailure ? { content: await contentOf(error.result) } : {};
    return done({ server, tool, isError: true, value: null, ...content, error: fault });
  }
}

async function shown(result: ToolResult): Promise<Pick<TryAnswer, 'from' | 'value' | 'bytes' | 'content'>> {
  const value = resultValue(result);
  const from = sourceOf(result, value);
  const bytes = bytesOf(value);
  return {
    from,
    value: from === 'blocks' ? await contentOf(result) : sampleOf(value, MAX_VALUE_BYTES),
    ...(bytes > MAX_VALUE_BYTES ? { bytes } : {}),
    // With structured content the text can still be what `parse` is to read.
    ...(from === 'structured' && result.content.length > 0 ? { content: await contentOf(result) } : {}),
  };
}

function sourceOf(result: ToolResult, value: Json): NonNullable<TryAnswer['from']> {
  if (result.structured !== undefined) return 'structured';
  const [only, second] = result.content;
  if (only?.type !== 'text' || second !== undefined) return 'blocks';
  return typeof value === 'string' ? 'text' : 'json';
}

/** The blocks, without what is binary in them. */
async function contentOf(result: ToolResult): Promise<Json> {
  const { content } = await storeBlobs(result, () => Promise.resolve(null));
  return sampleOf(content as Json, MAX_CONTENT_BYTES);
}
