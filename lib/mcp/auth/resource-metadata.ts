/**
 * What the endpoint says of itself as a protected resource, so that a client finds the authorization server.
 *
 * Source: RFC 9728, sections 2 and 3; MCP 2026-07-28, "Authorization Server Location".
 */
import { SCOPES } from '../../engine/principals.ts';
import type { OAuthConfig } from './config.ts';

const WELL_KNOWN = '/.well-known/oauth-protected-resource';
const RESOURCE_PATH = '/mcp';

/** What an agent needs for everything it does. `admin` is asked for by people who mean it, never by default. */
export const AGENT_SCOPES: readonly string[] = SCOPES.filter((scope) => scope !== 'admin');

/**
 * The endpoint's identifier as a resource. Clients ask for a token for it and compare it with the URL they called, so it is
 * the audience where that is a URL of ours (this host, or `/mcp` under a domain in front of it), and else the URL that was
 * called: an audience such as `api://engine` names no place.
 */
export function resourceOf(audience: string, requestUrl: string): string {
  const { origin } = new URL(requestUrl);
  if (/^https?:/.test(audience) && URL.canParse(audience)) {
    const url = new URL(audience);
    if (url.origin === origin || url.pathname === RESOURCE_PATH) return audience;
  }
  return `${origin}${RESOURCE_PATH}`;
}

/** Where the resource's metadata is: the well-known part goes between host and path. */
export function metadataUrlOf(resource: string): string {
  const { origin, pathname } = new URL(resource);
  return `${origin}${WELL_KNOWN}${pathname === '/' ? '' : pathname}`;
}

/** The document, or undefined where the path is another. */
export function resourceMetadata(request: Request, config: OAuthConfig): Response | undefined {
  const { pathname } = new URL(request.url);
  if (pathname !== WELL_KNOWN && pathname !== `${WELL_KNOWN}${RESOURCE_PATH}`) return undefined;
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    return new Response('use GET\n', {
      status: 405,
      headers: { allow: 'GET, HEAD', 'content-type': 'text/plain; charset=utf-8' },
    });
  }
  const document = {
    resource: resourceOf(config.audience, request.url),
    authorization_servers: [config.issuer],
    scopes_supported: AGENT_SCOPES,
    bearer_methods_supported: ['header'],
    resource_name: 'mcp-workflow-engine',
  };
  const headers = { 'cache-control': 'public, max-age=300', 'content-type': 'application/json' };
  return new Response(request.method === 'HEAD' ? null : JSON.stringify(document), { headers });
}
