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
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type RunningServer, readRequestBody, startServer } from '../../../lib/local/http-server.ts';
import { createAuthenticator } from '../../../lib/mcp/auth/authenticator.ts';
import { createEndpoint, type Endpoint } from '../../../lib/mcp/endpoint.ts';
import { startEnvironment, type TestEnvironment } from '../../engine/engine-environment.ts';
import { type Issuer, JWKS_PATH, makeKey, sign, startIssuer } from './issuer.ts';

let test: TestEnvironment;
let issuer: Issuer;
let endpoint: Endpoint;
let face: RunningServer;
/** What the token endpoint was asked for, in order. */
const grants: Record<string, string>[] = [];

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
      // At first it grants less than what is asked for, as an issuer may.
      const scope = grants.length === 1 ? 'workflows:read' : String(form.get('scope'));
      const exp = Math.floor(Date.now() / 1000) + 300;
      const aud = String(form.get('resource'));
      const token = await sign(key, { iss: issuer.url, aud, sub: 'robot', exp, scope });
      const answer = { access_token: token, token_type: 'Bearer', expires_in: 300, scope };
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
    })();
  });
  face = await startServer(toNodeHandler({ fetch: (request) => endpoint.fetch(request) }));
  const authenticator = createAuthenticator(
    { mode: 'oauth', issuer: issuer.url, audience: `${face.url}/mcp` },
    { readSecret: () => Promise.reject(new Error('no secret is read')), fetch, now: Date.now },
  );
  endpoint = createEndpoint(test.env, authenticator);
});
afterAll(async () => {
  await face.close();
  await endpoint.close();
  await issuer.stop();
  await test.stop();
});

it('discovers, connects and steps up', async () => {
  const url = new URL(`${face.url}/mcp`);
  const authProvider = new ClientCredentialsProvider({
    clientId: 'robot',
    clientSecret: 'its-own',
    expectedIssuer: issuer.url,
  });
  const client = new Client({ name: 'robot', version: '1' }, { versionNegotiation: { mode: 'auto' } });
  await client.connect(new StreamableHTTPClientTransport(url, { authProvider }));
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
