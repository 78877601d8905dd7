/**
 * Who asks, decided from the headers of a request (and what the function URL verified) before anything reads its body. One of
 * three ways a deployment, never two: what one mode takes, the others refuse.
 *
 * The credential itself stays in this folder: it is in no principal, no log, no error and no answer, and the endpoint hands the
 * request on without it.
 */
import type { Principal } from '../../store/records.ts';
import { bearerAuthenticator } from './bearer.ts';
import type { AuthConfig } from './config.ts';
import { iamAuthenticator } from './iam.ts';
import { oauthAuthenticator } from './oauth.ts';

/** What the host has verified by itself. */
export interface CallerContext {
  /** `requestContext.authorizer.iam.userArn` of a function URL whose signatures Lambda verifies. */
  iamArn?: string;
}

export interface Authenticated {
  principal: Principal;
  /** Where the client learns how to ask for more scopes (OAuth alone). */
  resourceMetadataUrl?: string;
}

/** Why somebody was refused, for logs: a closed set that tells nothing of the credential. */
export type RefusalReason =
  | 'no-credentials'
  | 'malformed-credentials'
  | 'unknown-token'
  | 'expired-token'
  | 'invalid-token'
  | 'unknown-principal'
  | 'no-scopes'
  | 'unavailable';

export interface Refused {
  /** 401, 403 or (`unavailable`) 503. */
  response: Response;
  reason: RefusalReason;
  /** Of `unavailable`: our own sentence or the name of an error, for the log. */
  detail?: string;
}

export interface Authenticator {
  /** From headers and context alone; the body is not read. Does not throw for what a caller sends. */
  authenticate(request: Request, context: CallerContext): Promise<Authenticated | Refused>;
  /** Well-known documents that this mode serves; undefined: not its path. */
  metadata(request: Request): Response | undefined;
}

export interface AuthDependencies {
  /** The current text of a secret. Should give up within a few seconds; whatever it throws counts as unreadable. */
  readSecret(arn: string): Promise<string>;
  fetch: typeof fetch;
  /** Epoch milliseconds. */
  now(): number;
}

/** Makes the authenticator of a deployment. Nothing is read or fetched before the first request. */
export function createAuthenticator(config: AuthConfig, deps: AuthDependencies): Authenticator {
  switch (config.mode) {
    case 'bearer':
      return bearerAuthenticator(config, deps);
    case 'iam':
      return iamAuthenticator(config);
    case 'oauth':
      return oauthAuthenticator(config, deps);
  }
}
