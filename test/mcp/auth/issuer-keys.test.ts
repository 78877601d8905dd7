/** Where the keys come from and how often they are asked for: real HTTP, a clock of the test's own. */
import { afterEach, describe, expect, it } from 'vitest';
import { type Authenticator, createAuthenticator } from '../../../lib/mcp/auth/authenticator.ts';
import { type Issuer, JWKS_PATH, makeKey, type SigningKey, sign, startIssuer } from './issuer.ts';

const AUDIENCE = 'https://engine.example/mcp';
const OAUTH_METADATA = '/.well-known/oauth-authorization-server';
const OPENID_METADATA = '/.well-known/openid-configuration';
const START = Date.parse('2026-11-30T12:00:00Z');
const MINUTE = 60_000;

let clock = START;
const running: Issuer[] = [];
afterEach(async () => {
  clock = START;
  await Promise.all(running.splice(0).map((issuer) => issuer.stop()));
});

async function start(keys: readonly SigningKey[], path = ''): Promise<Issuer> {
  const issuer = await startIssuer(keys, path);
  running.push(issuer);
  return issuer;
}

const authenticatorOf = (issuer: string, jwksUri?: string): Authenticator =>
  createAuthenticator(
    { mode: 'oauth', issuer, audience: AUDIENCE, ...(jwksUri === undefined ? {} : { jwksUri }) },
    { readSecret: () => Promise.reject(new Error('no secret is read')), fetch, now: () => clock },
  );

/** `ok`, or the status with which it was refused, and what the log learns. */
async function outcome(authenticator: Authenticator, token: string): Promise<string> {
  const headers = { authorization: `Bearer ${token}` };
  const caller = await authenticator.authenticate(new Request(AUDIENCE, { method: 'POST', headers }), {});
  if ('principal' in caller) return 'ok';
  return `${caller.response.status} ${caller.reason} ${caller.detail ?? ''}`.trim();
}

const tokenOf = (issuer: string, key: SigningKey, header: Record<string, unknown> = {}): Promise<string> =>
  sign(key, { iss: issuer, aud: AUDIENCE, sub: 'a', exp: clock / 1000 + 86_400, scope: 'runs:read' }, header);

const key = await makeKey('ES256', 'one');
const next = await makeKey('ES256', 'two');

describe('the keys are found', () => {
  it.each([
    ['by RFC 8414 at the root', '', OAUTH_METADATA],
    ['by OpenID discovery at the root', '', OPENID_METADATA],
    ['by RFC 8414 with a path', '/tenant', `${OAUTH_METADATA}/tenant`],
    ['by OpenID discovery before the path', '/tenant', `${OPENID_METADATA}/tenant`],
    ['by OpenID discovery behind the path', '/tenant', `/tenant${OPENID_METADATA}`],
  ])('%s', async (_, path, at) => {
    const issuer = await start([key], path);
    const metadata = issuer.documents.get(`${OAUTH_METADATA}${path}`);
    if (metadata === undefined) throw new Error('no metadata');
    issuer.documents.clear();
    issuer.documents.set(at, metadata);
    expect(await outcome(authenticatorOf(issuer.url), await tokenOf(issuer.url, key))).toBe('ok');
    expect(issuer.asked.get(at)).toBe(1);
  });

  it('at jwksUri, and then no metadata is asked for', async () => {
    const issuer = await start([key]);
    const authenticator = authenticatorOf(issuer.url, `${issuer.url}${JWKS_PATH}`);
    expect(await outcome(authenticator, await tokenOf(issuer.url, key))).toBe('ok');
    expect([...issuer.asked]).toEqual([[JWKS_PATH, 1]]);
  });

  it('nowhere before the first token', async () => {
    const issuer = await start([key]);
    const authenticator = authenticatorOf(issuer.url);
    await authenticator.authenticate(new Request(AUDIENCE, { method: 'POST' }), {});
    authenticator.metadata(new Request('https://engine.example/.well-known/oauth-protected-resource'));
    expect(issuer.asked.size).toBe(0);
  });
});

