/** The handler between a function URL's event and Lambda's stream: order, back-pressure, ends of every kind. */
import { once } from 'node:events';
import { Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { createMcpEndpoint, type McpEndpointDependencies } from '../../functions/mcp-endpoint/handler.ts';
import type { HttpStreams } from '../../lib/mcp/function-url/send.ts';
import type { LogEntry } from '../../lib/telemetry/telemetry.ts';
import { HOST, type UrlRequest, urlEvent } from './url-event.ts';

type Fetch = McpEndpointDependencies['endpoint']['fetch'];
interface Head {
  statusCode: number;
  headers: Record<string, string>;
}

/** Lambda's stream, as slow as the test wants it. */
class ResponseStream extends Writable {
  head: Head | undefined;
  text = '';
  /** Writes that the stream has not taken yet. */
  held: (() => void)[] | undefined;

  constructor(slow = false) {
    super({ highWaterMark: 1024 });
    if (slow) this.held = [];
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.text += chunk.toString();
    if (this.held === undefined) done();
    else {
      this.held.push(done);
      this.emit('held');
    }
  }
}

/** As the runtime: the head goes out with the first write. */
const http: HttpStreams = {
  from(stream, head) {
    const write = stream.write.bind(stream);
    stream.write = ((...args: Parameters<typeof write>) => {
      (stream as ResponseStream).head ??= head;
      return write(...args);
    }) as typeof write;
    return stream;
  },
};

function setUp(fetch: Fetch, options: { holdMs?: number; slow?: boolean; remainingMs?: number } = {}) {
  const logged: LogEntry[] = [];
  const stream = new ResponseStream(options.slow);
  const handler = createMcpEndpoint({
    endpoint: { fetch, close: () => Promise.resolve() },
    http,
    log: (entry) => logged.push(entry),
    ...(options.holdMs === undefined ? {} : { holdMs: options.holdMs }),
  });
  const context = { getRemainingTimeInMillis: () => options.remainingMs ?? 60_000 };
  const answer = (event: unknown) => handler(event, stream, context);
  return { answer, stream, logged };
}

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

describe('the request', () => {
  async function seen(request: UrlRequest) {
    let given: Record<string, unknown> = {};
    const { answer } = setUp(async (web, context) => {
      given = {
        url: web.url,
        method: web.method,
        headers: Object.fromEntries(web.headers),
        body: await web.text(),
        context,
      };
      return new Response('');
    });
    await answer(urlEvent(request));
    return given;
  }
  const headers = {
    host: HOST,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
  };

  it.each<[string, UrlRequest, object]>([
    ['a text body', { body: '{"a":"ü"}' }, { method: 'POST', body: '{"a":"ü"}' }],
    ['a body in base64', { body: bytes('{"a":"ü"}') }, { method: 'POST', body: '{"a":"ü"}' }],
    ['no body', {}, { method: 'POST', body: '' }],
    ['a method without a body', { method: 'GET', body: 'x' }, { method: 'GET', body: '' }],
    [
      'a path and a query',
      { path: '/a b/%C3%BC', query: 'x=1&y' },
      { url: `https://${HOST}/a%20b/%C3%BC?x=1&y` },
    ],
    [
      'another Host',
      { headers: { host: 'evil.example' } },
      { url: `https://${HOST}/mcp`, headers: { ...headers, host: 'evil.example' } },
    ],
    [
      'headers of the connection, and cookies',
      { headers: { connection: 'keep-alive', 'transfer-encoding': 'chunked', cookie: 'a=b', 'x-a': 'b' } },
      { headers: { ...headers, 'x-a': 'b' } },
    ],
    [
      'who signed it',
      { userArn: 'arn:aws:iam::123456789012:user/ada' },
      { context: { iamArn: 'arn:aws:iam::123456789012:user/ada' } },
    ],
    ['nobody who signed it', {}, { context: {} }],
  ])('%s', async (_, request, expected) => {
    expect(await seen(request)).toMatchObject(expected);
  });

  it('gives a large body in pieces, and none before it is read', async () => {
    const body = bytes('x'.repeat(1_000_000));
    const sizes: number[] = [];
    const { answer } = setUp(async (web) => {
      for await (const piece of web.body ?? []) sizes.push(piece.byteLength);
      return new Response('');
    });
    await answer(urlEvent({ body }));
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(1_000_000);
    expect(Math.max(...sizes)).toBeLessThan(200_000);
  });

  it.each([null, {}, { version: '1.0' }, { ...urlEvent(), requestContext: {} }])(
    'is refused where the event is none of a function URL: %j',
    async (event) => {
      await expect(setUp(() => Promise.reject(new Error('unused'))).answer(event)).rejects.toThrow(
        'mcp-endpoint: this is no event of a function URL',
      );
    },
  );
});

describe('the answer', () => {
  it('has its status and headers, without those of a connection and without cookies', async () => {
    const { answer, stream } = setUp(() =>
      Promise.resolve(
        new Response('{}', {
          status: 201,
          headers: {
            'content-type': 'application/json',
            connection: 'keep-alive',
            'set-cookie': 'a=b',
            'x-a': 'b',
          },
        }),
      ),
    );
    await answer(urlEvent());
    expect(stream.head).toEqual({
      statusCode: 201,
      headers: { 'content-type': 'application/json', 'x-a': 'b' },
    });
    expect(stream.text).toBe('{}');
    expect(stream.writableFinished).toBe(true);
  });

  it('sends its head also where it has no body', async () => {
    const { answer, stream } = setUp(() => Promise.resolve(new Response(null, { status: 202 })));
    await answer(urlEvent());
    expect(stream.head?.statusCode).toBe(202);
    expect(stream.writableFinished).toBe(true);
  });

  it('is read no faster than the stream takes it', async () => {
    let pulled = 0;
    const body = new ReadableStream(
      {
        pull(controller) {
          pulled += 1;
          controller.enqueue(bytes('x'.repeat(1024)));
          if (pulled === 50) controller.close();
        },
      },
      { highWaterMark: 0 },
    );
    const { answer, stream } = setUp(() => Promise.resolve(new Response(body)), { slow: true });
    const answered = answer(urlEvent());
    await once(stream, 'held');
    // One is with the stream, and not a second one is asked for before it has gone.
    await new Promise(setImmediate);
    expect(pulled).toBe(1);
    const held = stream.held ?? [];
    stream.held = undefined;
    for (const done of held) done();
    await answered;
    expect(pulled).toBe(50);
    expect(stream.text).toHaveLength(50 * 1024);
  });

  it('is a 500 without a detail where the endpoint fails, and the log has its name', async () => {
    const { answer, stream, logged } = setUp(() => Promise.reject(new TypeError('a secret')));
    await answer(urlEvent());
    expect(stream.head?.statusCode).toBe(500);
    expect(stream.text).not.toContain('secret');
    expect(logged).toMatchObject([{ level: 'error', event: 'endpoint-failed', error: 'TypeError' }]);
  });

  it('ends where its body breaks off, and the log says so', async () => {
    let sent = false;
    const body = new ReadableStream({
      pull(controller) {
        if (sent) controller.error(new RangeError('broken'));
        else controller.enqueue(bytes('first'));
        sent = true;
      },
    });
    const { answer, stream, logged } = setUp(() => Promise.resolve(new Response(body)));
    await answer(urlEvent());
    expect(stream.text).toBe('first');
    expect(stream.writableFinished).toBe(true);
    expect(logged).toMatchObject([{ level: 'error', event: 'answer-cut-short', error: 'RangeError' }]);
  });
});

describe('an answer that is held', () => {
  /** A stream of events that goes on until somebody ends it, as the SDK's do. */
  const endless: Fetch = (request) => {
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(bytes(': first\n\n'));
        request.signal.addEventListener('abort', () => controller.close());
      },
    });
    return Promise.resolve(new Response(body, { headers: { 'content-type': 'text/event-stream' } }));
  };

  it.each([
    ['its time', { holdMs: 30 }],
    ['the function', { remainingMs: 1030 }],
  ])('ends cleanly with %s', async (_, options) => {
    const { answer, stream, logged } = setUp(endless, options);
    await answer(urlEvent());
    expect(stream.text).toBe(': first\n\n');
    expect(stream.head?.statusCode).toBe(200);
    expect(stream.writableFinished).toBe(true);
    expect(logged).toEqual([]);
  });

  it('ends also where its body takes no notice', async () => {
    let cancelled = false;
    const body = new ReadableStream({
      start: (controller) => controller.enqueue(bytes('deaf')),
      cancel() {
        cancelled = true;
      },
    });
    const { answer, stream } = setUp(() => Promise.resolve(new Response(body)), { holdMs: 30 });
    await answer(urlEvent());
    expect(stream.text).toBe('deaf');
    expect(cancelled).toBe(true);
  });

  it('is a 504 where there is no answer by then', async () => {
    const { answer, stream } = setUp(() => new Promise(() => undefined), { holdMs: 30 });
    await answer(urlEvent());
    expect(stream.head?.statusCode).toBe(504);
    expect(JSON.parse(stream.text)).toEqual({
      jsonrpc: '2.0',
      id: null,
      error: { code: -32603, message: 'no answer within 50 s; what was begun goes on' },
    });
  });

  it('ends when its reader goes, and the request is told', async () => {
    let told = false;
    const { answer, stream, logged } = setUp((request, context) => {
      request.signal.addEventListener('abort', () => {
        told = true;
      });
      return endless(request, context);
    });
    const answered = answer(urlEvent());
    while (stream.text === '') await new Promise(setImmediate);
    stream.destroy();
    await answered;
    expect(told).toBe(true);
    expect(logged).toEqual([]);
  });
});
