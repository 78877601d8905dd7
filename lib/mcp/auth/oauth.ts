/**
 * The endpoint as an OAuth 2.1 resource server: access tokens of one issuer for one audience (access-token.ts), scopes as the
 * token has them and we know them. Challenges name the metadata document and the scopes, so that a client can ask for a
 * token by itself.
 *
 * Verification is loaded with the first token: a cold start without it, or in another mode, does not pay for it.
 *
 * Source: MCP 2026-07-28, "Authorization"; RFC 6750, section 3.
 */
import { allowEntryFault, MAX_ALLOW_ENTRIES } from '../../blueprint/tool-allow-list.ts';
import { SCOPES, type Scope } from '../../engine/principals.ts';
import type { Principal } from '../../store/records.ts';
import type { AccessTokenClaims } from './access-token.ts';
import type { AuthDependencies, Authenticator } from './authenticator.ts';
import { presentedToken } from './authorization-header.ts';
import type { OAuthConfig } from './config.ts';
import { bearerChallenge, forbidden, unauthorized, unavailable } from './refusals.ts';
import { AGENT_SCOPES, metadataUrlOf, resourceMetadata, resourceOf } from './resource-metadata.ts';

type Verified =
  | { claims: AccessTokenClaims }
  /** `detail` is our own sentence. */
  | { refused: 'expired-token' | 'invalid-token' | 'unavailable'; detail: string };
type Verify = (token: string) => Promise<Verified>;

export function oauthAuthenticator(
  config: OAuthConfig,
  deps: Pick<AuthDependencies, 'fetch' | 'now'>,
): Authenticator {
  let loading: Promise<Verify> | undefined;
  const verifier = (): Promise<Verify> => {
    loading ??= loadVerifier(config, deps);
    return loading;
  };
  return {
    async authenticate(request) {
      const resourceMetadataUrl = metadataUrlOf(resourceOf(config.audience, request.url));
      const challenge = (error?: string, description?: string): string =>
        bearerChallenge({
          error,
          error_description: description,
          scope: AGENT_SCOPES.join(' '),
          resource_metadata: resourceMetadataUrl,
        });
      const presented = presentedToken(request);
      if (presented === 'none') return unauthorized('no-credentials', challenge());
      if (presented === 'malformed') {
        return unauthorized('malformed-credentials', challenge('invalid_token', 'the token is malformed'));
      }
      const verified = await (await verifier())(presented.token);
      if ('refused' in verified) {
        const { refused, detail } = verified;
        if (refused === 'unavailable') return unavailable(detail);
        return unauthorized(refused, challenge('invalid_token', detail), detail);
      }
      const { claims } = verified;
      const scopes = scopesOf(claims);
      if (scopes.length === 0) {
        return forbidden(
          'no-scopes',
          challenge('insufficient_scope', 'the token has no scope of this endpoint'),
        );
      }
      const tools = toolsOf(claims, config.toolsClaim);
      const principal: Principal = { kind: 'oauth', id: `oauth:${claims.sub}`, scopes };
      return { principal: tools === undefined ? principal : { ...principal, tools }, resourceMetadataUrl };
    },
    metadata: (request) => resourceMetadata(request, config),
  };
}

async function loadVerifier(
  config: OAuthConfig,
  deps: Pick<AuthDependencies, 'fetch' | 'now'>,
): Promise<Verify> {
  const [{ TokenFault, verifyAccessToken }, { createIssuerKeys, KeysUnavailable }] = await Promise.all([
    import('./access-token.ts'),
    import('./issuer-keys.ts'),
  ]);
  const keys = createIssuerKeys(config, deps);
  return async (token) => {
    try {
      return { claims: await verifyAccessToken(token, config, keys, deps.now()) };
    } catch (error) {
      if (error instanceof TokenFault) {
        return { refused: error.expired ? 'expired-token' : 'invalid-token', detail: error.message };
      }
      if (error instanceof KeysUnavailable) return { refused: 'unavailable', detail: error.detail };
      throw error;
    }
  };
}

/** `scope` (RFC 9068) is a text, `scp` as some issuers have it a text or a list. What we do not know is left out. */
function scopesOf({ scope, scp }: AccessTokenClaims): Scope[] {
  const named = entriesOf(scope ?? scp);
  return SCOPES.filter((known) => named.includes(known));
}

/** A list that cannot be read opens nothing: what is no entry is left out, and so is what is beyond the most that a run keeps. */
function toolsOf(claims: AccessTokenClaims, name: string | undefined): string[] | undefined {
  if (name === undefined) return undefined;
  const entries = Object.hasOwn(claims, name) ? entriesOf(claims[name]) : [];
  return entries
    .filter((entry): entry is string => typeof entry === 'string' && allowEntryFault(entry) === undefined)
    .slice(0, MAX_ALLOW_ENTRIES);
}

function entriesOf(claim: unknown): unknown[] {
  if (typeof claim === 'string') return claim.split(' ');
  return Array.isArray(claim) ? claim : [];
}
