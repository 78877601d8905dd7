/**
 * The SDK's own client against the endpoint in OAuth mode, all over HTTP: it finds the issuer by our challenge and metadata, gets a
 * token for this resource, and where a scope is missing asks for it by our second challenge.
 */
import type { IncomingMessage } from 'node:http';
import {
  Client,
  ClientCredentialsProvider,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type RunningServer, readRequestBody, startServer } from '../../../lib/local/http-server.ts';
import { createAuthenticator } from '../../../lib/mcp/auth/authenticator.ts';
import { createEndpoint, type Endpoint } from '../../../lib/mcp/endpoint.ts';
import { startEnvironment, type TestEnvironment } from '../../engine/engine-environment.ts';
import { type Issuer, JWKS_PATH, makeKey, sign, startIssuer } from './issuer.ts';

let test: TestEnvironment;
let issuer: Issuer;
/** The one of the test; `endpoints` has all. */
let endpoint: Endpoint;
const endpoints: Endpoint[] = [];
let face: RunningServer;
/** Sends answers on as a Lambda function URL does, whose challenge clients do not see under its own name. */
let functionUrl: RunningServer;
/** What the token endpoint was asked for, in order. */
const grants: Record<string, string>[] = [];
let grantAll = false;

beforeAll(async () => {
  test = await startEnvironment();
  const key = await makeKey('ES256', 'k');
  issuer = await startIssuer([key]);
  issuer.documents.set('/.well-known/oauth-authorization-server', {
    issuer: issuer.url,
    authorization_endpoint: `${issuer.url}/authorize`,
    token_endpoint: `${issuer.url}/token`,
    jwks_uri: `${issuer.url}${JWKS_PATH}`,
    response_types_supported: ['code'],
    grant_types_supported: ['client_credentials'],
    code_challenge_methods_supported: ['S256'],
    token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
  });
  issuer.documents.set('/token', (request: IncomingMessage, response) => {
    void (async () => {
      const form = new URLSearchParams((await readRequestBody(request, 10_000)).toString());
      grants.push(Object.fromEntries(form));
      const asked = String(form.get('scope'));
      // An issuer may grant less than what is asked for.
      const scope = grantAll || grants.length > 1 ? asked : 'workflows:read';
      const exp = Math.floor(Date.now() / 1000) + 300;
      const aud = String(form.get('resource'));
      const token = await sign(key, { iss: issuer.url, aud, sub: 'robot', exp, scope });
      const answer = { access_token: token, token_type: 'Bearer', expires_in: 300, scope };
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
    })();
  });
  const ask = (request: Request) => endpoint.fetch(request);
  face = await startServer(toNodeHandler({ fetch: ask }));
  functionUrl = await startServer(toNodeHandler({ fetch: async (request) => renamed(await ask(request)) }));
});
beforeEach(() => {
  grants.length = 0;
  grantAll = false;
});
const serve = (audience: string): void => {
  const authenticator = createAuthenticator(
    { mode: 'oauth', issuer: issuer.url, audience },
    { readSecret: () => Promise.reject(new Error('no secret is read')), fetch, now: Date.now },
  );
  endpoint = createEndpoint(test.env, authenticator);
  endpoints.push(endpoint);
};
afterAll(async () => {
  await face.close();
  await functionUrl.close();
  await Promise.all(endpoints.map((each) => each.close()));
  await issuer.stop();
  await test.stop();
});

async function connect(url: URL): Promise<Client> {
  const authProvider = new ClientCredentialsProvider({
    clientId: 'robot',
    clientSecret: 'its-own',
    expectedIssuer: issuer.url,
  });
  const client = new Client({ name: 'robot', version: '1' }, { versionNegotiation: { mode: 'auto' } });
  await client.connect(new StreamableHTTPClientTransport(url, { authProvider }));
  return client;
}

it('discovers, connects and steps up', async () => {
  const url = new URL(`${face.url}/mcp`);
  serve(url.href);
  const client = await connect(url);
  expect(client.getNegotiatedProtocolVersion()).toBe('2026-07-28');
  expect(grants).toHaveLength(1);
  expect(grants[0]).toMatchObject({ grant_type: 'client_credentials', resource: url.href });

  const workflows = await client.callTool({ name: 'list_workflows', arguments: {} });
  expect(workflows.isError).not.toBe(true);
  expect(grants).toHaveLength(1);

  const runs = await client.callTool({ name: 'list_runs', arguments: {} });
  expect(runs.isError).not.toBe(true);
  expect(grants).toHaveLength(2);
  expect(grants[1]?.scope?.split(' ')).toContain('runs:read');
  await client.close();
});

describe('behind a function URL, which renames WWW-Authenticate', () => {
  it('the metadata is found at its well-known path, and names the scopes to ask for', async () => {
    grantAll = true;
    const url = new URL(`${functionUrl.url}/mcp`);
    serve(url.href);
    const client = await connect(url);
    const asked = grants[0]?.scope?.split(' ');
    expect(asked).toContain('runs:read');
    expect(asked).not.toContain('admin');
    const runs = await client.callTool({ name: 'list_runs', arguments: {} });
    expect(runs.isError).not.toBe(true);
    await client.close();
  });

  it('a missing scope is told in the body', async () => {
    const url = new URL(`${functionUrl.url}/mcp`);
    serve(url.href);
    const client = await connect(url);
    const call = client.callTool({ name: 'list_runs', arguments: {} });
    await expect(call).rejects.toThrow(/insufficient_scope.*this needs the scope runs:read/);
    await client.close();
  });
});

function renamed(response: Response): Response {
  const headers = new Headers(response.headers);
  const challenge = headers.get('www-authenticate');
  headers.delete('www-authenticate');
  if (challenge !== null) headers.set('x-amzn-remapped-www-authenticate', challenge);
  return new Response(response.body, { status: response.status, headers });
}
