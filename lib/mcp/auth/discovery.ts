/**
 * Where an issuer keeps its keys, by its own metadata. A document counts only where its `issuer` is the configured one, letter
 * for letter.
 *
 * Source: RFC 8414, sections 3 and 3.3 (the well-known part goes between host and path); OpenID Connect Discovery 1.0, section
 * 4 (it goes behind the path); MCP 2026-07-28, "Authorization Server Metadata Discovery", for their order.
 */
import { isTrustworthyUrl } from './config.ts';
import { FetchFault, fetchJson } from './fetch-json.ts';

/** URL of the issuer's JWKS. @throws FetchFault where no document names one. */
export async function discoverJwksUri(fetchImpl: typeof fetch, issuer: string): Promise<string> {
  let fault: FetchFault | undefined;
  for (const url of metadataUrls(issuer)) {
    try {
      const metadata = await fetchJson(fetchImpl, url);
      if (metadata.issuer !== issuer) throw new FetchFault(url, 'its "issuer" is another one');
      const { jwks_uri: uri } = metadata;
      if (typeof uri !== 'string' || !isTrustworthyUrl(uri)) {
        throw new FetchFault(url, 'it names no https "jwks_uri"');
      }
      return uri;
    } catch (error) {
      if (!(error instanceof FetchFault)) throw error;
      // What a server does not have says less than what is wrong with what it has.
      if (fault === undefined || fault.status !== undefined) fault = error;
    }
  }
  throw fault ?? new FetchFault(issuer, 'no metadata');
}

function metadataUrls(issuer: string): string[] {
  const { origin, pathname } = new URL(issuer);
  const path = pathname.replace(/\/$/, '');
  const urls = [
    `${origin}/.well-known/oauth-authorization-server${path}`,
    `${origin}/.well-known/openid-configuration${path}`,
    `${origin}${path}/.well-known/openid-configuration`,
  ];
  return [...new Set(urls)];
}
