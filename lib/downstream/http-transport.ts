/**
 * Streamable HTTP and the old HTTP+SSE transport, as the SDK has them, with two things added around: every request that
 * the server will never answer any more is answered with an error at once (the SDK leaves a call whose stream of events
 * ended early to its time limit), and an answer over the limit names itself as such.
 */
import {
  type JSONRPCMessage,
  type RequestId,
  SSEClientTransport,
  StreamableHTTPClientTransport,
  type Transport,
  type TransportSendOptions,
} from '@modelcontextprotocol/client';
import type { HttpServerConfig } from './config.ts';
import { BodyTooLongError, createHttpFetch, type HttpFetch } from './http-fetch.ts';
import { TOO_LONG_CODE } from './stdio-transport.ts';

/** JSON-RPC error code of the answer that stands for one that was lost after the request had been taken. */
export const LOST_CODE = -32_099;

export interface HttpTransport extends Transport {
  readonly http: HttpFetch;
  /** Tells a server with sessions that this one is over. Never fails. */
  endSession(): Promise<void>;
}

export function createHttpTransport(config: HttpServerConfig, maxMessageBytes: number): HttpTransport {
  const http = createHttpFetch({ maxBytes: maxMessageBytes });
  const url = new URL(config.url);
  const options = { fetch: http.fetch, requestInit: { headers: { ...config.headers } } };
  const inner =
    config.transport === 'sse'
      ? new SSEClientTransport(url, options)
      : new StreamableHTTPClientTransport(url, options);
  const waiting = new Set<RequestId>();

  const answerFor = (id: RequestId, code: number, message: string) => {
    if (waiting.delete(id)) outer.onmessage?.({ jsonrpc: '2.0', id, error: { code, message } });
  };

  // What broke a stream is told to `onerror` only, just before its end is told.
  let tooLong = false;
  const answerEnded = (id: RequestId) => {
    if (tooLong) answerFor(id, TOO_LONG_CODE, `the answer is longer than ${maxMessageBytes} bytes`);
    else answerFor(id, LOST_CODE, 'the stream of the answer ended without one');
    tooLong = false;
  };

  const outer: HttpTransport = {
    http,
    hasPerRequestStream: inner instanceof StreamableHTTPClientTransport,
    get sessionId() {
      return inner instanceof StreamableHTTPClientTransport ? inner.sessionId : undefined;
    },
    setProtocolVersion: (version) => inner.setProtocolVersion(version),
    start: () => inner.start(),
    async send(message: JSONRPCMessage, sendOptions?: TransportSendOptions) {
      const id = 'method' in message && 'id' in message ? message.id : undefined;
      if (id === undefined) return inner.send(message);
      waiting.add(id);
      try {
        if (inner instanceof StreamableHTTPClientTransport) {
          await inner.send(message, {
            ...sendOptions,
            onRequestStreamEnd: () => answerEnded(id),
          });
        } else {
          await inner.send(message);
        }
      } catch (error) {
        if (!isTooLong(error)) {
          waiting.delete(id);
          throw error;
        }
        answerFor(id, TOO_LONG_CODE, `the answer is longer than ${maxMessageBytes} bytes`);
      }
    },
    async close() {
      await inner.close();
      http.close();
    },
    async endSession() {
      if (!(inner instanceof StreamableHTTPClientTransport) || inner.sessionId === undefined) return;
      await inner.terminateSession().catch(() => undefined);
    },
  };

  inner.onmessage = (message: JSONRPCMessage) => {
    if (!('method' in message) && message.id !== undefined) waiting.delete(message.id);
    outer.onmessage?.(message);
  };
  inner.onclose = () => outer.onclose?.();
  inner.onerror = (error: Error) => {
    if (error.message.includes(BodyTooLongError.name)) tooLong = true;
    outer.onerror?.(error);
  };
  return outer;
}

function isTooLong(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause)
    if (cause instanceof BodyTooLongError) return true;
  return false;
}
