import { spawn } from 'node:child_process';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { callTool, type ToolCall } from '../../lib/downstream/call.ts';
import { readCatalog } from '../../lib/downstream/catalog.ts';
import type { Pool } from '../../lib/downstream/pool.ts';
import { listen, modernServer, sessionServer } from './fixtures/http-servers.ts';
import { afterTest, MODULES, poolOf, until } from './fixtures/setup.ts';

const web = (pool: Pool, tool: string, args: ToolCall['arguments'] = {}, more: Partial<ToolCall> = {}) =>
  callTool(pool, { server: 'web', tool, arguments: args, ...more });
const textOf = async (calling: ReturnType<typeof callTool>) => (await calling).content[0]?.text as string;
const connectionOf = (pool: Pool) => pool.servers.get('web')?.connections.get('pool')?.connection;

describe('both protocol eras', () => {
  it.each([
    ['reject', 'modern'],
    [undefined, 'modern'],
  ] as const)('a v2 server (legacy: %s) is spoken to in the %s era', async (legacy, era) => {
    const server = await modernServer(legacy === undefined ? {} : { legacy });
    const pool = poolOf({ web: { url: server.url, headers: { 'x-team': 'blue' } } });
    expect(await textOf(web(pool, 'echo', { text: 'hello' }))).toBe('hello');
    expect(connectionOf(pool)?.era).toBe(era);
    expect(server.headers['x-team']).toBe('blue');
    expect((await web(pool, 'structured')).structured).toEqual({ n: 1 });
  });

  it('a v1 server with sessions is spoken to in the legacy era, and its session is ended', async () => {
    const server = await sessionServer();
    const pool = poolOf({ web: { url: server.url, type: 'streamable-http' } });
    expect(await textOf(web(pool, 'echo', { text: 'hello' }))).toBe('hello');
    expect(connectionOf(pool)?.era).toBe('legacy');
    expect(server.sessions()).toBe(1);
    await pool.close();
    expect(server.sessions()).toBe(0);
  });

  it.each([404, 400])(
    'a session that the server forgot (%i) is opened anew, and the call is made once',
    async (status) => {
      const server = await sessionServer(status);
      const pool = poolOf({ web: { url: server.url } });
      await web(pool, 'echo', { text: 'one' });
      server.forget();
      expect(await textOf(web(pool, 'echo', { text: 'two' }))).toBe('two');
      expect(server.calls).toEqual(['one', 'two']);
    },
  );

  it('an argument that belongs into a header is sent there too', async () => {
    const server = await modernServer();
    const pool = poolOf({ web: { url: server.url } });
    expect(await textOf(web(pool, 'regional', { region: 'eu' }))).toBe('eu');
    expect(server.headers['mcp-param-region']).toBe('eu');
  });
});

