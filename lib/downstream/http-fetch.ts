/**
 * `fetch` over node:http for one downstream server.
 *
 * It stands in for the built-in one because that one cannot say whether a request was sent at all, cannot drop sockets
 * that went idle (a thawed function's are dead, and a server closes its own after a few seconds), and has no bound on what
 * it reads. What always holds: a request that fails before it had a connection fails with NotSentError; a socket idle for
 * over IDLE_MS is never used again; a body, or one event of a stream, longer than `maxBytes` fails with BodyTooLongError;
 * whatever a server answers (a status that does not exist, an upgrade nobody asked for) fails its own request at most.
 * Redirects are handed back as they came: the SDK follows those within the origin and no other.
 */
import { setMaxListeners } from 'node:events';
import http from 'node:http';
import https from 'node:https';
import type { Socket } from 'node:net';
import type { FetchLike } from '@modelcontextprotocol/client';

/** Nothing of the request has left this process. */
export class NotSentError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'NotSentError';
  }
}

export class BodyTooLongError extends Error {
  constructor(maxBytes: number) {
    super(`the answer is longer than ${maxBytes} bytes`);
    this.name = 'BodyTooLongError';
  }
}

export interface HttpFetch {
  fetch: FetchLike;
  /** Closes the sockets that have been idle for over IDLE_MS. */
  dropIdle(): void;
  /** Closes every socket. */
  close(): void;
}

/** Sockets idle for longer are not used again; see "Downstream servers" in docs/architecture.md. */
export const IDLE_MS = 2000;
const CONNECT_TIMEOUT_MS = 10_000;
/** Statuses that a Response may not have a body with. */
const BODYLESS = [204, 205, 304];

export interface HttpFetchOptions {
  maxBytes: number;
  /** Epoch ms; default Date.now. It must go on while a function is frozen, so a monotonic clock will not do. */
  now?: () => number;
}

export function createHttpFetch(options: HttpFetchOptions): HttpFetch {
  const now = options.now ?? Date.now;
  const agentOptions = { keepAlive: true, scheduling: 'lifo' as const, maxFreeSockets: 64 };
  const agents = { http: new http.Agent(agentOptions), https: new https.Agent(agentOptions) };
  const all = [agents.http, agents.https];
  /** When a socket was last heard of. Each has its own time: while one is busy others may die. */
  const lastUsed = new WeakMap<Socket, number>();

  const dropIdle = () => {
    const oldest = now() - IDLE_MS;
    for (const agent of all) {
      for (const sockets of Object.values(agent.freeSockets)) {
        for (const socket of sockets ?? []) if ((lastUsed.get(socket) ?? 0) < oldest) socket.destroy();
      }
    }
  };

  const send = (url: URL, init: RequestInit): Promise<Response> =>
    new Promise((resolve, reject) => {
      const signal = init.signal ?? undefined;
      if (signal?.aborted === true) return reject(new NotSentError('aborted', { cause: signal.reason }));
      // The transport hands in one signal with all its requests; Node takes more than ten listeners for a leak.
      if (signal !== undefined) setMaxListeners(0, signal);
      const secure = url.protocol === 'https:';
      const request = (secure ? https : http).request(url, {
        method: init.method ?? 'GET',
        headers: headersOf(init),
        agent: secure ? agents.https : agents.http,
        ...(signal === undefined ? {} : { signal }),
      });
      let connected = false;
      request.once('socket', (socket) => {
        lastUsed.set(socket, now());
        if (!socket.connecting) {
          connected = true;
          return;
        }
        socket.setTimeout(CONNECT_TIMEOUT_MS, () => {
          if (!connected) request.destroy(Object.assign(new Error('connect'), { code: 'ETIMEDOUT' }));
        });
        socket.once(secure ? 'secureConnect' : 'connect', () => {
          connected = true;
          socket.setTimeout(0);
        });
      });
      request.once('error', (error: NodeJS.ErrnoException) => {
        if (connected)
          reject(new Error(`the connection broke (${error.code ?? error.name})`, { cause: error }));
        else reject(new NotSentError(connectProblem(error), { cause: error }));
      });
      request.once('response', (incoming) => {
        const { socket } = incoming;
        incoming.once('close', () => lastUsed.set(socket, now()));
        try {
          resolve(toResponse(incoming, options.maxBytes));
        } catch (cause) {
          incoming.destroy();
          reject(new Error('the answer is not valid HTTP', { cause }));
        }
      });
      request.once('upgrade', (_incoming, socket) => {
        socket.destroy();
        reject(new Error('the answer changes the protocol'));
      });
      request.end(typeof init.body === 'string' ? init.body : undefined);
    });

  return {
    fetch: (url, init) => {
      dropIdle();
      return send(new URL(url), init ?? {});
    },
    dropIdle,
    close: () => {
      for (const agent of all) agent.destroy();
    },
  };
}

function headersOf(init: RequestInit): Record<string, string> {
  const headers: Record<string, string> = {};
  new Headers(init.headers).forEach((value, name) => {
    headers[name] = value;
  });
  if (typeof init.body === 'string') headers['content-length'] = String(Buffer.byteLength(init.body));
  return headers;
}

function toResponse(incoming: http.IncomingMessage, maxBytes: number): Response {
  const headers = new Headers();
  for (const [name, value] of Object.entries(incoming.headers)) {
    for (const one of Array.isArray(value) ? value : [value])
      if (one !== undefined) headers.append(name, one);
  }
  const status = incoming.statusCode ?? 502;
  // Its text is left out: it may hold what a Response does not take, and says nothing that the status does not.
  const init = { status, headers };
  if (BODYLESS.includes(status)) {
    incoming.resume();
    return new Response(null, init);
  }
  const events = (headers.get('content-type') ?? '').startsWith('text/event-stream');
  return new Response(webStream(incoming, maxBytes, events), init);
}

/** A web stream over the incoming message. Leaner than Readable.toWeb, and counts what goes through. */
function webStream(
  incoming: http.IncomingMessage,
  maxBytes: number,
  events: boolean,
): ReadableStream<Uint8Array> {
  let bytes = 0;
  let open = true;
  return new ReadableStream<Uint8Array>({
    start(controller) {
      const fail = (error: Error) => {
        if (!open) return;
        open = false;
        controller.error(error);
      };
      incoming.on('data', (chunk: Buffer) => {
        // A stream of events goes on for as long as its server likes: an empty line begins to count anew.
        const eventEnd = events ? Math.max(chunk.lastIndexOf('\n\n'), chunk.lastIndexOf('\r\n\r\n')) : -1;
        bytes = eventEnd === -1 ? bytes + chunk.length : chunk.length - eventEnd;
        if (bytes > maxBytes) {
          fail(new BodyTooLongError(maxBytes));
          incoming.destroy();
          return;
        }
        if (!open) return;
        controller.enqueue(chunk);
        if ((controller.desiredSize ?? 1) <= 0) incoming.pause();
      });
      incoming.once('end', () => {
        if (!open) return;
        open = false;
        controller.close();
      });
      incoming.once('error', fail);
      incoming.once('close', () => fail(new Error('the connection broke in the middle of an answer')));
    },
    pull() {
      incoming.resume();
    },
    cancel() {
      open = false;
      incoming.destroy();
    },
  });
}

function connectProblem(error: NodeJS.ErrnoException): string {
  switch (error.code) {
    case 'ECONNREFUSED':
      return 'the connection was refused';
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return 'its host name was not found';
    case 'ETIMEDOUT':
      return `no connection within ${CONNECT_TIMEOUT_MS / 1000} s`;
    default:
      return `no connection (${error.code ?? error.name})`;
  }
}
