/**
 * The endpoint at `/mcp`: web-standard in and out, so that a function URL and a local HTTP server serve the same.
 *
 * Stateless: GET and DELETE, which are session operations, are answered with 405, every other path with 404. The caller's
 * principal is decided before the body is read and comes in from outside (authentication is the host's part); Host and
 * Origin are checked by the guard in front (lib/local/guard.ts on one machine).
 */
import { createMcpHandler, isJsonContentType } from '@modelcontextprotocol/server';
import type { EngineEnvironment } from '../engine/environment.ts';
import type { Principal } from '../store/records.ts';
import { readBody } from './request-body.ts';
import { createServer } from './server.ts';

export const MCP_PATH = '/mcp';

/** Decides who asks, from the request's headers alone; undefined is answered with 401. */
export type PrincipalOf = (request: Request) => Principal | undefined | Promise<Principal | undefined>;

export interface Endpoint {
  fetch(request: Request): Promise<Response>;
  close(): Promise<void>;
}

export function createEndpoint(env: EngineEnvironment, principalOf: PrincipalOf): Endpoint {
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
    async fetch(request) {
      if (new URL(request.url).pathname !== MCP_PATH)
        return text(404, `not found; the endpoint is ${MCP_PATH}`);
      if (request.method !== 'POST') {
        return text(405, 'this endpoint keeps no sessions: use POST', { allow: 'POST' });
      }
      const principal = await principalOf(request);
      if (principal === undefined) return text(401, 'unauthorized');
      // The inbound credential itself goes no further than the host that checked it.
      const authInfo = { token: '', clientId: principal.id, scopes: principal.scopes, extra: { principal } };
      if (!isJsonContentType(request.headers.get('content-type'))) {
        return text(415, 'the body must be JSON: send content-type application/json');
      }
      const body = await readBody(request);
      if ('refused' in body) return body.refused;
      return handler.fetch(request, { authInfo, parsedBody: body.json });
    },
    close: () => handler.close(),
  };
}

function text(status: number, body: string, headers: Record<string, string> = {}): Response {
  return new Response(`${body}\n`, {
    status,
    headers: { 'content-type': 'text/plain; charset=utf-8', ...headers },
  });
}
