/**
 * A loopback HTTP server behind the guard. It answers 403 before a body is read (also to `Expect: 100-continue`, which is
 * answered only once the guard has let the request in), turns what a handler throws into a plain 500, and closes without
 * leaving a socket behind.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type GuardOptions, type Refusal, refusalOf } from './guard.ts';

export type Handler = (request: IncomingMessage, response: ServerResponse) => void | Promise<void>;

export interface ServerOptions {
  /** Default 127.0.0.1. */
  host?: string;
  /** Default 0: any free one. */
  port?: number;
  guard?: Omit<GuardOptions, 'port'>;
  /** What a handler threw; the caller saw a 500 without it. */
  onError?: (error: unknown) => void;
}

export interface RunningServer {
  url: string;
  port: number;
  /**
   * Stops listening, lets requests in flight end for `graceMs` (default 1,000), then closes what is left. Resolves when
   * the last socket is closed; calling it again answers the same promise.
   */
  close(graceMs?: number): Promise<void>;
}

/** Starts listening. Rejects with Node's error where it cannot (`EADDRINUSE`, `EACCES`). */
export async function startServer(handler: Handler, options: ServerOptions = {}): Promise<RunningServer> {
  const { host = '127.0.0.1', port = 0, guard = {}, onError = () => {} } = options;
  const server = createServer();
  // Clients keep their connections; Node's 5 seconds would close many just as a request is on its way.
  server.keepAliveTimeout = 75_000;

  let closing: Promise<void> | undefined;
  const serve = (request: IncomingMessage, response: ServerResponse, expectsContinue: boolean): void => {
    // A connection that turns idle while the server closes would keep it open.
    response.once('close', () => {
      if (closing !== undefined) setImmediate(() => server.closeIdleConnections());
    });
    const refusal = ambiguous(request) ?? refusalOf(request.headers, { ...guard, port: portOf(server) });
    if (refusal !== undefined) {
      const body = `${refusal.reason}\n`;
      response.writeHead(refusal.status, {
        'Content-Type': 'text/plain; charset=utf-8',
        'Content-Length': Buffer.byteLength(body),
        // The body is not read, so this connection has no next request.
        Connection: 'close',
      });
      response.end(body);
      return;
    }
    if (expectsContinue) response.writeContinue();
    Promise.resolve()
      .then(() => handler(request, response))
      .catch((error: unknown) => {
        onError(error);
        if (response.headersSent) response.destroy();
        else response.writeHead(500, { 'Content-Length': 0, Connection: 'close' }).end();
      });
  };
  server.on('request', (request, response) => serve(request, response, false));
  server.on('checkContinue', (request, response) => serve(request, response, true));

  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.removeListener('error', reject);
      resolve();
    });
  });
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${portOf(server)}`,
    port: portOf(server),
    close: (graceMs = 1_000) => {
      closing ??= closeServer(server, graceMs);
      return closing;
    },
  };
}

/** Two hosts in one request: which of them is meant, the guard and the handler might see differently. */
function ambiguous(request: IncomingMessage): Refusal | undefined {
  const hosts = request.headersDistinct.host ?? [];
  if (hosts.length === 1 && request.url?.startsWith('/') === true) return undefined;
  return { status: 403, reason: 'The request names no host, more than one, or another one in its target.' };
}

function closeServer(server: Server, graceMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const deadline = setTimeout(() => server.closeAllConnections(), graceMs);
    server.close((error) => {
      clearTimeout(deadline);
      if (error === undefined || error === null) resolve();
      else reject(error);
    });
    server.closeIdleConnections();
  });
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo | null)?.port ?? 0;
}

/** A body is larger than its limit. */
export class BodyTooLarge extends Error {
  constructor(maxBytes: number) {
    super(`The request body is larger than ${maxBytes} bytes.`);
    this.name = 'BodyTooLarge';
  }
}

/** Reads a request body whole. Throws `BodyTooLarge` without reading on; rejects where the client goes away. */
export async function readRequestBody(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  // The stream stays open past a throw, so that the refusal can be answered on its socket.
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw new BodyTooLarge(maxBytes);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, bytes);
}
