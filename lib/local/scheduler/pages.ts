/**
 * Pages of a list. A token says which query it continues and after which key; one of another query, or a broken one, is
 * refused. Keys are names, so what is added or removed between two pages neither repeats nor hides an entry.
 */
import { hashOf } from '../step-functions/service/storage/files.ts';
import { invalid } from './api-error.ts';

const DEFAULT_PAGE = 100;

interface PageRequest {
  MaxResults?: number | null | undefined;
  NextToken?: string | null | undefined;
}

/**
 * One page of `entries`, which are in the order of their keys.
 * @param query names the list and every argument that must stay the same from page to page
 */
export function pageOf<T>(
  entries: readonly T[],
  keyOf: (entry: T) => string,
  request: PageRequest,
  query: readonly unknown[],
): { page: T[]; NextToken?: string } {
  const print = hashOf(JSON.stringify(query)).slice(0, 16);
  const after = request.NextToken ?? undefined;
  const position = after === undefined ? undefined : positionOf(after, print);
  const rest = position === undefined ? entries : entries.filter((entry) => keyOf(entry) > position);
  const page = rest.slice(0, request.MaxResults ?? DEFAULT_PAGE);
  const last = page.at(-1);
  if (last === undefined || page.length === rest.length) return { page };
  return { page, NextToken: Buffer.from(JSON.stringify([print, keyOf(last)])).toString('base64url') };
}

function positionOf(token: string, print: string): string {
  try {
    const read: unknown = JSON.parse(Buffer.from(token, 'base64url').toString('utf8'));
    if (Array.isArray(read) && read[0] === print && typeof read[1] === 'string') return read[1];
  } catch {
    // Refused below, as any other token that is not ours.
  }
  throw invalid('Invalid NextToken.');
}
