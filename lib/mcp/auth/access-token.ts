/**
 * Verifies one access token: a JWT that the configured issuer signed for this endpoint, and nothing else.
 *
 * Asymmetric algorithms alone, so that no public key can be taken for a secret. Keys come from the issuer's set (issuer-keys.ts);
 * `jku`, `x5u`, `jwk` and `x5c` in a header are not looked at. `crit` is refused: we understand no extension. ID tokens are
 * refused although they are signed by the same keys: they tell a client who its user is and open nothing. So are tokens that
 * are bound to a key of their holder (`cnf`): taken without its proof they would be less than their issuer meant.
 *
 * Source: RFC 9068, section 4; RFC 8725, sections 3.1 to 3.12; RFC 9449, section 7.1.
 */
import { decodeProtectedHeader, errors, type JWTPayload, jwtVerify } from 'jose';
import type { OAuthConfig } from './config.ts';
import type { IssuerKeys } from './issuer-keys.ts';

export const ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
];

/** Seconds that the issuer's clock may differ from ours, for `exp` and `nbf`. */
export const CLOCK_TOLERANCE_SECONDS = 10;

const ACCESS_TOKEN_TYPES = [undefined, 'jwt', 'application/jwt', 'at+jwt', 'application/at+jwt'];
/** Claims that only ID tokens have (OpenID Connect Core, sections 2 and 3.3.2.11). */
const ID_TOKEN_CLAIMS = ['nonce', 'at_hash', 'c_hash'];
const MAX_SUBJECT_LENGTH = 255;

/** The token does not open this endpoint. The message is our own and may be told; `expired` is told apart for clients. */
export class TokenFault extends Error {
  override readonly name = 'TokenFault';
  readonly expired: boolean;

  constructor(message: string, expired = false) {
    super(message);
    this.expired = expired;
  }
}

export type AccessTokenClaims = JWTPayload & { sub: string };

/** @throws TokenFault, KeysUnavailable */
export async function verifyAccessToken(
  token: string,
  { issuer, audience }: Pick<OAuthConfig, 'issuer' | 'audience'>,
  keys: IssuerKeys,
  nowMs: number,
): Promise<AccessTokenClaims> {
  checkHeader(token);
  let claims: JWTPayload;
  try {
    const verified = await jwtVerify(token, (header) => keys.keyFor(header), {
      algorithms: ALGORITHMS,
      issuer,
      audience,
      requiredClaims: ['exp', 'sub'],
      clockTolerance: CLOCK_TOLERANCE_SECONDS,
      currentDate: new Date(nowMs),
    });
    claims = verified.payload;
  } catch (error) {
    if (error instanceof errors.JOSEError) throw faultOf(error);
    throw error;
  }
  return checkClaims(claims);
}

/** What is refused before any key is looked for. */
function checkHeader(token: string): void {
  let header: ReturnType<typeof decodeProtectedHeader>;
  try {
    header = decodeProtectedHeader(token);
  } catch {
    throw new TokenFault('the token is not a JWT');
  }
  if (header.crit !== undefined) throw new TokenFault('the token has critical extensions');
  if (typeof header.alg !== 'string' || !ALGORITHMS.includes(header.alg)) {
    throw new TokenFault('the token is not signed with an asymmetric algorithm that is accepted here');
  }
  if (!ACCESS_TOKEN_TYPES.includes(header.typ?.toLowerCase())) {
    throw new TokenFault('the typ of the token is not that of an access token');
  }
}

function checkClaims(claims: JWTPayload): AccessTokenClaims {
  const isIdToken =
    ID_TOKEN_CLAIMS.some((name) => claims[name] !== undefined) ||
    claims.token_use === 'id' ||
    String(claims.typ).toLowerCase() === 'id';
  if (isIdToken) throw new TokenFault('the token is an ID token; an access token is needed');
  if (claims.cnf !== undefined) throw new TokenFault('the token is bound to a key; a bearer token is needed');
  const { sub } = claims;
  if (typeof sub !== 'string' || sub === '' || sub.length > MAX_SUBJECT_LENGTH || /\p{Cc}/u.test(sub)) {
    throw new TokenFault('the sub of the token names no subject');
  }
  return { ...claims, sub };
}

function faultOf(error: errors.JOSEError): TokenFault {
  if (error instanceof errors.JWTExpired) return new TokenFault('the token has expired', true);
  if (error instanceof errors.JWTClaimValidationFailed) {
    const claim = ['iss', 'aud', 'exp', 'nbf', 'sub', 'iat'].find((name) => name === error.claim) ?? 'claims';
    return new TokenFault(`the ${claim} of the token is missing or not accepted here`);
  }
  if (error instanceof errors.JWKSNoMatchingKey) return new TokenFault('the issuer has no such key');
  if (error instanceof errors.JWKSMultipleMatchingKeys) {
    return new TokenFault('the token does not say which key of the issuer signed it');
  }
  return new TokenFault('the signature of the token is not valid');
}
