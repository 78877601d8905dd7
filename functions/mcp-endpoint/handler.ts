/**
 * Handler of the function URL: its event as a web Request to the endpoint of lib/mcp, and the Response back through Lambda's
 * stream. No answer takes longer than HOLD_MS: a stream that is held open ends then, and an agent that waits for more asks
 * again.
 */
import type { Writable } from 'node:stream';
import type { Endpoint } from '../../lib/mcp/endpoint.ts';
import { callerOf, isFunctionUrlEvent, requestOf } from '../../lib/mcp/function-url/event.ts';
import { type HttpStreams, sendResponse } from '../../lib/mcp/function-url/send.ts';
import { faultFields } from '../../lib/telemetry/fault-fields.ts';
import type { LogEntry } from '../../lib/telemetry/telemetry.ts';

/** From the request to the end of its answer. */
export const HOLD_MS = 50_000;
/** Left of the function's time for ending the stream. */
const MARGIN_MS = 1000;

export interface McpEndpointDependencies {
  endpoint: Endpoint;
  http: HttpStreams;
  log(entry: LogEntry): void;
  /** Default HOLD_MS. */
  holdMs?: number;
}

/** What a handler uses of Lambda's context object. */
export interface InvocationContext {
  getRemainingTimeInMillis(): number;
}

export type McpEndpointHandler = (
  event: unknown,
  stream: Writable,
  context: InvocationContext,
) => Promise<void>;

/** To be wrapped in the runtime's `awslambda.streamifyResponse`. */
export function createMcpEndpoint(dependencies: McpEndpointDependencies): McpEndpointHandler {
  const { endpoint, http, log, holdMs = HOLD_MS } = dependencies;
  return async (event, stream, context) => {
    if (!isFunctionUrlEvent(event)) throw new Error('mcp-endpoint: this is no event of a function URL');
    const over = new AbortController();
    let sent = false;
    // Both happen to a stream whose reader has gone. After the end of the answer they mean nothing.
    stream.on('error', () => over.abort());
    stream.once('close', () => {
      if (!sent) over.abort();
    });
    const timer = setTimeout(
      () => over.abort(),
      Math.min(holdMs, context.getRemainingTimeInMillis() - MARGIN_MS),
    );
    try {
      const answer = endpoint.fetch(requestOf(event, over.signal), callerOf(event));
      const response = await Promise.race([answer, aborted(over.signal)]).catch((error: unknown) => {
        log({ level: 'error', event: 'endpoint-failed', ...faultFields(error) });
        return refusal(500, 'the endpoint failed; its log has the details');
      });
      // What came too late is not cut short by it.
      if (response === undefined) await sendResponse(tooLate(), stream, http, new AbortController().signal);
      else await sendResponse(response, stream, http, over.signal);
      sent = true;
    } catch (error) {
      log({ level: 'error', event: 'answer-cut-short', ...faultFields(error) });
    } finally {
      clearTimeout(timer);
    }
  };
}

/** Resolves when the signal aborts. */
function aborted(signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(undefined), { once: true }));
}

/** To whoever still listens. */
function tooLate(): Response {
  return refusal(504, `no answer within ${HOLD_MS / 1000} s; what was begun goes on`);
}

/** As the endpoint refuses what it cannot answer: a JSON-RPC error of no request. */
function refusal(status: number, message: string): Response {
  return Response.json({ jsonrpc: '2.0', id: null, error: { code: -32603, message } }, { status });
}