describe('failures', () => {
  it('nobody listens: never sent', async () => {
    const port = await freePort();
    const pool = poolOf({ web: { url: `http://127.0.0.1:${port}/mcp` } });
    await expect(web(pool, 'echo')).rejects.toMatchObject({
      kind: 'ServerUnavailable',
      message: 'server "web" cannot be reached: the connection was refused',
    });
  });

  const statuses: [status: number, kind: string][] = [
    [400, 'ServerUnavailable'],
    [401, 'ServerUnavailable'],
    [408, 'OutcomeUnknown'],
    [403, 'ServerUnavailable'],
    [429, 'ServerUnavailable'],
    [503, 'ServerUnavailable'],
    [500, 'OutcomeUnknown'],
    [502, 'OutcomeUnknown'],
    [504, 'OutcomeUnknown'],
  ];
  it.each(statuses)('HTTP %i to a call is %s', async (status, kind) => {
    const server = await answering((method, reply) =>
      method === 'tools/call' ? reply.status(status) : undefined,
    );
    const pool = poolOf({ web: { url: server.url } });
    await expect(web(pool, 'echo')).rejects.toMatchObject({
      kind,
      message: expect.stringContaining(`HTTP ${status}`),
    });
  });

  it('credentials that are refused at the start are named as that', async () => {
    const server = await listen((_, response) => response.writeHead(401).end('no'));
    const pool = poolOf({ web: { url: server.url, headers: { authorization: 'Bearer hunter22' } } });
    const error = await web(pool, 'echo').catch((thrown: Error) => thrown);
    expect(error).toMatchObject({ kind: 'ServerUnavailable', message: expect.stringContaining('HTTP 401') });
    expect((error as Error).message).not.toContain('hunter22');
  });

  it('a socket that breaks after the call was sent leaves the outcome unknown, at once', async () => {
    const server = await answering((method, reply) => (method === 'tools/call' ? reply.hangUp() : undefined));
    const pool = poolOf({ web: { url: server.url } });
    await expect(web(pool, 'echo')).rejects.toMatchObject({ kind: 'OutcomeUnknown' });
    await expect(web(pool, 'echo', {}, { retryUnknown: true })).rejects.toMatchObject({
      kind: 'TransportError',
    });
  });

  it('a stream of events that ends without an answer leaves the outcome unknown, at once', async () => {
    const server = await answering((method, reply) =>
      method === 'tools/call' ? reply.events('') : undefined,
    );
    const pool = poolOf({ web: { url: server.url } });
    await expect(web(pool, 'echo')).rejects.toMatchObject({
      kind: 'OutcomeUnknown',
      message: expect.stringContaining('the connection broke'),
    });
  });

  it('an answer over the limit is refused', async () => {
    const server = await answering((method, reply) =>
      method === 'tools/call' ? reply.text('x'.repeat(18 * 1024 * 1024)) : undefined,
    );
    const pool = poolOf({ web: { url: server.url } });
    await expect(web(pool, 'echo')).rejects.toMatchObject({ kind: 'ResultTooLarge' });
  });

  it('so is one in a stream of events', async () => {
    const long = JSON.stringify({
      jsonrpc: '2.0',
      id: 2,
      result: { content: [{ type: 'text', text: 'x'.repeat(18e6) }] },
    });
    const server = await answering((method, reply) =>
      method === 'tools/call' ? reply.events(`event: message\ndata: ${long}\n\n`) : undefined,
    );
    const pool = poolOf({ web: { url: server.url } });
    await expect(web(pool, 'echo')).rejects.toMatchObject({ kind: 'ResultTooLarge' });
  });

  it('a call that is cancelled closes its request', async () => {
    const server = await modernServer();
    const pool = poolOf({ web: { url: server.url } });
    const controller = new AbortController();
    const calling = expect(
      web(pool, 'slow', { ms: 60_000 }, { signal: controller.signal }),
    ).rejects.toMatchObject({
      kind: 'Cancelled',
    });
    await until(() => server.calls.includes('slow'), 'the call arrives');
    controller.abort();
    await calling;
    await until(() => server.cancelled.includes('slow'), 'the cancellation arrives');
  });

  it('a call past its limit is ended', async () => {
    const server = await modernServer();
    const pool = poolOf({ web: { url: server.url } });
    await expect(web(pool, 'slow', { ms: 60_000 }, { timeoutMs: 100 })).rejects.toMatchObject({
      kind: 'OutcomeUnknown',
    });
    await until(() => server.cancelled.includes('slow'), 'the cancellation arrives');
  });

  it('a stream that goes on past the time limit, or past its answer, is closed', async () => {
    let endless = 'event: message\ndata: {}\n\n';
    const closed: string[] = [];
    const server = await answering((method, reply) =>
      method === 'tools/call' ? reply.endless((id) => endless.replace('ID', id), closed) : undefined,
    );
    const pool = poolOf({ web: { url: server.url } });
    await expect(web(pool, 'echo', {}, { timeoutMs: 100 })).rejects.toMatchObject({ kind: 'OutcomeUnknown' });
    await until(() => closed.length === 1, 'the stream of the call that timed out is closed');
    endless = 'data: {"jsonrpc":"2.0","id":ID,"result":{"content":[]}}\n\n';
    await web(pool, 'echo');
    await until(() => closed.length === 2, 'the stream of the call that was answered is closed');
  });

  it('one server that cannot be reached does not fail the others of the catalog', async () => {
    const server = await modernServer();
    const port = await freePort();
    const pool = poolOf({ web: { url: server.url }, gone: { url: `http://127.0.0.1:${port}/mcp` } });
    const catalog = await readCatalog(pool);
    expect(catalog.tools.map((tool) => tool.name)).toEqual(['echo', 'slow', 'structured', 'regional']);
    expect(catalog.unreachable).toEqual([{ server: 'gone', error: 'the connection was refused' }]);
  });
});

describe('sockets', () => {
  it('are reused by calls in a row', async () => {
    const server = await modernServer();
    const pool = poolOf({ web: { url: server.url } });
    for (let n = 0; n < 5; n++) await web(pool, 'echo', { text: `${n}` });
    expect(server.sockets.length).toBe(1);
  });

  it.each([3, 30])(
    'carry calls at the same time, up to maxConcurrency %i, without a warning',
    async (maxConcurrency) => {
      const warnings: string[] = [];
      const onWarning = (warning: Error) => void warnings.push(warning.message);
      process.on('warning', onWarning);
      const server = await modernServer();
      const pool = poolOf({ web: { url: server.url, maxConcurrency } });
      await Promise.all(Array.from({ length: 40 }, (_, n) => web(pool, 'echo', { text: `${n}` })));
      await new Promise((next) => setImmediate(next));
      process.off('warning', onWarning);
      expect(server.sockets.length).toBeLessThanOrEqual(maxConcurrency);
      expect(warnings).toEqual([]);
    },
  );
});

