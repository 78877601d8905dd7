/**
 * What the endpoint does around authentication: nothing of a body is read for whom it does not let in, only its own hosts and
 * the listed origins may speak, and a credential goes nowhere.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { EngineEnvironment } from '../../../lib/engine/environment.ts';
import { LOCAL_PRINCIPAL } from '../../../lib/engine/principals.ts';
import { type AuthDependencies, createAuthenticator } from '../../../lib/mcp/auth/authenticator.ts';
import { fixedPrincipal } from '../../../lib/mcp/auth/fixed.ts';
import { withoutCredentials } from '../../../lib/mcp/auth/handed-on.ts';
import { formatTokenSecret, mintToken } from '../../../lib/mcp/auth/tokens.ts';
import { createEndpoint, type Endpoint, type EndpointOptions } from '../../../lib/mcp/endpoint.ts';
import { startEnvironment, type TestEnvironment } from '../../engine/engine-environment.ts';

const URL_OF_ENDPOINT = 'https://engine.example/mcp';
const METADATA = 'https://engine.example/.well-known/oauth-protected-resource';
const token = mintToken();

let test: TestEnvironment;
let env: EngineEnvironment;
const logged: object[] = [];

beforeAll(async () => {
  test = await startEnvironment();
  env = { ...test.env, log: (entry) => logged.push(entry) };
});
afterAll(() => test.stop());

const deps: AuthDependencies = {
  readSecret: async () =>
    formatTokenSecret([
      {
        id: token.id,
        hash: token.hash,
        principal: 'ci',
        scopes: ['workflows:read'],
        createdAt: '2026-11-30T12:00:00Z',
      },
    ]),
  fetch: () => Promise.reject(new Error('nobody is asked')),
  now: Date.now,
};
const bearer = (options?: EndpointOptions, changes: Partial<AuthDependencies> = {}): Endpoint =>
  createEndpoint(
    env,
    createAuthenticator({ mode: 'bearer', secretArn: 'a' }, { ...deps, ...changes }),
    options,
  );
const iam = (): Endpoint =>
  createEndpoint(
    env,
    createAuthenticator(
      { mode: 'iam', principals: { 'arn:aws:iam::123456789012:role/r': { scopes: ['workflows:read'] } } },
      deps,
    ),
  );
const oauth = (): Endpoint =>
  createEndpoint(
    env,
    createAuthenticator({ mode: 'oauth', issuer: 'https://issuer.example', audience: URL_OF_ENDPOINT }, deps),
  );

/** A request whose body tells when somebody reads it. */
function unread(
  headers: Record<string, string>,
  url = URL_OF_ENDPOINT,
): { request: Request; read(): boolean } {
  let read = false;
  const body = new ReadableStream(
    {
      pull() {
        read = true;
        throw new Error('the body was read');
      },
    },
    { highWaterMark: 0 },
  );
  const init = {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body,
    duplex: 'half',
  };
  return { request: new Request(url, init as RequestInit), read: () => read };
}

const LIST = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} });
const good = (headers: Record<string, string> = {}, url = URL_OF_ENDPOINT): Request =>
  new Request(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      authorization: `Bearer ${token.text}`,
      ...headers,
    },
    body: LIST,
  });

describe('nothing of the body is read', () => {
  const jwt = 'eyJhbGciOiJub25lIn0.e30.';
  it.each([
    ['bearer without a token', bearer, {}, 401],
    ['bearer with an unknown one', bearer, { authorization: `Bearer ${mintToken().text}` }, 401],
    ['bearer with two', bearer, { authorization: `Bearer ${token.text}, Bearer ${token.text}` }, 401],
    ['iam without a signature', iam, {}, 403],
    ['oauth without a token', oauth, {}, 401],
    ['oauth with a bad one', oauth, { authorization: `Bearer ${jwt}` }, 401],
    ['a foreign host', bearer, { authorization: `Bearer ${token.text}`, host: 'evil.example' }, 403],
    [
      'a foreign origin',
      bearer,
      { authorization: `Bearer ${token.text}`, origin: 'https://evil.example' },
      403,
    ],
    [
      'another media type',
      bearer,
      { authorization: `Bearer ${token.text}`, 'content-type': 'text/plain' },
      415,
    ],
  ] as const)('%s', async (_, make, headers, status) => {
    const endpoint = make();
    const { request, read } = unread(headers);
    const response = await endpoint.fetch(request);
    expect(response.status).toBe(status);
    expect(read()).toBe(false);
    await endpoint.close();
  });

  it('and it is read for whom is let in', async () => {
    const endpoint = bearer();
    const { request, read } = unread({ authorization: `Bearer ${token.text}` });
    await expect(endpoint.fetch(request)).rejects.toThrow('the body was read');
    expect(read()).toBe(true);
    await endpoint.close();
  });
});

