/**
 * The one `Authorization` header of a request. Two of them arrive joined by a comma, which no token may hold, so they are
 * malformed and neither is looked at.
 *
 * Source: RFC 6750, section 2.1 (`b64token`); RFC 9110, section 11.1 (the scheme's case does not count).
 */

export type Presented = { token: string } | 'none' | 'malformed';

/** Longer than any token of ours or of an issuer that fits the header limits around us. */
export const MAX_TOKEN_LENGTH = 16_384;

const BEARER = /^bearer +([A-Za-z0-9\-._~+/]+=*)$/i;

export function presentedToken(request: Request): Presented {
  const header = request.headers.get('authorization');
  if (header === null || header === '') return 'none';
  if (header.length > MAX_TOKEN_LENGTH + 'bearer '.length) return 'malformed';
  const token = BEARER.exec(header)?.[1];
  return token === undefined ? 'malformed' : { token };
}
