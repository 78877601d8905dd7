/**
 * Pages of a list and the tokens that continue it.
 *
 * A token says which list it continues (operation and query), after which position, and when it was given: one of
 * another query, a forged or broken one, and one older than 24 hours are refused with `InvalidToken`, as the API
 * reference says. Positions are stable (a sequence number, a name, an event's index), so what is added between two
 * pages neither repeats nor hides an entry.
 */
import { createHash } from 'node:crypto';
import { invalidToken } from './api-error.ts';

const TOKEN_LIFE_MS = 24 * 60 * 60 * 1000;
const DEFAULT_PAGE = 100;

export type Position = string | number;

/** The number of entries on a page: 100 where the caller gives none or 0. */
export function pageSize(maxResults: number | undefined): number {
  return maxResults === undefined || maxResults === 0 ? DEFAULT_PAGE : maxResults;
}

/** `query` names the operation and every argument that must stay the same from page to page. */
export function encodeToken(query: readonly unknown[], position: Position, now: number): string {
  return Buffer.from(JSON.stringify([fingerprint(query), position, now])).toString('base64url');
}

/** The position to go on after; undefined for a first page. Throws `InvalidToken`. */
export function decodeToken(
  query: readonly unknown[],
  token: string | undefined,
  now: number,
): Position | undefined {
  if (token === undefined) return undefined;
  let parsed: unknown;
  try {
    parsed = JSON.parse(Buffer.from(token, 'base64url').toString('utf8'));
  } catch {
    throw invalidToken();
  }
  if (!Array.isArray(parsed) || parsed.length !== 3) throw invalidToken();
  const [print, position, given] = parsed as [unknown, unknown, unknown];
  const known = typeof position === 'string' || typeof position === 'number';
  if (print !== fingerprint(query) || !known || typeof given !== 'number') throw invalidToken();
  if (now - given > TOKEN_LIFE_MS) throw invalidToken();
  return position;
}

/**
 * One page of `entries`, which are in answer order: those after the token's position, at most `size`.
 * `positionOf` must strictly follow `isAfter`.
 */
export function takePage<T>(
  entries: Iterable<T>,
  size: number,
  isAfter: (entry: T) => boolean,
): { page: T[]; more: boolean } {
  const page: T[] = [];
  for (const entry of entries) {
    if (!isAfter(entry)) continue;
    if (page.length === size) return { page, more: true };
    page.push(entry);
  }
  return { page, more: false };
}

function fingerprint(query: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(query)).digest('base64url').slice(0, 16);
}
