import { describe, expect, it } from 'vitest';
import { BodyTooLongError, createHttpFetch, NotSentError } from '../../lib/downstream/http-fetch.ts';
import { listen } from './fixtures/http-servers.ts';
import { afterTest } from './fixtures/setup.ts';

function fetchAt(clock: { now: number }, maxBytes = 1024) {
  const http = createHttpFetch({ maxBytes, now: () => clock.now });
  afterTest(() => http.close());
  return http;
}

const post = { method: 'POST', body: '{"ü":1}', headers: { 'content-type': 'application/json' } };

describe('createHttpFetch', () => {
  it('sends method, headers and body, and answers with status, headers and body', async () => {
    const server = await listen((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const { method, url, headers } = request;
        const seen = { method, url, type: headers['content-type'], length: headers['content-length'] };
        response
          .writeHead(201, { 'x-two': ['a', 'b'] })
          .end(JSON.stringify({ ...seen, body: `${Buffer.concat(chunks)}` }));
      });
    });
    const answer = await fetchAt({ now: 0 }).fetch(server.url, post);
    expect(answer.status).toBe(201);
    expect(answer.headers.get('x-two')).toBe('a, b');
    expect(await answer.json()).toEqual({
      method: 'POST',
      url: '/mcp',
      type: 'application/json',
      length: '8',
      body: '{"ü":1}',
    });
  });

  it.each([
    [2000, 1],
    [2001, 2],
  ])('after %i ms of idleness %i sockets have been used', async (idle, sockets) => {
    const server = await listen((_, response) => response.end('ok'));
    const clock = { now: 1000 };
    const http = fetchAt(clock);
    await (await http.fetch(server.url)).text();
    await new Promise((next) => setImmediate(next));
    clock.now += idle;
    await (await http.fetch(server.url)).text();
    expect(server.sockets.length).toBe(sockets);
  });

  it('each socket has its own idleness', async () => {
    const server = await listen((_, response) => response.end('ok'));
    const clock = { now: 1000 };
    const http = fetchAt(clock);
    const get = async () => (await http.fetch(server.url)).text();
    await Promise.all([get(), get()]);
    for (let n = 0; n < 3; n++) {
      await new Promise((next) => setImmediate(next));
      clock.now += 1500;
      await get();
    }
    await new Promise((next) => setImmediate(next));
    await Promise.all([get(), get()]);
    // One was kept busy all the time; the other was idle for 4.5 s and is not used again.
    expect(server.sockets.length).toBe(3);
  });

  it('does not use a socket that died while it was idle', async () => {
    const server = await listen((_, response) => response.end('ok'));
    const clock = { now: 1000 };
    const http = fetchAt(clock);
    await (await http.fetch(server.url, post)).text();
    server.sockets[0]?.resetAndDestroy();
    clock.now += 10_000;
    expect((await http.fetch(server.url, post)).status).toBe(200);
  });

  it('tells what was never sent', async () => {
    const http = fetchAt({ now: 0 });
    await expect(http.fetch('http://127.0.0.1:1/mcp', post)).rejects.toBeInstanceOf(NotSentError);
    await expect(http.fetch('http://no-such-host.invalid/mcp', post)).rejects.toBeInstanceOf(NotSentError);
    await expect(
      http.fetch('http://127.0.0.1:1/mcp', { ...post, signal: AbortSignal.abort() }),
    ).rejects.toBeInstanceOf(NotSentError);
  });

  it('tells a broken connection from one that never was', async () => {
    const server = await listen((request) => request.socket.destroy());
    const error = await fetchAt({ now: 0 })
      .fetch(server.url, post)
      .catch((thrown: unknown) => thrown);
    expect(error).not.toBeInstanceOf(NotSentError);
    expect((error as Error).message).toBe('the connection broke (ECONNRESET)');
  });

  it('reads no more than it may, of a body and of one event', async () => {
    const server = await listen((request, response) => {
      const [, kind, size] = (request.url ?? '').split('/');
      response.writeHead(200, {
        'content-type': kind === 'events' ? 'text/event-stream' : 'application/json',
      });
      const part = `data: ${'x'.repeat(Number(size) - 6)}`;
      if (kind === 'json') response.end(part);
      else {
        // Three events, each written by itself.
        response.write(`${part}\n\n`, () => response.write(`${part}\n\n`, () => response.end(`${part}\n\n`)));
      }
    });
    const http = fetchAt({ now: 0 }, 2000);
    const read = async (path: string) => (await (await http.fetch(new URL(path, server.url))).text()).length;
    expect(await read('/json/2000')).toBe(2000);
    await expect(read('/json/2001')).rejects.toBeInstanceOf(BodyTooLongError);
    expect(await read('/events/1900')).toBe(3 * 1902);
  });

  it('ends one event that goes on for too long', async () => {
    const server = await listen((_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end(`data: ${'x'.repeat(5000)}`);
    });
    const answer = await fetchAt({ now: 0 }, 2000).fetch(server.url);
    await expect(answer.text()).rejects.toBeInstanceOf(BodyTooLongError);
  });

  it('fails a body that ends too early', async () => {
    const server = await listen((request, response) => {
      response.writeHead(200, { 'content-length': '100' }).write('half');
      response.once('drain', () => undefined);
      setImmediate(() => request.socket.destroy());
    });
    const answer = await fetchAt({ now: 0 }).fetch(server.url);
    await expect(answer.text()).rejects.toThrow();
  });

  it.each([
    ['a status that does not exist', 'HTTP/1.1 999 Odd\r\nContent-Length: 0\r\n\r\n'],
    ['a change of protocol', 'HTTP/1.1 101 Go\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n'],
    ['a broken header', 'HTTP/1.1 200 OK\r\nX-A: a\u0001b\r\nContent-Length: 0\r\n\r\n'],
    ['no HTTP at all', 'hello\r\n\r\n'],
  ])('%s fails the request and nothing else', async (_, bytes) => {
    const server = await listen((request) => request.socket.end(bytes));
    await expect(fetchAt({ now: 0 }).fetch(server.url, post)).rejects.toThrow(/answer|connection broke/);
  });

  it('takes any text of a status', async () => {
    const server = await listen((request) =>
      request.socket.end('HTTP/1.1 200 O\u0001K\r\nContent-Length: 2\r\n\r\nok', 'latin1'),
    );
    const answer = await fetchAt({ now: 0 }).fetch(server.url, post);
    expect([answer.status, answer.statusText, await answer.text()]).toEqual([200, '', 'ok']);
  });

  it('ends a request with its signal', async () => {
    const server = await listen(() => undefined);
    const controller = new AbortController();
    const fetching = fetchAt({ now: 0 }).fetch(server.url, { ...post, signal: controller.signal });
    const failing = expect(fetching).rejects.toThrow('the connection broke');
    await new Promise<void>((resolve) => server.http.once('request', () => resolve()));
    controller.abort();
    await failing;
  });

  it('does not leave the origin by a redirect', async () => {
    const other = await listen((_, response) => response.end('stolen'));
    const server = await listen((_, response) => response.writeHead(307, { location: other.url }).end());
    expect((await fetchAt({ now: 0 }).fetch(server.url, post)).status).toBe(307);
    expect(other.requests).toEqual([]);
  });
});
