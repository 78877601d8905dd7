/**
 * Client tokens: the SDK sends one with every create, update and delete, so that its own second try of a request that
 * was carried out is answered instead of refused.
 */
import { hashOf } from '../step-functions/service/storage/files.ts';
import { conflict } from './api-error.ts';
import type { SchedulerContext } from './context.ts';
import type { AcceptedRequest } from './records.ts';
import type { RawRequest } from './requests.ts';

const MAX_DELETIONS = 1000;

/** What is kept of a request; undefined where it has no token. */
export function acceptedRequest(operation: string, request: RawRequest): AcceptedRequest | undefined {
  const { ClientToken: token, ...rest } = request;
  if (typeof token !== 'string') return undefined;
  return { token, hash: hashOf(JSON.stringify([operation, rest])) };
}

/**
 * Whether `request` was carried out before. Throws `ConflictException` where the token is of another request.
 */
export function isRepeat(
  request: AcceptedRequest | undefined,
  carriedOut: AcceptedRequest | undefined,
): boolean {
  if (request === undefined || carriedOut === undefined || request.token !== carriedOut.token) return false;
  if (request.hash === carriedOut.hash) return true;
  throw conflict('The client token was used before, in a request with other parameters.');
}

export function wasDeleted(
  { deletions }: SchedulerContext,
  key: string,
  token: string | null | undefined,
): boolean {
  return token !== null && token !== undefined && deletions.has(`${key} ${token}`);
}

export function rememberDeletion(
  { deletions }: SchedulerContext,
  key: string,
  token: string | null | undefined,
): void {
  if (token === null || token === undefined) return;
  deletions.add(`${key} ${token}`);
  for (const oldest of deletions) {
    if (deletions.size <= MAX_DELETIONS) break;
    deletions.delete(oldest);
  }
}
