/**
 * The downstream tools as the endpoint sees them. The endpoint never connects downstream: it invokes call-tool, and
 * keeps the answer for a short time so that validating a blueprint does not wait for every server again.
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
import type { EngineEnvironment } from './environment.ts';
import { EngineError } from './errors.ts';

const CATALOG_AGE_MS = 10_000;

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
  const fault = JSON.parse(text) as { errorType?: string; errorMessage?: string };
  throw new EngineError(
    'Unavailable',
    `call-tool failed: ${fault.errorMessage ?? fault.errorType ?? 'no reason given'}`,
  );
}

/** All tools of all connected servers. At most 10 seconds old, fresh with `refresh`. */
export async function getCatalog(env: EngineEnvironment, refresh = false): Promise<CatalogAnswer> {
  const known = kept.get(env);
  if (known !== undefined && !refresh && env.now() - known.at < CATALOG_AGE_MS) return known.answer;
  const answer = invoke<CatalogAnswer>(env, { op: 'catalog', ...(refresh ? { refresh } : {}) });
  kept.set(env, { answer, at: env.now() });
  answer.catch(() => kept.delete(env));
  return answer;
}

/** One trial call of a tool. */
export function tryTool(env: EngineEnvironment, request: Omit<TryRequest, 'op'>): Promise<TryAnswer> {
  return invoke<TryAnswer>(env, { op: 'try', ...request });
}

/** Walks a stored blueprint: resolves what it can, calls only tools that are annotated read-only. */
export function dryRun(env: EngineEnvironment, request: Omit<DryRunRequest, 'op'>): Promise<DryRunAnswer> {
  return invoke<DryRunAnswer>(env, { op: 'dryRun', ...request });
}
