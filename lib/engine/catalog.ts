/**
 * The downstream tools as the endpoint sees them. The endpoint never connects downstream: it invokes call-tool, which stores
 * the catalog in the table, so that an endpoint that has just started does not wait for every server to start as well.
 */
import { InvokeCommand } from '@aws-sdk/client-lambda';
import type {
  CatalogAnswer,
  DryRunAnswer,
  DryRunRequest,
  ExploreRequest,
  TryAnswer,
  TryRequest,
} from '../steps/explore-protocol.ts';
import { getCachedCatalog } from '../store/catalog.ts';
import type { EngineEnvironment } from './environment.ts';
import { EngineError } from './errors.ts';

/** How long this process believes what it read, and how long what call-tool stored is believed. */
const KEPT_MS = 10_000;
const STORED_MS = 60_000;

interface Kept {
  answer: Promise<CatalogAnswer>;
  at: number;
}

const kept = new WeakMap<EngineEnvironment, Kept>();

async function invoke<T>(env: EngineEnvironment, request: ExploreRequest): Promise<T> {
  const answer = await env.lambda.send(
    new InvokeCommand({
      FunctionName: env.config.callToolArn,
      InvocationType: 'RequestResponse',
      Payload: Buffer.from(JSON.stringify(request)),
    }),
  );
  const text = Buffer.from(answer.Payload ?? []).toString();
  if (answer.FunctionError === undefined) return JSON.parse(text) as T;
  const { errorType = 'unknown', errorMessage = '' } = JSON.parse(text) as Record<string, string>;
  env.log({
    level: 'error',
    event: 'call-tool-failed',
    op: request.op,
    error: errorType,
    message: errorMessage,
  });
  throw new EngineError('Unavailable', `call-tool failed (${errorType}); its log has the details`);
}

/**
 * All tools of all connected servers, and which servers could not be reached. From memory (10 s) or from the table (60 s),
 * else asked; with `refresh` always asked.
 */
export function getCatalog(env: EngineEnvironment, refresh = false): Promise<CatalogAnswer> {
  const known = kept.get(env);
  if (known !== undefined && !refresh && env.now() - known.at < KEPT_MS) return known.answer;
  const answer = refresh ? askCatalog(env, true) : readCatalog(env);
  const entry = { answer, at: env.now() };
  kept.set(env, entry);
  answer.catch(() => {
    if (kept.get(env) === entry) kept.delete(env);
  });
  return answer;
}

/** What call-tool stored last, unless it is too old. */
async function readCatalog(env: EngineEnvironment): Promise<CatalogAnswer> {
  const cached = await getCachedCatalog(env.store, env.config.serversHash);
  const fresh = cached !== undefined && env.now() - Date.parse(cached.fetchedAt) < STORED_MS;
  return fresh ? (cached.catalog as unknown as CatalogAnswer) : askCatalog(env, false);
}

function askCatalog(env: EngineEnvironment, refresh: boolean): Promise<CatalogAnswer> {
  return invoke<CatalogAnswer>(env, { op: 'catalog', ...(refresh ? { refresh } : {}) });
}

/** One trial call of a tool. */
export function tryTool(env: EngineEnvironment, request: Omit<TryRequest, 'op'>): Promise<TryAnswer> {
  return invoke<TryAnswer>(env, { op: 'try', ...request });
}

/** Walks a stored blueprint: resolves what it can, calls only tools that are annotated read-only. */
export function dryRun(env: EngineEnvironment, request: Omit<DryRunRequest, 'op'>): Promise<DryRunAnswer> {
  return invoke<DryRunAnswer>(env, { op: 'dryRun', ...request });
}
