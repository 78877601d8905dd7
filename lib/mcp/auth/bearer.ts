/**
 * Tokens of our own (tokens.ts). Their challenge names the scheme alone: a client that is told of OAuth metadata would leave its
 * header away and look for an authorization server.
 */
import type { AuthDependencies, Authenticator, Refused } from './authenticator.ts';
import { presentedToken } from './authorization-header.ts';
import type { BearerConfig } from './config.ts';
import { bearerChallenge, unauthorized, unavailable } from './refusals.ts';
import { createTokenSet, TokensUnavailable } from './token-set.ts';
import { hasExpired, isSecretOf, splitToken } from './tokens.ts';

export function bearerAuthenticator(
  config: BearerConfig,
  deps: Pick<AuthDependencies, 'readSecret' | 'now'>,
): Authenticator {
  const tokens = createTokenSet(() => deps.readSecret(config.secretArn), deps.now);
  return {
    async authenticate(request) {
      const presented = presentedToken(request);
      if (presented === 'none') return unauthorized('no-credentials', bearerChallenge());
      if (presented === 'malformed') return invalid('malformed-credentials', 'malformed');
      const parts = splitToken(presented.token);
      if (parts === undefined) return invalid('unknown-token', 'not a token of this endpoint');
      try {
        const token = await tokens.find(parts.id);
        if (token === undefined || !isSecretOf(token, parts.secret)) {
          return invalid('unknown-token', 'unknown or revoked');
        }
        // Told to whoever holds the token alone.
        if (hasExpired(token, deps.now())) return invalid('expired-token', 'expired');
        const { principal, scopes, tools } = token;
        return {
          principal: {
            kind: 'token',
            id: `token:${principal}`,
            scopes: [...scopes],
            ...(tools === undefined ? {} : { tools: [...tools] }),
          },
        };
      } catch (error) {
        if (error instanceof TokensUnavailable) return unavailable(error.detail);
        throw error;
      }
    },
    metadata: () => undefined,
  };
}

function invalid(reason: Refused['reason'], description: string): Refused {
  return unauthorized(
    reason,
    bearerChallenge({ error: 'invalid_token', error_description: `the token is ${description}` }),
  );
}