describe('where a request may come from', () => {
  const cases: [string, EndpointOptions, Record<string, string>, number][] = [
    ['no headers that say', {}, {}, 200],
    ['the host of the URL', {}, { host: 'engine.example' }, 200],
    ['the host in capitals', {}, { host: 'ENGINE.example' }, 200],
    ['another host', {}, { host: 'evil.example' }, 403],
    ['the host with another port', {}, { host: 'engine.example:8443' }, 403],
    ['two hosts', {}, { host: 'engine.example, evil.example' }, 403],
    ['a listed host', { hosts: ['mcp.example'] }, { host: 'mcp.example' }, 200],
    [
      'the host of the URL where others are listed',
      { hosts: ['mcp.example'] },
      { host: 'engine.example' },
      403,
    ],
    ['an origin', {}, { origin: 'https://engine.example' }, 403],
    ['the null origin', {}, { origin: 'null' }, 403],
    ['an empty origin', {}, { origin: '' }, 403],
    ['a listed origin', { origins: ['https://ui.example'] }, { origin: 'https://ui.example' }, 200],
    [
      'a listed origin and more',
      { origins: ['https://ui.example'] },
      { origin: 'https://ui.example.evil' },
      403,
    ],
    [
      'a listed origin in other case',
      { origins: ['https://ui.example'] },
      { origin: 'https://UI.example' },
      403,
    ],
    [
      'two origins',
      { origins: ['https://ui.example'] },
      { origin: 'https://ui.example, https://evil.example' },
      403,
    ],
    ['a cross-site page', {}, { 'sec-fetch-site': 'cross-site' }, 403],
    [
      'a cross-site page of a listed origin',
      { origins: ['https://ui.example'] },
      { origin: 'https://ui.example', 'sec-fetch-site': 'cross-site' },
      403,
    ],
    ['the same site', {}, { 'sec-fetch-site': 'same-origin' }, 200],
  ];
  it.each(cases)('%s', async (_, options, headers, status) => {
    const endpoint = bearer(options);
    const response = await endpoint.fetch(good(headers));
    expect(response.status).toBe(status);
    const names = [...response.headers.keys()];
    expect(names.filter((name) => name.startsWith('access-control') || name === 'set-cookie')).toEqual([]);
    await response.body?.cancel();
    await endpoint.close();
  });

  it('holds for metadata too', async () => {
    const endpoint = oauth();
    const request = new Request(METADATA, { headers: { origin: 'https://evil.example' } });
    expect((await endpoint.fetch(request)).status).toBe(403);
    await endpoint.close();
  });
});

describe('OAuth metadata', () => {
  const paths = ['', '/mcp'].map((path) => `${METADATA}${path}`);
  const others = ['oauth-authorization-server', 'openid-configuration'].map(
    (name) => `https://engine.example/.well-known/${name}`,
  );

  it.each(paths)('%s is served in OAuth mode alone', async (url) => {
    const [o, b, i] = [oauth(), bearer(), iam()];
    const local = createEndpoint(env, fixedPrincipal(LOCAL_PRINCIPAL));
    expect((await o.fetch(new Request(url))).status).toBe(200);
    for (const endpoint of [b, i, local]) expect((await endpoint.fetch(new Request(url))).status).toBe(404);
    await Promise.all([o, b, i, local].map((endpoint) => endpoint.close()));
  });

  it.each(others)('%s is served in none', async (url) => {
    for (const endpoint of [oauth(), bearer(), iam()]) {
      expect((await endpoint.fetch(new Request(url))).status).toBe(404);
      await endpoint.close();
    }
  });
});

describe('a credential goes nowhere', () => {
  it('not into the request that is handed on', () => {
    const headers = {
      ...{ authorization: 'Bearer s3cret', cookie: 's3cret', 'proxy-authorization': 's3cret' },
      ...{ 'x-amz-security-token': 's3cret', 'mcp-protocol-version': '2026-07-28', accept: '*/*' },
    };
    const handed = withoutCredentials(good(headers));
    expect(Object.fromEntries(handed.headers)).toEqual({
      accept: '*/*',
      'content-type': 'application/json',
      'mcp-protocol-version': '2026-07-28',
    });
    expect(handed.body).toBeNull();
    expect(handed.url).toBe(URL_OF_ENDPOINT);
  });

  it('not into what answers the request, a log or an answer', async () => {
    logged.length = 0;
    const endpoint = bearer();
    const secret = token.text.slice(-43);
    const answers: string[] = [];
    for (const request of [
      good(),
      good({ 'content-type': 'text/plain' }),
      good({ authorization: `Bearer ${token.text}x` }),
      good({ authorization: `Basic ${secret}` }),
      good({ cookie: `session=${secret}` }),
      new Request(`${URL_OF_ENDPOINT}?access_token=${token.text}`, { method: 'POST', body: LIST }),
    ]) {
      const response = await endpoint.fetch(request);
      answers.push(JSON.stringify([...response.headers]), await response.text());
    }
    expect(answers.join()).not.toContain(secret);
    expect(JSON.stringify(logged)).not.toContain(secret);
    expect(logged).toEqual([
      { level: 'info', event: 'not-authenticated', reason: 'unknown-token', status: 401 },
      { level: 'info', event: 'not-authenticated', reason: 'malformed-credentials', status: 401 },
      { level: 'info', event: 'not-authenticated', reason: 'no-credentials', status: 401 },
    ]);
    await endpoint.close();
  });

  it('and what makes it impossible to know who asks is an error in the log, without ARNs', async () => {
    logged.length = 0;
    const endpoint = bearer(undefined, {
      readSecret: () =>
        Promise.reject(
          Object.assign(new Error('arn:aws:iam::1:role/x may not read arn:secret'), {
            name: 'AccessDeniedException',
          }),
        ),
    });
    expect((await endpoint.fetch(good())).status).toBe(503);
    expect(logged).toEqual([
      {
        level: 'error',
        event: 'not-authenticated',
        reason: 'unavailable',
        status: 503,
        detail: 'AccessDeniedException',
      },
    ]);
    await endpoint.close();
  });
});