describe('no keys, so 503 and not a 401 that would make clients drop a good token', () => {
  const metadataOf = (issuer: Issuer, changes: object) =>
    issuer.documents.set(OAUTH_METADATA, {
      issuer: issuer.url,
      jwks_uri: `${issuer.url}${JWKS_PATH}`,
      ...changes,
    });
  const answers = (issuer: Issuer, path: string, status: number, body: string, headers = {}) =>
    issuer.documents.set(path, (_request, response) => {
      response.writeHead(status, headers).end(body);
    });

  const cases: [string, (issuer: Issuer) => void, string][] = [
    [
      'metadata of another issuer',
      (i) => metadataOf(i, { issuer: `${i.url}/` }),
      'its "issuer" is another one',
    ],
    [
      'metadata without an issuer',
      (i) => metadataOf(i, { issuer: undefined }),
      'its "issuer" is another one',
    ],
    ['metadata without jwks_uri', (i) => metadataOf(i, { jwks_uri: undefined }), 'no https "jwks_uri"'],
    [
      'keys over plain http',
      (i) => metadataOf(i, { jwks_uri: 'http://keys.example/' }),
      'no https "jwks_uri"',
    ],
    ['keys in a file', (i) => metadataOf(i, { jwks_uri: 'file:///etc/passwd' }), 'no https "jwks_uri"'],
    ['no metadata at all', (i) => i.documents.clear(), 'answered 404'],
    ['metadata that is no JSON', (i) => answers(i, OAUTH_METADATA, 200, '<html>'), 'not JSON'],
    ['metadata that is a list', (i) => answers(i, OAUTH_METADATA, 200, '[]'), 'a JSON object is needed'],
    [
      'a redirect of the keys',
      (i) => answers(i, JWKS_PATH, 302, '', { location: `${i.url}/elsewhere` }),
      'answered 302',
    ],
    ['a failing server', (i) => answers(i, JWKS_PATH, 500, 'oops'), 'answered 500'],
    ['keys without end', (i) => answers(i, JWKS_PATH, 200, ' '.repeat(300_000)), 'larger than'],
    ['a set without keys', (i) => answers(i, JWKS_PATH, 200, '{}'), 'a list "keys"'],
    [
      'too many keys',
      (i) => answers(i, JWKS_PATH, 200, JSON.stringify({ keys: Array(101).fill(key.publicJwk) })),
      'a list "keys"',
    ],
    ['a connection that breaks', (i) => i.documents.set(JWKS_PATH, (r) => r.destroy()), 'not reachable'],
  ];
  it.each(cases)('%s', async (_, spoil, detail) => {
    const issuer = await start([key]);
    spoil(issuer);
    const answer = await outcome(authenticatorOf(issuer.url), await tokenOf(issuer.url, key));
    expect(answer).toMatch(/^503 unavailable /);
    expect(answer).toContain(detail);
    expect(issuer.asked.get('/elsewhere')).toBeUndefined();
  });

  it('an issuer that does not answer is waited for 3 seconds and no longer', async () => {
    const issuer = await start([key]);
    issuer.documents.set(JWKS_PATH, () => undefined);
    const began = Date.now();
    const answer = await outcome(authenticatorOf(issuer.url), await tokenOf(issuer.url, key));
    expect(answer).toContain('no whole answer within 3000 ms');
    expect(Date.now() - began).toBeLessThan(15_000);
  });

  it('asks again after five seconds, not at once', async () => {
    const issuer = await start([key]);
    answers(issuer, JWKS_PATH, 500, '');
    const authenticator = authenticatorOf(issuer.url);
    const token = await tokenOf(issuer.url, key);
    for (let n = 0; n < 20; n++) expect(await outcome(authenticator, token)).toContain('503');
    expect(issuer.asked.get(JWKS_PATH)).toBe(1);
    issuer.documents.delete(JWKS_PATH);
    clock += 5000;
    expect(await outcome(authenticator, token)).toBe('ok');
  });
});

