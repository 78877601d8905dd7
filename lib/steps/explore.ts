/** What call-tool answers outside runs: the catalog of tools, and a trial call. */
import { type StepError, StepFailure } from '../blueprint/errors.ts';
import type { Json } from '../blueprint/json.ts';
import { storeBlobs } from '../downstream/blobs.ts';
import { callTool, ToolFailure, type ToolResult } from '../downstream/call.ts';
import { readCatalog, resolveTool } from '../downstream/catalog.ts';
import type { Pool } from '../downstream/pool.ts';
import type { ToolInfo } from '../downstream/tool-info.ts';
import { resultValue } from '../downstream/value.ts';
import { putCatalog } from '../store/catalog.ts';
import type { Store } from '../store/store.ts';
import { putBlob } from '../store/values.ts';
import { observedCall } from './call/observed.ts';
import type { CatalogAnswer, CatalogRequest, TryAnswer, TryRequest } from './explore-protocol.ts';
import { stepErrorOf } from './failure.ts';
import { bytesOf, sampleOf } from './sample.ts';
import { endTry, isTryOpen, type TryEnvironment, watchTry } from './try-run.ts';
import { requireTool } from './work.ts';

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

/**
 * One call, recorded in the run that the request names. What the tool or its server does wrong is part of the answer, for that
 * is what an agent wants to learn; so is a tool that the caller may not use.
 */
export async function answerTry(pool: Pool, env: TryEnvironment, request: TryRequest): Promise<TryAnswer> {
  const { store, clock } = env;
  const started = clock.now();
  const done = (answer: Omit<TryAnswer, 'ms'>): TryAnswer => ({ ...answer, ms: clock.now() - started });
  const place = { server: '', tool: request.tool };
  const watch = watchTry(store, clock, request.run);
  try {
    const info = await resolveTool(pool, request.tool);
    place.server = info.server;
    place.tool = info.name;
    requireTool(request.allowed, place);
    if (request.readOnly === true) requireReadOnly(pool, info);
    // It may have been cancelled while its server was starting.
    if (!(await isTryOpen(store, request.run))) throw cancelled();
    const result: ToolResult = await observedCall(env, place, () =>
      callTool(pool, {
        ...place,
        arguments: request.params,
        hops: request.hops ?? 0,
        run: request.run,
        signal: watch.signal,
        ...(request.timeoutMs === undefined ? {} : { timeoutMs: request.timeoutMs }),
      }),
    );
    const stored = await storeBlobs(result, (bytes, mimeType) =>
      putBlob(store, request.run, bytes, mimeType),
    );
    await endTry(env, request.run, { ...place, value: resultValue(stored) });
    return done({ ...place, isError: false, ...(await shown(result)) });
  } catch (error) {
    if (!(error instanceof StepFailure)) throw error;
    const fault = stepErrorOf(error, { step: 'call_tool', path: 'call_tool', attempts: 1, ...found(place) });
    await endTry(env, request.run, { ...place, error: fault });
    const content = error instanceof ToolFailure ? { content: await contentOf(error.result) } : {};
    const { kind, message } = fault;
    return done({ ...place, isError: true, value: null, ...content, error: { kind, message } });
  } finally {
    watch.end();
    await pool.releaseRun(request.run);
  }
}

/** A tool whose server is not known is told by the sentence alone. */
function found({ server, tool }: { server: string; tool: string }): Pick<StepError, 'server' | 'tool'> {
  return server === '' ? {} : { server, tool };
}

function requireReadOnly(pool: Pool, { server, name, annotations }: ToolInfo): void {
  const trusted = pool.servers.get(server)?.config.trustAnnotations === true;
  if (trusted && annotations.readOnlyHint === true) return;
  throw new StepFailure(
    'ToolNotAllowed',
    `call_tool may try read-only tools alone here, and "${server}/${name}" is not known to be one; nothing was sent`,
    { server, tool: name },
  );
}

function cancelled(): StepFailure {
  return new StepFailure('Cancelled', 'the call was cancelled before it was sent');
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
