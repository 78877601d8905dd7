/**
 * Streamable HTTP and the old HTTP+SSE transport, as the SDK has them, with three things added around: every request that
 * the server will never answer any more is answered with an error at once (the SDK leaves a call whose stream of events
 * ended early to its time limit), an answer over the limit names itself as such, and a request that is over (answered,
 * or given up by us) does not keep its socket: in the 2025 revisions the SDK reads on for as long as the server writes.
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

/** A stream that has brought its answer ends by itself within this time, so that its socket can be used again. */
const LINGER_MS = 1000;

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
  /** What ends the HTTP exchange of a request, until it has ended. Only where the SDK does not end it itself. */
  const exchanges = new Map<RequestId, AbortController>();

  const beginExchange = (id: RequestId): AbortSignal => {
    const exchange = new AbortController();
    exchanges.set(id, exchange);
    return exchange.signal;
  };
  const breakExchange = (id: RequestId) => {
    exchanges.get(id)?.abort();
    exchanges.delete(id);
  };

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
      if (id === undefined) {
        const givenUp = cancelledId(message);
        if (givenUp !== undefined) breakExchange(givenUp);
        return inner.send(message);
      }
      waiting.add(id);
      try {
        if (inner instanceof StreamableHTTPClientTransport) {
          await inner.send(message, {
            ...sendOptions,
            requestSignal: sendOptions?.requestSignal ?? beginExchange(id),
            onRequestStreamEnd: () => {
              exchanges.delete(id);
              answerEnded(id);
            },
          });
          // An answer that was no stream is read whole by now; a stream goes on.
          if (!waiting.has(id)) exchanges.delete(id);
        } else {
          await inner.send(message);
        }
      } catch (error) {
        exchanges.delete(id);
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
    if (!('method' in message) && message.id !== undefined) {
      const { id } = message;
      waiting.delete(id);
      if (exchanges.has(id)) setTimeout(() => breakExchange(id), LINGER_MS).unref();
    }
    outer.onmessage?.(message);
  };
  inner.onclose = () => outer.onclose?.();
  inner.onerror = (error: Error) => {
    if (error.message.includes(BodyTooLongError.name)) tooLong = true;
    outer.onerror?.(error);
  };
  return outer;
}

/** The request that a message tells the server we have given up. */
function cancelledId(message: JSONRPCMessage): RequestId | undefined {
  if (!('method' in message) || message.method !== 'notifications/cancelled') return undefined;
  const id = message.params?.requestId;
  return typeof id === 'string' || typeof id === 'number' ? id : undefined;
}

function isTooLong(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause)
    if (cause instanceof BodyTooLongError) return true;
  return false;
}
