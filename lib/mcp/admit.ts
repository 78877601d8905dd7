/** The limit on requests, asked between authentication and the body: what is refused has cost one header and one write. */

import type { EngineEnvironment } from '../engine/environment.ts';
import { EngineError } from '../engine/errors.ts';
import { requirePrincipal } from '../engine/principals.ts';
import { admitRequest } from '../engine/request-limit.ts';
import type { Principal } from '../store/records.ts';

/**
 * Undefined: the request may go on. Else 429 with `Retry-After` in seconds (RFC 6585, section 4).
 * @throws Error where the host made a principal that is none: a fault of ours, not the request's.
 */
export async function admit(env: EngineEnvironment, principal: Principal): Promise<Response | undefined> {
  requirePrincipal(principal);
  try {
    await admitRequest(env, principal);
    return undefined;
  } catch (error) {
    if (!(error instanceof EngineError) || error.code !== 'LimitExceeded') throw error;
    return new Response(`${error.message}\n`, {
      status: 429,
      headers: {
        'content-type': 'text/plain; charset=utf-8',
        'retry-after': String(error.retryAfterSeconds ?? 60),
      },
    });
  }
}
