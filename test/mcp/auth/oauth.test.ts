/** Access tokens against a real issuer on loopback: what opens the endpoint, and everything that must not. */
import { createHmac } from 'node:crypto';
import { exportSPKI, importJWK, type JWTPayload } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Authenticated, Refused } from '../../../lib/mcp/auth/authenticator.ts';
import { createAuthenticator } from '../../../lib/mcp/auth/authenticator.ts';
import { type Issuer, makeKey, type SigningKey, sign, startIssuer } from './issuer.ts';

const NOW = Date.parse('2026-11-30T12:00:00Z');
const seconds = NOW / 1000;
const AUDIENCE = 'https://engine.example/mcp';

let rs: SigningKey;
let es: SigningKey;
let ed: SigningKey;
/** Of somebody else; the issuer does not have them. */
let foreign: SigningKey;
let issuer: Issuer;
let attacker: Issuer;

beforeAll(async () => {
  [rs, es, ed, foreign] = await Promise.all([
    makeKey('RS256', 'rs'),
    makeKey('ES256', 'es'),
    makeKey('EdDSA', 'ed'),
    makeKey('RS256', 'rs'),
  ]);
  issuer = await startIssuer([rs, es, ed]);
  attacker = await startIssuer([foreign]);
});
afterAll(() => Promise.all([issuer.stop(), attacker.stop()]));

const claims = (changes: Record<string, unknown> = {}): JWTPayload => {
  const all = {
    iss: issuer.url,
    aud: AUDIENCE,
    sub: 'alice',
    exp: seconds + 300,
    iat: seconds,
    scope: 'runs:start runs:read',
    ...changes,
  };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
};

async function authenticate(
  authorization: string | undefined,
  url = AUDIENCE,
): Promise<Authenticated | Refused> {
  const authenticator = createAuthenticator(
    { mode: 'oauth', issuer: issuer.url, audience: AUDIENCE },
    { readSecret: () => Promise.reject(new Error('no secret is read')), fetch, now: () => NOW },
  );
  const headers: Record<string, string> = authorization === undefined ? {} : { authorization };
  return authenticator.authenticate(new Request(url, { method: 'POST', headers }), {});
}

describe('the claim with the allow-list of tools', () => {
  it.each([
    ['a list', ['k8s/list_pods', 'graph/*'], ['k8s/list_pods', 'graph/*']],
    ['a text', 'k8s/list_pods graph/*', ['k8s/list_pods', 'graph/*']],
    ['what is no entry', ['*', 'k8s', 7, null, 'k8s/li*', 'graph/*'], ['graph/*']],
    ['none', [], []],
    ['another type', { 'k8s/list_pods': true }, []],
    ['no claim', undefined, []],
  ])('%s', async (_, tools, expected) => {
    const authenticator = createAuthenticator(
      { mode: 'oauth', issuer: issuer.url, audience: AUDIENCE, toolsClaim: 'urn:tools' },
      { readSecret: () => Promise.reject(new Error('no secret is read')), fetch, now: () => NOW },
    );
    const headers = { authorization: `Bearer ${await sign(rs, claims({ 'urn:tools': tools }))}` };
    const caller = await authenticator.authenticate(new Request(AUDIENCE, { method: 'POST', headers }), {});
    expect('principal' in caller && caller.principal.tools).toEqual(expected);
  });
});

const segment = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

