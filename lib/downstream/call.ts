/**
 * One call of one downstream tool.
 *
 * What always holds: a call is sent at most once, except that what was never sent (a connection found dead, a session that
 * the server forgot) is sent on a new connection, one time. It answers with the tool's result, or throws a StepFailure
 * whose kind says whether it was carried out; see call-errors.ts. Repeating is the caller's decision.
 */
import { setMaxListeners } from 'node:events';
import type { CallToolResult } from '@modelcontextprotocol/client';
import { StepFailure } from '../blueprint/errors.ts';
import type { Json, JsonObject } from '../blueprint/json.ts';
import { callFailure, isSessionGone, wasNotSent } from './call-errors.ts';
import { notAllowed, readTools, unknownToolOf } from './catalog.ts';
import { cleanText } from './clean-text.ts';
import type { Connection } from './connection.ts';
import { isDeeperThan, MAX_VALUE_DEPTH } from './depth.ts';
import { HOPS_META_KEY, MAX_HOPS } from './hops.ts';
import { forgetTools, type Lease, type Pool, type ServerState } from './pool.ts';
import { withoutSecrets } from './secrets.ts';
import { isAllowed, mayRepeat, type ToolInfo } from './tool-info.ts';
import type { ContentBlock } from './value.ts';

export interface ToolCall {
  server: string;
  tool: string;
  arguments: JsonObject;
  /** Time limit of this call. Default: the server's `timeoutMs`. */
  timeoutMs?: number;
  /** Ends the call with `Cancelled`, and tells the server. */
  signal?: AbortSignal;
  /** For servers with `"session": "run"`. */
  run?: string;
  /** Hops that this run was started with. Default 0. */
  hops?: number;
  /** The step allows a call of unknown outcome to be repeated. */
  retryUnknown?: boolean;
  onProgress?: (progress: { progress: number; total?: number; message?: string }) => void;
}

export interface ToolResult {
  content: ContentBlock[];
  /** `structuredContent`, if the key is present; any JSON value. */
  structured?: Json;
  isError: boolean;
}

/** `isError`: the tool says that it failed. The message is its own text; the result is what it answered. */
export class ToolFailure extends StepFailure {
  readonly result: ToolResult;

  constructor(
    kind: 'ToolError' | 'InvalidArguments' | 'UnknownTool',
    message: string,
    call: ToolCall,
    result: ToolResult,
  ) {
    super(kind, message, { server: call.server, tool: call.tool });
    this.result = result;
  }
}

/** Calls a tool. Throws StepFailure (ToolFailure where the tool itself reports the error). */
export async function callTool(pool: Pool, call: ToolCall): Promise<ToolResult> {
  const state = serverOf(pool, call);
  const hops = call.hops ?? 0;
  if (hops >= MAX_HOPS) {
    throw failure(
      'LimitExceeded',
      `the call came through ${hops} engines, which is the limit; does a workflow call itself?`,
      call,
    );
  }
  const { signal } = call;
  if (signal?.aborted === true) throw cancelled(call, false);
  if (signal !== undefined) allowManyListeners(signal);
  const waiting = state.gate.enter(signal);
  if (waiting !== undefined) {
    try {
      await waiting;
    } catch {
      throw cancelled(call, false);
    }
  }
  try {
    return await callInside(pool, state, call, hops);
  } finally {
    state.gate.leave();
  }
}

const shared = new WeakSet<AbortSignal>();

/** A run's signal is listened to by each of its calls in flight; Node takes more than ten for a leak and warns. */
function allowManyListeners(signal: AbortSignal): void {
  if (shared.has(signal)) return;
  shared.add(signal);
  setMaxListeners(0, signal);
}

async function callInside(pool: Pool, state: ServerState, call: ToolCall, hops: number): Promise<ToolResult> {
  const tool = state.tools?.get(call.tool) ?? (await lookUp(pool, state, call));
  for (let resent = false; ; resent = true) {
    const acquired = pool.acquire(state, call.run);
    const lease = acquired instanceof Promise ? await abortable(opened(acquired, call), call) : acquired;
    try {
      return toResult(await send(lease.connection, state, call, tool, hops), call, state.config.secrets);
    } catch (error) {
      if (error instanceof StepFailure) throw error;
      if (call.signal?.aborted === true) throw cancelled(call, !wasNotSent(error));
      if (!resent && (await canSendAgain(lease, error))) continue;
      throw callFailure(error, {
        server: call.server,
        tool: call.tool,
        timeoutMs: timeoutOf(state, call),
        repeatable: call.retryUnknown === true || mayRepeat(state.config, tool),
        endReason: () => lease.connection.endReason(),
        secrets: state.config.secrets,
      });
    } finally {
      const releasing = lease.release();
      if (releasing !== undefined) await releasing;
    }
  }
}

function send(
  { client, era }: Connection,
  state: ServerState,
  call: ToolCall,
  tool: ToolInfo | undefined,
  hops: number,
): Promise<CallToolResult> {
  return client.callTool(
    { name: call.tool, arguments: call.arguments, _meta: { [HOPS_META_KEY]: hops + 1 } },
    {
      timeout: timeoutOf(state, call),
      ...(call.signal === undefined ? {} : { signal: call.signal }),
      ...(call.onProgress === undefined ? {} : { onprogress: call.onProgress }),
      ...(era === 'modern' && tool?.hasHeaders === true
        ? { toolDefinition: { name: tool.name, inputSchema: tool.inputSchema as { type: 'object' } } }
        : {}),
    },
  );
}