it('server-everything over streamable HTTP answers', async () => {
  const port = await freePort();
  const child = spawn(
    process.execPath,
    [join(MODULES, '@modelcontextprotocol/server-everything/dist/index.js'), 'streamableHttp'],
    {
      env: { ...process.env, PORT: String(port) },
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  );
  const exited = new Promise((resolve) => child.once('exit', resolve));
  afterTest(async () => {
    child.kill('SIGKILL');
    await exited;
  });
  await new Promise<void>((resolve) => {
    child.stderr.on('data', (chunk: Buffer) => {
      if (chunk.toString().includes('listening')) resolve();
    });
  });
  const pool = poolOf({ web: { url: `http://127.0.0.1:${port}/mcp` } });
  expect(await textOf(web(pool, 'echo', { message: 'hello' }))).toBe('Echo: hello');
  expect((await web(pool, 'get-structured-content', { location: 'Chicago' })).structured).toMatchObject({
    conditions: expect.any(String),
  });
  const image = await web(pool, 'get-tiny-image');
  expect(image.content.map((block) => block.type)).toEqual(['text', 'image', 'text']);
  const seen: number[] = [];
  await web(
    pool,
    'trigger-long-running-operation',
    { duration: 0.2, steps: 2 },
    { onProgress: ({ progress }) => seen.push(progress) },
  );
  expect(seen.at(-1)).toBe(2);
});

it('a legacy HTTP+SSE server answers', async () => {
  const port = await freePort();
  const child = spawn(
    process.execPath,
    [join(MODULES, '@modelcontextprotocol/server-everything/dist/index.js'), 'sse'],
    {
      env: { ...process.env, PORT: String(port) },
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  );
  const exited = new Promise((resolve) => child.once('exit', resolve));
  afterTest(async () => {
    child.kill('SIGKILL');
    await exited;
  });
  await new Promise<void>((resolve) => {
    child.stderr.on('data', (chunk: Buffer) => {
      if (/running|listening/i.test(chunk.toString())) resolve();
    });
  });
  const pool = poolOf({ web: { url: `http://127.0.0.1:${port}/sse`, type: 'sse' } });
  expect(await textOf(web(pool, 'echo', { message: 'hello' }))).toBe('Echo: hello');
});

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise<void>((resolve) => server.close(() => resolve()));
  return port;
}

interface Reply {
  status(code: number): boolean;
  hangUp(): boolean;
  events(text: string): boolean;
  text(text: string): boolean;
  /** Events again and again, until the stream is closed. */
  endless(event: (id: string) => string, closed: string[]): boolean;
}

/** A legacy server by hand, whose answers can be bent. */
function answering(bend: (method: string, reply: Reply) => boolean | undefined) {
  return listen((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      if (request.method !== 'POST') return void response.writeHead(405).end();
      const { id, method } = JSON.parse(Buffer.concat(chunks).toString());
      const json = (result: object) =>
        response
          .writeHead(200, { 'content-type': 'application/json' })
          .end(JSON.stringify({ jsonrpc: '2.0', id, result }));
      const reply: Reply = {
        status: (code) => Boolean(response.writeHead(code).end('refused')),
        hangUp: () => Boolean(request.socket.destroy()),
        events: (text) => Boolean(response.writeHead(200, { 'content-type': 'text/event-stream' }).end(text)),
        text: (text) => Boolean(json({ content: [{ type: 'text', text }] })),
        endless(event, closed) {
          response.writeHead(200, { 'content-type': 'text/event-stream' });
          const timer = setInterval(() => response.write(event(String(id))), 5);
          response.once('close', () => {
            clearInterval(timer);
            closed.push(String(id));
          });
          return true;
        },
      };
      if (bend(method, reply) === true) return;
      if (method === 'initialize') {
        json({
          protocolVersion: '2025-06-18',
          capabilities: { tools: {} },
          serverInfo: { name: 'bent', version: '1' },
        });
      } else if (method === 'tools/list')
        json({ tools: [{ name: 'echo', inputSchema: { type: 'object' } }] });
      else if (id === undefined) response.writeHead(202).end();
      else response.writeHead(400).end();
    });
  });
}
