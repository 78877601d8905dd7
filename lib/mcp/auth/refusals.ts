/**
 * The answers to those who are not let in. They say what to do, and nothing of what was sent; the body says it too, because
 * there are proxies that take the challenge away (a Lambda function URL renames WWW-Authenticate).
 */
import type { RefusalReason, Refused } from './authenticator.ts';

/** Of `Retry-After`, seconds. */
const RETRY_SECONDS = 5;

const SENTENCES: Readonly<Record<RefusalReason, string>> = {
  'no-credentials': 'unauthorized: the request has no credentials',
  'malformed-credentials': 'unauthorized: one Authorization header "Bearer TOKEN" is needed',
  'unknown-token': 'unauthorized: the token is not valid',
  'expired-token': 'unauthorized: the token has expired',
  'invalid-token': 'unauthorized: the token is not valid',
  'unknown-principal': 'forbidden: this principal has no access here',
  'no-scopes': 'forbidden: the token has no scope of this endpoint',
  unavailable: 'authentication is not possible at the moment; try again',
};

/**
 * 401. `challenge` is the value of WWW-Authenticate (RFC 9110, 11.6.1); `description` our own words for what is wrong, where
 * the reason alone does not say it.
 */
export function unauthorized(reason: RefusalReason, challenge: string, description?: string): Refused {
  const sentence = description === undefined ? SENTENCES[reason] : `unauthorized: ${description}`;
  return { reason, response: answer(401, sentence, { 'www-authenticate': challenge }) };
}

export function forbidden(reason: RefusalReason, challenge?: string): Refused {
  const headers: Record<string, string> = challenge === undefined ? {} : { 'www-authenticate': challenge };
  return { reason, response: answer(403, SENTENCES[reason], headers) };
}

/** 503: it cannot be known who asks. */
export function unavailable(detail: string): Refused {
  const response = answer(503, SENTENCES.unavailable, { 'retry-after': String(RETRY_SECONDS) });
  return { reason: 'unavailable', response, detail };
}

function answer(status: number, sentence: string, headers: Record<string, string>): Response {
  return new Response(`${sentence}\n`, {
    status,
    headers: { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store', ...headers },
  });
}

/**
 * A challenge of the Bearer scheme. Parameters are our own words: RFC 6750, section 3, allows neither quotation marks nor
 * backslashes nor anything beyond ASCII in them.
 */
export function bearerChallenge(parameters: Readonly<Record<string, string | undefined>> = {}): string {
  const parts = Object.entries(parameters)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}="${String(value).replace(/[^ !#-[\]-~]/g, '')}"`);
  return parts.length === 0 ? 'Bearer' : `Bearer ${parts.join(', ')}`;
}
