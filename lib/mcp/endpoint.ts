/**
 * The endpoint at `/mcp`: web-standard in and out, so that a function URL and a local HTTP server serve the same.
 *
 * Stateless: GET and DELETE, which are session operations, are answered with 405, every other path with 404. Where a request
 * comes from and who asks are decided before its body is read; the credential that decided it goes no further than
 * lib/mcp/auth. No CORS header and no cookie is sent to anybody.
 */
import { createMcpHandler, isJsonContentType } from '@modelcontextprotocol/server';
import type { EngineEnvironment } from '../engine/environment.ts';
import { sourceFault } from '../http/request-source.ts';
import type { Principal } from '../store/records.ts';
import { admit } from './admit.ts';
import type { Authenticator, CallerContext, Refused } from './auth/authenticator.ts';
import { withoutCredentials } from './auth/handed-on.ts';
import { readBody } from './request-body.ts';
import { createServer } from './server.ts';

export const MCP_PATH = '/mcp';

export interface EndpointOptions {
  /** Values of Host that are this endpoint's, lower case. Default: the host of the request's own URL. */
  hosts?: readonly string[];
  /** Values of Origin that may speak. Default: none; agents are no browsers. */
  origins?: readonly string[];
}

export interface Endpoint {
  fetch(request: Request, context?: CallerContext): Promise<Response>;
  close(): Promise<void>;
}

export function createEndpoint(
  env: EngineEnvironment,
  authenticator: Authenticator,
  options: EndpointOptions = {},
): Endpoint {
  const handler = createMcpHandler(
    (context) => {
      const principal = context.authInfo?.extra?.principal;
      // Every request below is given one; without it there is nobody to act for.
      if (principal === undefined) throw new Error('request without a principal');
      return createServer(env, principal as Principal);
    },
    { onerror: (error) => env.log({ level: 'warn', event: 'mcp-request', error: error.name }) },
  );
  return {
    async fetch(request, context = {}) {
      const fault = foreignSource(request, options);
      if (fault !== undefined) return text(403, fault);
      const metadata = authenticator.metadata(request);
      if (metadata !== undefined) return metadata;
      if (new URL(request.url).pathname !== MCP_PATH)
        return text(404, `not found; the endpoint is ${MCP_PATH}`);
      if (request.method !== 'POST') {
        return text(405, 'this endpoint keeps no sessions: use POST', { allow: 'POST' });
      }
      const caller = await authenticator.authenticate(request, context);
      if ('response' in caller) {
        logRefusal(env, caller);
        return caller.response;
      }
      const refused = await admit(env, caller.principal);
      if (refused !== undefined) return refused;
      if (!isJsonContentType(request.headers.get('content-type'))) {
        return text(415, 'the body must be JSON: send content-type application/json');
      }
      const body = await readBody(request);
      if ('refused' in body) return body.refused;
      const { principal, resourceMetadataUrl } = caller;
      const authInfo = {
        token: '',
        clientId: principal.id,
        scopes: principal.scopes,
        extra: { principal },
        ...(resourceMetadataUrl === undefined ? {} : { resourceMetadataUrl }),
      };
      return handler.fetch(withoutCredentials(request), { authInfo, parsedBody: body.json });
    },
    close: () => handler.close(),
  };
}

function foreignSource(request: Request, options: EndpointOptions): string | undefined {
  const { host } = new URL(request.url);
  const header = (name: string): string | undefined => request.headers.get(name) ?? undefined;
  return sourceFault(
    // In HTTP/2 the host is part of the URL alone.
    { host: header('host') ?? host, origin: header('origin'), fetchSite: header('sec-fetch-site') },
    { hosts: options.hosts ?? [host], origins: options.origins ?? [] },
  );
}

function logRefusal(env: EngineEnvironment, { reason, detail, response }: Refused): void {
  const level = reason === 'unavailable' ? 'error' : 'info';
  const entry = { level, event: 'not-authenticated', reason, status: response.status };
  env.log(detail === undefined ? entry : { ...entry, detail });
}

function text(status: number, body: string, headers: Record<string, string> = {}): Response {
  return new Response(`${body}\n`, {
    status,
    headers: { 'content-type': 'text/plain; charset=utf-8', ...headers },
  });
}