describe('a token of the issuer for this endpoint', () => {
  const good: [string, () => Promise<string>][] = [
    ['RS256', () => sign(rs, claims())],
    ['ES256', () => sign(es, claims())],
    ['EdDSA', () => sign(ed, claims())],
    ['an audience among several', () => sign(rs, claims({ aud: ['https://other.example', AUDIENCE] }))],
    ['typ JWT', () => sign(rs, claims(), { typ: 'JWT' })],
    ['typ application/at+jwt', () => sign(rs, claims(), { typ: 'application/AT+JWT' })],
    ['no typ', () => sign(rs, claims(), { typ: undefined })],
    ['no kid, where one key has the algorithm', () => sign(es, claims(), { kid: undefined })],
    ['an nbf that is now', () => sign(rs, claims({ nbf: seconds }))],
    ['clocks that differ by seconds', () => sign(rs, claims({ nbf: seconds + 9, exp: seconds + 60 }))],
    ['an exp of 9 seconds ago', () => sign(rs, claims({ exp: seconds - 9 }))],
    ['a jwk in its header that nobody looks at', () => sign(rs, claims(), { jwk: foreign.publicJwk })],
  ];
  it.each(good)('%s', async (_, token) => {
    expect(await authenticate(`Bearer ${await token()}`)).toEqual({
      principal: { kind: 'oauth', id: 'oauth:alice', scopes: ['runs:start', 'runs:read'] },
      resourceMetadataUrl: 'https://engine.example/.well-known/oauth-protected-resource/mcp',
    });
  });

  it.each([
    ['scope', { scope: 'admin unknown runs:read' }, ['runs:read', 'admin']],
    ['scp as a list', { scope: undefined, scp: ['tools:read', 'x'] }, ['tools:read']],
    ['scp as a text', { scope: undefined, scp: 'tools:read tools:call' }, ['tools:read', 'tools:call']],
    ['scope before scp', { scope: 'runs:read', scp: ['admin'] }, ['runs:read']],
  ])('has the scopes that we know of its %s', async (_, changes, scopes) => {
    const caller = await authenticate(`Bearer ${await sign(rs, claims(changes))}`);
    expect(caller).toMatchObject({ principal: { scopes } });
  });

  it('takes the scheme in any case', async () => {
    expect(await authenticate(`bEARER   ${await sign(rs, claims())}`)).toHaveProperty('principal');
  });
});