/** The tool's hints and schema. A server that cannot list its tools can still be called; one without the tool cannot. */
async function lookUp(pool: Pool, state: ServerState, call: ToolCall): Promise<ToolInfo | undefined> {
  const known = state.tools !== undefined;
  if (known) forgetTools(state);
  let tools: ReadonlyMap<string, ToolInfo>;
  try {
    tools = await abortable(readTools(pool, state), call);
  } catch (error) {
    if (error instanceof StepFailure) throw error;
    return undefined;
  }
  const tool = tools.get(call.tool);
  if (tool === undefined) {
    const offered = [...tools.keys()].filter((name) => isAllowed(state.config, name));
    throw unknownToolOf(call.server, call.tool, offered);
  }
  return tool;
}

async function canSendAgain(lease: Lease, error: unknown): Promise<boolean> {
  if (isSessionGone(error, lease.connection.client.transport?.sessionId)) {
    await lease.connection.close();
    return true;
  }
  // Where the connection still stands nothing is gained by another: the server is not there.
  return wasNotSent(error) && !lease.connection.isOpen;
}

async function opened(acquiring: Promise<Lease>, call: ToolCall): Promise<Lease> {
  try {
    return await acquiring;
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw failure('ServerUnavailable', `server "${call.server}" cannot be reached: ${reason}`, call, cause);
  }
}

/** The opening of a connection goes on for others; who was cancelled does not wait for it. */
async function abortable<T>(promise: Promise<T>, call: ToolCall): Promise<T> {
  const { signal } = call;
  if (signal === undefined) return promise;
  let onAbort: (() => void) | undefined;
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(cancelled(call, false));
    signal.addEventListener('abort', onAbort, { once: true });
  });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    if (onAbort !== undefined) signal.removeEventListener('abort', onAbort);
  }
}

/** Levels of `content` above what a tool puts into it: the array, a block, its resource. */
const CONTENT_LEVELS = 3;

function toResult(answer: CallToolResult, call: ToolCall, secrets: readonly string[]): ToolResult {
  if (
    isDeeperThan(answer.structuredContent, MAX_VALUE_DEPTH) ||
    isDeeperThan(answer.content, MAX_VALUE_DEPTH + CONTENT_LEVELS)
  ) {
    const message = `the result is nested deeper than ${MAX_VALUE_DEPTH} levels`;
    throw failure('ResultTooLarge', message, call);
  }
  const result: ToolResult = { content: answer.content as ContentBlock[], isError: answer.isError === true };
  if (answer.structuredContent !== undefined) result.structured = answer.structuredContent as Json;
  if (result.isError) {
    throw toolFailure({ ...result, content: result.content.map((block) => hide(block, secrets)) }, call);
  }
  return result;
}

/** What a failing tool says becomes the message of a failure, which may quote no secret of ours. */
function hide(block: ContentBlock, secrets: readonly string[]): ContentBlock {
  return typeof block.text === 'string' ? { ...block, text: withoutSecrets(block.text, secrets) } : block;
}

/** Servers on the SDK report arguments that their schema refuses, and a missing tool, as a tool error with this prefix. */
const SDK_REFUSAL = /^MCP error -32602: /;

function toolFailure(result: ToolResult, call: ToolCall): ToolFailure {
  const texts = result.content.flatMap((block) => (typeof block.text === 'string' ? [block.text] : []));
  const text = texts.join('\n');
  const refusal = SDK_REFUSAL.exec(text);
  const message = cleanText(refusal === null ? text : text.slice(refusal[0].length));
  if (refusal === null) {
    return new ToolFailure(
      'ToolError',
      message || 'the tool reports an error and says nothing more',
      call,
      result,
    );
  }
  const kind = message.startsWith(`Tool ${call.tool} not found`) ? 'UnknownTool' : 'InvalidArguments';
  return new ToolFailure(kind, message, call, result);
}

function serverOf(pool: Pool, call: ToolCall): ServerState {
  const state = pool.servers.get(call.server);
  if (state === undefined) {
    throw failure('ServerUnavailable', `mcp.json has no server "${call.server}"`, call);
  }
  if (!isAllowed(state.config, call.tool)) throw notAllowed(state.config, call.tool);
  return state;
}

function timeoutOf(state: ServerState, call: ToolCall): number {
  return Math.max(1, Math.floor(call.timeoutMs ?? state.config.timeoutMs));
}

function cancelled(call: ToolCall, sent: boolean): StepFailure {
  const message = sent
    ? 'the call was cancelled; it had been sent and may have been carried out'
    : 'the call was cancelled before it was sent';
  // No attempts: whoever made the call may tell that nothing was sent.
  const detail = { server: call.server, tool: call.tool, ...(sent ? {} : { attempts: 0 }) };
  return new StepFailure('Cancelled', message, detail);
}

function failure(
  kind: 'ServerUnavailable' | 'LimitExceeded' | 'ResultTooLarge',
  message: string,
  call: ToolCall,
  cause?: unknown,
): StepFailure {
  const options = cause === undefined ? undefined : { cause };
  return new StepFailure(kind, message, { server: call.server, tool: call.tool }, options);
}
