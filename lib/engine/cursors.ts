/**
 * Authenticated cursors: a page's continuation is bound to the caller and the query it came from, so that it can be
 * neither forged nor carried over to another query.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { canonicalJson } from '../blueprint/canonical.ts';
import type { Json } from '../blueprint/json.ts';
import { EngineError } from './errors.ts';

/** What a cursor is bound to: the operation, its arguments and the principal's id. */
export type CursorQuery = { operation: string; principal: string } & Record<string, Json>;

function sign(secret: string, query: CursorQuery, position: string): Buffer {
  return createHmac('sha256', secret)
    .update(`${canonicalJson(query)}\n${position}`)
    .digest()
    .subarray(0, 16);
}

/** Gives the key of cursors. Where it has to be fetched, that is done by the first cursor and not by the start. */
export type CursorSecret = () => Promise<string>;

/** Seals a position of the store for the caller. */
export async function sealCursor(
  secret: CursorSecret,
  query: CursorQuery,
  position: string,
): Promise<string> {
  const signature = sign(await secret(), query, position);
  return `${Buffer.from(position).toString('base64url')}.${signature.toString('base64url')}`;
}

/** @throws EngineError Invalid when the cursor is damaged or belongs to another query. */
export async function openCursor(secret: CursorSecret, query: CursorQuery, cursor: string): Promise<string> {
  const [body = '', signature = ''] = cursor.split('.');
  const position = Buffer.from(body, 'base64url').toString();
  const given = Buffer.from(signature, 'base64url');
  const expected = sign(await secret(), query, position);
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) {
    throw new EngineError(
      'Invalid',
      'cursor: not a cursor of this query; pass "nextCursor" of the page before, with the same arguments, or leave it out',
    );
  }
  return position;
}
