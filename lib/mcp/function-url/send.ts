/**
 * A web Response on its way through Lambda's response stream: status and headers first, then the body as it comes, no
 * faster than the stream takes it.
 *
 * The runtime sends status and headers with the first write, so there is always one, also where there is no body.
 * Source: Lambda developer guide, "Response streaming for Lambda functions".
 */
import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';

/** What the Node.js runtime's global `awslambda` has of the class that puts status and headers before a stream. */
export interface HttpStreams {
  from(stream: Writable, head: { statusCode: number; headers: Record<string, string> }): Writable;
}

/** The function URL frames the response itself; cookies are never set. */
const DROPPED = new Set(['connection', 'keep-alive', 'transfer-encoding', 'set-cookie']);

/**
 * Sends the response and ends the stream. When `signal` aborts, the body is cancelled and the stream ends there, cleanly:
 * what was sent of an SSE stream stays good. Rejects with the body's own fault, the stream being ended too.
 */
export async function sendResponse(
  response: Response,
  stream: Writable,
  http: HttpStreams,
  signal: AbortSignal,
): Promise<void> {
  const out = http.from(stream, { statusCode: response.status, headers: headersOf(response) });
  const reader = response.body?.getReader();
  const stop = (): void => {
    reader?.cancel().catch(() => undefined);
  };
  signal.addEventListener('abort', stop, { once: true });
  try {
    let written = false;
    while (reader !== undefined && !signal.aborted) {
      const { done, value } = await reader.read();
      if (done) break;
      if (signal.aborted) break;
      written = true;
      if (!out.write(value)) await drained(out, signal);
    }
    if (!written) out.write('');
  } finally {
    signal.removeEventListener('abort', stop);
    if (signal.aborted) stop();
    await ended(out);
  }
}

function headersOf(response: Response): Record<string, string> {
  return Object.fromEntries([...response.headers].filter(([name]) => !DROPPED.has(name)));
}

/** Resolves when the stream takes more, or nobody waits for it any more. */
async function drained(out: Writable, signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(out, 'drain', { signal }).catch(() => undefined);
}

/** Resolves when everything has gone out, or cannot. */
async function ended(out: Writable): Promise<void> {
  if (!out.destroyed) out.end();
  await finished(out).catch(() => undefined);
}