describe('keys that are served but must not verify', () => {
  it('a shared secret and a private key in the set', async () => {
    const issuer = await start([]);
    issuer.documents.set(JWKS_PATH, {
      keys: [
        { kty: 'oct', kid: 'one', k: 'c2VjcmV0', alg: 'HS256' },
        { ...key.publicJwk, d: 'AAAA' },
      ],
    });
    const answer = await outcome(authenticatorOf(issuer.url), await tokenOf(issuer.url, key));
    expect(answer).toBe('401 invalid-token');
  });

  it('a key for encryption', async () => {
    const issuer = await start([]);
    issuer.documents.set(JWKS_PATH, { keys: [{ ...key.publicJwk, use: 'enc' }] });
    expect(await outcome(authenticatorOf(issuer.url), await tokenOf(issuer.url, key))).toBe(
      '401 invalid-token',
    );
  });

  it('several that fit a token which names none', async () => {
    const issuer = await start([key, next]);
    const token = await tokenOf(issuer.url, key, { kid: undefined });
    expect(await outcome(authenticatorOf(issuer.url), token)).toBe('401 invalid-token');
  });
});

describe('how often the issuer is asked', () => {
  it('once for many at once, and then not for ten minutes', async () => {
    const issuer = await start([key]);
    const authenticator = authenticatorOf(issuer.url);
    const token = await tokenOf(issuer.url, key);
    const answers = await Promise.all(Array.from({ length: 50 }, () => outcome(authenticator, token)));
    expect(new Set(answers)).toEqual(new Set(['ok']));
    clock += 10 * MINUTE - 1;
    expect(await outcome(authenticator, token)).toBe('ok');
    expect(issuer.asked.get(JWKS_PATH)).toBe(1);
    clock += 1;
    expect(await outcome(authenticator, token)).toBe('ok');
    expect(issuer.asked.get(JWKS_PATH)).toBe(2);
  });

  it('once a minute for key ids that it does not have, however many come', async () => {
    const issuer = await start([key]);
    const authenticator = authenticatorOf(issuer.url);
    expect(await outcome(authenticator, await tokenOf(issuer.url, key))).toBe('ok');
    const storm = await Promise.all(
      Array.from({ length: 40 }, (_, n) => tokenOf(issuer.url, next, { kid: `unknown-${n}` })),
    );
    const answers = async () => {
      const all = await Promise.all(storm.map((token) => outcome(authenticator, token)));
      expect(new Set(all)).toEqual(new Set(['401 invalid-token']));
      return issuer.asked.get(JWKS_PATH);
    };
    expect(await answers()).toBe(1);
    clock += MINUTE - 1;
    expect(await answers()).toBe(1);
    clock += 1;
    expect(await answers()).toBe(2);
    expect(await answers()).toBe(2);
    clock += MINUTE;
    expect(await answers()).toBe(3);
  });

  it('a minute later a new key opens, and a withdrawn one does no more', async () => {
    const issuer = await start([key]);
    const authenticator = authenticatorOf(issuer.url);
    expect(await outcome(authenticator, await tokenOf(issuer.url, key))).toBe('ok');
    issuer.keys = [next.publicJwk];
    clock += MINUTE;
    expect(await outcome(authenticator, await tokenOf(issuer.url, next))).toBe('ok');
    expect(await outcome(authenticator, await tokenOf(issuer.url, key))).toBe('401 invalid-token');
  });

  it('while it fails the keys in hand serve for an hour', async () => {
    const issuer = await start([key]);
    const authenticator = authenticatorOf(issuer.url);
    const token = await tokenOf(issuer.url, key);
    expect(await outcome(authenticator, token)).toBe('ok');
    issuer.documents.set(JWKS_PATH, (_request, response) => response.writeHead(500).end());
    clock += 10 * MINUTE;
    for (let n = 0; n < 10; n++) expect(await outcome(authenticator, token)).toBe('ok');
    expect(issuer.asked.get(JWKS_PATH)).toBe(2);
    clock += 50 * MINUTE - 1;
    expect(await outcome(authenticator, token)).toBe('ok');
    clock += 5000;
    expect(await outcome(authenticator, token)).toContain('503 unavailable');
    issuer.documents.delete(JWKS_PATH);
    clock += 5000;
    expect(await outcome(authenticator, token)).toBe('ok');
  });

  it('a clock that is set back makes no key young', async () => {
    const issuer = await start([key]);
    const authenticator = authenticatorOf(issuer.url);
    const token = await tokenOf(issuer.url, key);
    expect(await outcome(authenticator, token)).toBe('ok');
    clock -= 5 * MINUTE;
    expect(await outcome(authenticator, token)).toBe('ok');
    expect(issuer.asked.get(JWKS_PATH)).toBe(2);
  });
});