describe('what is refused with 401', () => {
  /** A MAC over a header and our claims with the public key as its secret. */
  const macWithPublicKey = async (): Promise<string> => {
    const spki = await exportSPKI(
      (await importJWK(rs.publicJwk, 'RS256', { extractable: true })) as SigningKey['privateKey'],
    );
    const signed = `${segment({ alg: 'HS256', kid: 'rs', typ: 'at+jwt' })}.${segment(claims())}`;
    return `${signed}.${createHmac('sha256', spki).update(signed).digest('base64url')}`;
  };
  const tampered = async (): Promise<string> => {
    const [header, , signature] = (await sign(rs, claims())).split('.');
    return `${header}.${segment(claims({ sub: 'root', scope: 'admin' }))}.${signature}`;
  };
  const otherAlgorithm = async (): Promise<string> => {
    const [, payload, signature] = (await sign(rs, claims())).split('.');
    return `${segment({ alg: 'RS384', kid: 'rs', typ: 'at+jwt' })}.${payload}.${signature}`;
  };

  const bad: [string, () => string | Promise<string>, string][] = [
    ['no JWT', () => 'nonsense', 'not a JWT'],
    ['a token of bearer mode', () => `mwe_abcdefabcdef_${'x'.repeat(43)}`, 'not a JWT'],
    ['alg none', () => `${segment({ alg: 'none' })}.${segment(claims())}.`, 'asymmetric'],
    ['alg None', () => `${segment({ alg: 'None' })}.${segment(claims())}.`, 'asymmetric'],
    ['HS256 with the public key as its secret', macWithPublicKey, 'asymmetric'],
    ['another algorithm than was signed with', otherAlgorithm, 'the issuer has no such key'],
    ['claims that were changed', tampered, 'signature'],
    ['no signature', async () => (await sign(rs, claims())).replace(/[^.]*$/, ''), 'signature'],
    ['a signature of somebody else', () => sign(foreign, claims()), 'signature'],
    ['a key that the issuer does not have', () => sign({ ...foreign, kid: 'new' }, claims()), 'no such key'],
    ['a jku of somebody else', () => sign(foreign, claims(), { jku: `${attacker.url}/keys` }), 'signature'],
    ['an x5u of somebody else', () => sign(foreign, claims(), { x5u: `${attacker.url}/cert` }), 'signature'],
    ['its own jwk', () => sign(foreign, claims(), { jwk: foreign.publicJwk }), 'signature'],
    [
      'its own jwk and no kid',
      () => sign(foreign, claims(), { jwk: foreign.publicJwk, kid: undefined }),
      'signature',
    ],
    ['its own x5c', () => sign(foreign, claims(), { x5c: ['MIIB'] }), 'signature'],
    ['a critical extension', () => sign(rs, claims(), { crit: ['urn:test'], 'urn:test': 1 }), 'critical'],
    ['another issuer', () => sign(rs, claims({ iss: attacker.url })), 'the iss'],
    ['the issuer with a slash', () => sign(rs, claims({ iss: `${issuer.url}/` })), 'the iss'],
    ['the issuer in capitals', () => sign(rs, claims({ iss: issuer.url.toUpperCase() })), 'the iss'],
    ['no issuer', () => sign(rs, claims({ iss: undefined })), 'the iss'],
    ['another audience', () => sign(rs, claims({ aud: 'https://other.example/mcp' })), 'the aud'],
    ['no audience', () => sign(rs, claims({ aud: undefined })), 'the aud'],
    ['an empty audience', () => sign(rs, claims({ aud: [] })), 'the aud'],
    ['a prefix of the audience', () => sign(rs, claims({ aud: 'https://engine.example' })), 'the aud'],
    ['more than the audience', () => sign(rs, claims({ aud: `${AUDIENCE}/x` })), 'the aud'],
    ['the audience with a slash', () => sign(rs, claims({ aud: `${AUDIENCE}/` })), 'the aud'],
    ['the audience in other case', () => sign(rs, claims({ aud: 'https://Engine.example/mcp' })), 'the aud'],
    ['an audience of another type', () => sign(rs, claims({ aud: { 0: AUDIENCE } })), 'the aud'],
    ['an expired token', () => sign(rs, claims({ exp: seconds - 11 })), 'has expired'],
    ['no exp', () => sign(rs, claims({ exp: undefined })), 'the exp'],
    ['an exp that is a text', () => sign(rs, claims({ exp: String(seconds + 300) })), 'the exp'],
    ['an nbf in the future', () => sign(rs, claims({ nbf: seconds + 11 })), 'the nbf'],
    ['no subject', () => sign(rs, claims({ sub: undefined })), 'the sub'],
    ['an empty subject', () => sign(rs, claims({ sub: '' })), 'the sub'],
    ['a subject that is a number', () => sign(rs, claims({ sub: 7 })), 'the sub'],
    ['a subject with a line break', () => sign(rs, claims({ sub: 'a\nb' })), 'the sub'],
    ['a subject without end', () => sign(rs, claims({ sub: 'a'.repeat(256) })), 'the sub'],
    ['an ID token by its nonce', () => sign(rs, claims({ nonce: 'n' })), 'ID token'],
    ['an ID token by at_hash', () => sign(rs, claims({ at_hash: 'h' })), 'ID token'],
    ['an ID token by c_hash', () => sign(rs, claims({ c_hash: 'h' })), 'ID token'],
    ['an ID token by token_use', () => sign(rs, claims({ token_use: 'id' })), 'ID token'],
    ['an ID token by its own typ', () => sign(rs, claims({ typ: 'ID' })), 'ID token'],
    ['a logout token', () => sign(rs, claims(), { typ: 'logout+jwt' }), 'typ'],
    ['a DPoP proof', () => sign(rs, claims(), { typ: 'dpop+jwt' }), 'typ'],
    ['a token that is bound to a key', () => sign(rs, claims({ cnf: { jkt: 'x' } })), 'bound'],
    ['an encrypted token', () => `${segment({ alg: 'RSA-OAEP', enc: 'A256GCM' })}.a.b.c.d`, 'asymmetric'],
  ];
  it.each(bad)('%s', async (_, make, description) => {
    const token = await make();
    const caller = await authenticate(`Bearer ${token}`);
    if (!('response' in caller)) throw new Error('it was let in');
    expect(caller.response.status).toBe(401);
    const challenge = caller.response.headers.get('www-authenticate') ?? '';
    expect(challenge).toMatch(/^Bearer error="invalid_token", error_description="/);
    expect(challenge).toContain(description);
    expect(challenge).toContain(
      'resource_metadata="https://engine.example/.well-known/oauth-protected-resource/mcp"',
    );
    // Nothing of the token comes back or goes into a log.
    const text = await caller.response.text();
    // Whoever does not get the challenge reads it in the body.
    expect(text).toContain(description);
    const told = JSON.stringify([text, challenge, caller.reason, caller.detail]);
    for (const part of token.split('.').filter(({ length }) => length > 8)) expect(told).not.toContain(part);
  });

  it('never asks anybody whom a token names', () => {
    expect([...attacker.asked.keys()]).toEqual([]);
  });

  it.each([
    ['no header', undefined, 'no-credentials'],
    ['an empty header', '', 'no-credentials'],
    ['another scheme', 'Basic YTpi', 'malformed-credentials'],
    ['no token', 'Bearer', 'malformed-credentials'],
    ['two tokens', 'Bearer a, Bearer b', 'malformed-credentials'],
    ['a token with a space', 'Bearer a b', 'malformed-credentials'],
    ['a token over 16 KiB', `Bearer ${'a'.repeat(16_385)}`, 'malformed-credentials'],
  ])('%s', async (_, authorization, reason) => {
    const caller = await authenticate(authorization);
    expect(caller).toMatchObject({ reason });
    const { status, headers } = (caller as Refused).response;
    expect(status).toBe(401);
    const challenge = headers.get('www-authenticate') ?? '';
    expect(challenge).toContain('resource_metadata=');
    expect(challenge).toContain('scope="workflows:read');
    // Who sends nothing is told of no error (RFC 6750, section 3.1).
    expect(challenge.includes('error=')).toBe(reason !== 'no-credentials');
  });
});

describe('a good token without a scope of ours', () => {
  it.each([
    ['none at all', { scope: undefined }],
    ['foreign ones', { scope: 'openid profile' }],
    ['part of one', { scope: 'runs:rea RUNS:READ workflows:*' }],
    ['one that is no text', { scope: 7 }],
  ])('%s: 403 with what to ask for', async (_, changes) => {
    const caller = await authenticate(`Bearer ${await sign(rs, claims(changes))}`);
    expect(caller).toMatchObject({ reason: 'no-scopes' });
    const { status, headers } = (caller as Refused).response;
    expect(status).toBe(403);
    const challenge = headers.get('www-authenticate') ?? '';
    expect(challenge).toContain('error="insufficient_scope"');
    expect(challenge).toContain('scope="workflows:read workflows:write');
    expect(challenge).not.toContain('admin');
  });
});

describe('the resource metadata', () => {
  const metadata = (url: string, audience: string, method = 'GET') =>
    createAuthenticator(
      { mode: 'oauth', issuer: 'https://issuer.example', audience },
      { readSecret: () => Promise.reject(new Error('none')), fetch, now: () => NOW },
    ).metadata(new Request(url, { method }));
  const HOST = 'https://abc.lambda-url.eu-central-1.on.aws';
  const PATH = '/.well-known/oauth-protected-resource';

  it.each([PATH, `${PATH}/mcp`])('is served at %s', async (path) => {
    const response = metadata(`${HOST}${path}`, `${HOST}/mcp`);
    expect(response?.status).toBe(200);
    const document = (await response?.json()) as { scopes_supported: string[] };
    expect(document).toMatchObject({
      resource: `${HOST}/mcp`,
      authorization_servers: ['https://issuer.example'],
      bearer_methods_supported: ['header'],
    });
    expect(document.scopes_supported).toContain('runs:start');
    expect(document.scopes_supported).not.toContain('admin');
  });

  it.each([
    ['a URL of this host', `${HOST}/mcp`, `${HOST}/mcp`],
    ['this host alone', HOST, HOST],
    ['the endpoint behind a domain', 'https://mcp.example.com/mcp', 'https://mcp.example.com/mcp'],
    ['a URL that names no place of ours', 'https://api.example.com/', `${HOST}/mcp`],
    ['a URN', 'urn:engine', `${HOST}/mcp`],
    ['a name', 'api://engine', `${HOST}/mcp`],
  ])('names a resource that clients can ask for: %s', async (_, audience, resource) => {
    expect(await metadata(`${HOST}${PATH}`, audience)?.json()).toMatchObject({ resource });
  });

  it('is for reading', () => {
    expect(metadata(`${HOST}${PATH}`, HOST, 'POST')?.status).toBe(405);
    expect(metadata(`${HOST}${PATH}`, HOST, 'HEAD')?.status).toBe(200);
  });

  it.each(['/mcp', '/.well-known/oauth-authorization-server', `${PATH}/other`, `${PATH}/mcp/`, '/'])(
    'is not at %s',
    (path) => {
      expect(metadata(`${HOST}${path}`, HOST)).toBeUndefined();
    },
  );
});
