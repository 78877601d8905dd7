/** Principals that need no credential: the one of an engine on one machine, whose loopback port is the boundary. */
import type { Principal } from '../../store/records.ts';
import type { Authenticator } from './authenticator.ts';
import { unauthorized } from './refusals.ts';

/** Answers the same principal to everybody, or what a function makes of the headers; undefined is answered with 401. */
export function fixedPrincipal(
  who: Principal | ((request: Request) => Principal | undefined),
): Authenticator {
  return {
    async authenticate(request) {
      const principal = typeof who === 'function' ? who(request) : who;
      return principal === undefined ? unauthorized('no-credentials', 'Bearer') : { principal };
    },
    metadata: () => undefined,
  };
}
