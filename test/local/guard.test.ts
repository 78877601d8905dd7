/** The guard, as a table over headers, and then on every stand-in over its socket. */
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { request } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startDynamoDb } from '../../lib/local/dynamodb/service.ts';
import { refusalOf } from '../../lib/local/guard.ts';
import { type RunningServer, startServer } from '../../lib/local/http-server.ts';
import { createLambdaHandler } from '../../lib/local/lambda/api.ts';
import { createLambda } from '../../lib/local/lambda/functions.ts';
import { startS3 } from '../../lib/local/s3/service.ts';

const SIGNED = { authorization: 'AWS4-HMAC-SHA256 Credential=local/20261130/us-east-1/s3/aws4_request' };
const HOST = { host: '127.0.0.1:4566' };

describe('refusalOf', () => {
  const cases: [string, Record<string, string>, { signed?: boolean; allowedOrigins?: string[] }, boolean][] =
    [
      ['its own address', HOST, {}, true],
      ['localhost', { host: 'localhost:4566' }, {}, true],
      ['localhost in capitals', { host: 'LOCALHOST:4566' }, {}, true],
      ['IPv6 loopback', { host: '[::1]:4566' }, {}, true],
      ['no Host', {}, {}, false],
      ['an empty Host', { host: '' }, {}, false],
      ['another port', { host: '127.0.0.1:4567' }, {}, false],
      ['no port', { host: '127.0.0.1' }, {}, false],
      ['a rebound name', { host: 'attacker.example:4566' }, {}, false],
      ['a name that begins like its own', { host: 'localhost.attacker.example:4566' }, {}, false],
      ['a name that ends like its own', { host: 'attacker.example@127.0.0.1:4566' }, {}, false],
      ['another loopback address', { host: '127.0.0.2:4566' }, {}, false],
      ['an Origin', { ...HOST, origin: 'https://attacker.example' }, {}, false],
      ['its own Origin, not listed', { ...HOST, origin: 'http://127.0.0.1:4566' }, {}, false],
      ['the Origin null', { ...HOST, origin: 'null' }, {}, false],
      ['an empty Origin', { ...HOST, origin: '' }, {}, false],
      [
        'a listed Origin',
        { ...HOST, origin: 'http://localhost:3000' },
        { allowedOrigins: ['http://localhost:3000'] },
        true,
      ],
      [
        'an Origin that begins like a listed one',
        { ...HOST, origin: 'http://localhost:30001' },
        { allowedOrigins: ['http://localhost:3000'] },
        false,
      ],
      ['a cross-site request', { ...HOST, 'sec-fetch-site': 'cross-site' }, {}, false],
      ['a cross-site request in capitals', { ...HOST, 'sec-fetch-site': 'Cross-Site' }, {}, false],
      [
        'a cross-site request of a listed Origin',
        { ...HOST, origin: 'http://localhost:3000', 'sec-fetch-site': 'cross-site' },
        { allowedOrigins: ['http://localhost:3000'] },
        false,
      ],
      ['a same-origin request', { ...HOST, 'sec-fetch-site': 'same-origin' }, {}, true],
      ['an address typed by the user', { ...HOST, 'sec-fetch-site': 'none' }, {}, true],
      ['a signed request', { ...HOST, ...SIGNED }, { signed: true }, true],
      ['a request that is not signed', HOST, { signed: true }, false],
      ['another scheme', { ...HOST, authorization: 'Bearer AWS4-HMAC-SHA256 x' }, { signed: true }, false],
      [
        'a scheme without a signature',
        { ...HOST, authorization: 'AWS4-HMAC-SHA256' },
        { signed: true },
        false,
      ],
    ];
  it.each(cases)('%s', (_case, headers, options, allowed) => {
    expect(refusalOf(headers, { port: 4566, ...options })?.status).toBe(allowed ? undefined : 403);
  });
});

interface Answer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
}

function send(
  server: RunningServer,
  method: string,
  headers: Record<string, string>,
  body?: string,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request(
      { host: '127.0.0.1', port: server.port, method, path: '/', headers, agent: false },
      (response) => {
        response.resume();
        response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers }));
      },
    );
    sent.on('error', reject);
    sent.end(body);
  });
}

