/**
 * Each way to prove who one is, with each scope alone, against each tool, prompt and resource: the table of scopes holds
 * whichever of the three decided. An OAuth client is told by HTTP what to ask for; the others read a refusal.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SCOPES, type Scope } from '../../../lib/engine/principals.ts';
import { createAuthenticator } from '../../../lib/mcp/auth/authenticator.ts';
import { formatTokenSecret, mintToken, type StoredToken } from '../../../lib/mcp/auth/tokens.ts';
import { createEndpoint, type Endpoint } from '../../../lib/mcp/endpoint.ts';
import { ACCESS, type Kind } from '../../../lib/mcp/scopes.ts';
import { startEnvironment, type TestEnvironment } from '../../engine/engine-environment.ts';
import { type Issuer, makeKey, sign, startIssuer } from './issuer.ts';

const URL_OF_ENDPOINT = 'https://engine.example/mcp';
const MODES = ['bearer', 'iam', 'oauth'] as const;
type Mode = (typeof MODES)[number];

let test: TestEnvironment;
let issuer: Issuer;
const endpoints = {} as Record<Mode, Endpoint>;
/** How a caller with one scope comes, by mode and scope. */
const callers = {} as Record<Mode, Record<Scope, { authorization?: string; iamArn?: string }>>;

const slug = (scope: Scope): string => scope.replace(':', '-');

beforeAll(async () => {
  test = await startEnvironment();
  const key = await makeKey('ES256', 'k');
  issuer = await startIssuer([key]);

  const minted = SCOPES.map((scope) => ({ scope, ...mintToken() }));
  const tokens: StoredToken[] = minted.map(({ scope, id, hash }) => ({
    id,
    hash,
    principal: slug(scope),
    scopes: [scope],
    createdAt: '2026-11-30T12:00:00Z',
  }));
  const role = (scope: Scope) => `arn:aws:iam::123456789012:role/${slug(scope)}`;
  const deps = {
    readSecret: async () => formatTokenSecret(tokens),
    fetch,
    now: Date.now,
  };
  const principals = Object.fromEntries(SCOPES.map((scope) => [role(scope), { scopes: [scope] }]));
  endpoints.bearer = createEndpoint(
    test.env,
    createAuthenticator({ mode: 'bearer', secretArn: 'arn:of:it' }, deps),
  );
  endpoints.iam = createEndpoint(test.env, createAuthenticator({ mode: 'iam', principals }, deps));
  endpoints.oauth = createEndpoint(
    test.env,
    createAuthenticator({ mode: 'oauth', issuer: issuer.url, audience: URL_OF_ENDPOINT }, deps),
  );

  const oauth = await Promise.all(
    SCOPES.map(async (scope) => {
      const exp = Math.floor(Date.now() / 1000) + 600;
      const claims = { iss: issuer.url, aud: URL_OF_ENDPOINT, sub: slug(scope), exp, scope };
      return [scope, { authorization: `Bearer ${await sign(key, claims)}` }] as const;
    }),
  );
  callers.oauth = Object.fromEntries(oauth) as (typeof callers)[Mode];
  callers.bearer = Object.fromEntries(
    minted.map(({ scope, text }) => [scope, { authorization: `Bearer ${text}` }]),
  ) as (typeof callers)[Mode];
  callers.iam = Object.fromEntries(
    SCOPES.map((scope) => [
      scope,
      { iamArn: `arn:aws:sts::123456789012:assumed-role/${slug(scope)}/session` },
    ]),
  ) as (typeof callers)[Mode];
});
afterAll(async () => {
  await Promise.all(MODES.map((mode) => endpoints[mode].close()));
  await issuer.stop();
  await test.stop();
});

const REQUESTS: Readonly<Record<Kind, (name: string) => object>> = {
  tool: (name) => ({ method: 'tools/call', params: { name, arguments: {} } }),
  prompt: (name) => ({ method: 'prompts/get', params: { name, arguments: {} } }),
  resource: (template) => ({
    method: 'resources/read',
    params: { uri: template.replace('{id}', 'none').replace('{revision}', '1').replace('{+at}', 'x') },
  }),
};

async function send(mode: Mode, scope: Scope, message: object): Promise<Response> {
  const { authorization, iamArn } = callers[mode][scope];
  const request = new Request(URL_OF_ENDPOINT, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2025-06-18',
      ...(authorization === undefined ? {} : { authorization }),
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...message }),
  });
  return endpoints[mode].fetch(request, iamArn === undefined ? {} : { iamArn });
}

const OPERATIONS = (Object.keys(ACCESS) as Kind[]).flatMap((kind) =>
  Object.entries(ACCESS[kind]).map(([name, scope]) => ({ kind, name, scope })),
);

describe.each(MODES)('%s', (mode) => {
  it.each(OPERATIONS)('the $kind $name opens with $scope and admin alone', async ({ kind, name, scope }) => {
    for (const held of SCOPES) {
      const response = await send(mode, held, REQUESTS[kind](name));
      const text = await response.text();
      const where = `${mode}, ${held}: ${response.status} ${text}`;
      const open = held === scope || held === 'admin';
      if (open || mode !== 'oauth') {
        expect(response.status, where).toBe(200);
        expect(text.includes(`this needs the scope`), where).toBe(!open);
      } else {
        expect(response.status, where).toBe(403);
        const challenge = response.headers.get('www-authenticate') ?? '';
        expect(challenge, where).toContain('error="insufficient_scope"');
        expect(challenge, where).toContain(`scope="${scope}"`);
        expect(challenge, where).toContain(
          'resource_metadata="https://engine.example/.well-known/oauth-protected-resource/mcp"',
        );
      }
    }
  });
});