describe('every stand-in', () => {
  const servers: Record<string, RunningServer> = {};
  let folder: string;
  let handled = 0;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'mwe-guard-'));
    servers.dynamodb = await startDynamoDb({});
    servers.s3 = await startS3({ folder });
    servers.lambda = await startServer(createLambdaHandler(createLambda({ functions: {} })), {
      guard: { signed: true },
    });
    servers.plain = await startServer((_request, response) => {
      handled += 1;
      response.end('let in');
    });
  });
  afterAll(async () => {
    await Promise.all(Object.values(servers).map((server) => server.close()));
    await rm(folder, { recursive: true, force: true });
  });

  const refused: [string, Record<string, string>][] = [
    ['an unsigned request', {}],
    ['a foreign Host', { ...SIGNED, host: 'attacker.example' }],
    ['a foreign Origin', { ...SIGNED, origin: 'https://attacker.example' }],
    ['a cross-site request', { ...SIGNED, 'sec-fetch-site': 'cross-site' }],
  ];
  const methods = ['GET', 'POST', 'PUT', 'OPTIONS'];
  for (const name of ['dynamodb', 's3', 'lambda']) {
    it.each(refused.flatMap(([what, headers]) => methods.map((method) => [what, method, headers] as const)))(
      `${name} refuses %s by %s`,
      async (_what, method, headers) => {
        const server = servers[name];
        if (server === undefined) throw new Error(`${name} did not start`);
        const answer = await send(
          server,
          method,
          headers,
          method === 'POST' || method === 'PUT' ? '{}' : undefined,
        );
        expect(answer.status).toBe(403);
        expect(Object.keys(answer.headers).filter((header) => header.startsWith('access-control-'))).toEqual(
          [],
        );
      },
    );
    it(`${name} lets a signed request in, without a CORS header`, async () => {
      const server = servers[name];
      if (server === undefined) throw new Error(`${name} did not start`);
      const answer = await send(server, 'GET', SIGNED);
      expect(answer.status).not.toBe(403);
      expect(Object.keys(answer.headers).filter((header) => header.startsWith('access-control-'))).toEqual(
        [],
      );
    });
  }

  it('answers before it has read the body, and lets no 100-continue out', async () => {
    const port = servers.plain?.port ?? 0;
    const before = handled;
    const text = await new Promise<string>((resolve, reject) => {
      const socket = connect(port, '127.0.0.1');
      let received = '';
      socket.on('data', (chunk) => {
        received += chunk.toString();
      });
      socket.on('end', () => resolve(received));
      socket.on('error', reject);
      // The body of a gigabyte never follows.
      socket.write(
        'POST / HTTP/1.1\r\nHost: attacker.example\r\nContent-Length: 1000000000\r\nExpect: 100-continue\r\n\r\n',
      );
    });
    expect(text).toMatch(/^HTTP\/1\.1 403 /);
    expect(handled).toBe(before);
  });
});

describe('closing', () => {
  it.each([
    ['two hosts', 'GET / HTTP/1.1\r\nHost: HOST\r\nHost: attacker.example\r\n\r\n'],
    ['another host in the target', 'GET http://attacker.example/ HTTP/1.1\r\nHost: HOST\r\n\r\n'],
    ['no path in the target', 'OPTIONS * HTTP/1.1\r\nHost: HOST\r\n\r\n'],
  ])('refuses %s', async (_, text) => {
    let handled = 0;
    const server = await startServer((__, response) => {
      handled += 1;
      response.end();
    });
    const socket = connect(server.port, '127.0.0.1');
    socket.write(text.replace('HOST', `127.0.0.1:${server.port}`));
    const [answer] = (await once(socket, 'data')) as [Buffer];
    socket.destroy();
    await server.close();
    expect([answer.toString().slice(0, 22), handled]).toEqual(['HTTP/1.1 403 Forbidden', 0]);
  });

  it('ends connections that idle and requests that hang', async () => {
    let arrived: () => void = () => {};
    const hanging = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    const server = await startServer(() => arrived());
    const open = connect(server.port, '127.0.0.1');
    const ended = new Promise((resolve) => open.once('close', resolve));
    open.on('error', () => {});
    open.write(`GET / HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\n\r\n`);
    await hanging;
    await server.close(50);
    await ended;
    expect(await server.close()).toBeUndefined();
  });

  it('answers what a handler throws with a plain 500', async () => {
    const errors: unknown[] = [];
    const server = await startServer(
      () => {
        throw new Error('secret');
      },
      { onError: (error) => errors.push(error) },
    );
    expect((await send(server, 'GET', {})).status).toBe(500);
    expect(errors).toHaveLength(1);
    await server.close();
  });

  it('says that a port is in use', async () => {
    const server = await startServer(() => {});
    await expect(startServer(() => {}, { port: server.port })).rejects.toMatchObject({ code: 'EADDRINUSE' });
    await server.close();
  });
});
