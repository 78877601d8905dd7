/**
 * Bearer tokens of ours, and the secret that holds what is kept of them: `{"version":1,"tokens":[…]}`, each with the hash of
 * its secret part. The part has 256 bits of chance, so a plain SHA-256 can be neither guessed nor looked up. A token is
 * `mwe_ID_SECRET`; the id is no secret and is what people revoke by.
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import { SCOPES, type Scope } from '../../engine/principals.ts';
import { toolsSchema } from './config.ts';

export interface StoredToken {
  id: string;
  /** SHA-256 of the secret part, in hex. */
  hash: string;
  /** Name of the principal; its id is `token:NAME`. */
  principal: string;
  scopes: Scope[];
  tools?: string[];
  /** ISO times. */
  createdAt: string;
  expiresAt?: string;
}

/** The text of the secret is no list of tokens. The message names the place, never what stands there. */
export class TokenSecretError extends Error {
  override readonly name = 'TokenSecretError';
}

export const TOKEN_ID = /^[a-z0-9]{12}$/;
export const PRINCIPAL_NAME = /^[A-Za-z0-9][A-Za-z0-9._@-]{0,63}$/;

const TOKEN = /^mwe_([a-z0-9]{12})_([A-Za-z0-9_-]{43})$/;
const SECRET_BYTES = 32;
const ID_LENGTH = 12;

/** A new token: its text, for its holder alone, and what is stored of it. */
export function mintToken(): { text: string; id: string; hash: string } {
  // 5 bits a letter: 60 in all, enough that no two ids of a deployment meet.
  const id = Array.from(randomBytes(ID_LENGTH), (byte) => 'abcdefghijkmnpqrstuvwxyz23456789'[byte % 32]).join(
    '',
  );
  const secret = randomBytes(SECRET_BYTES).toString('base64url');
  return { text: `mwe_${id}_${secret}`, id, hash: hashOf(secret) };
}

/** Takes a token apart; undefined where it is none of ours. */
export function splitToken(text: string): { id: string; secret: string } | undefined {
  const [, id, secret] = TOKEN.exec(text) ?? [];
  return id === undefined || secret === undefined ? undefined : { id, secret };
}

/** Whether it is this token's secret part, in a time that does not tell how much of it is right. */
export function isSecretOf(token: StoredToken, secret: string): boolean {
  return timingSafeEqual(Buffer.from(token.hash, 'hex'), Buffer.from(hashOf(secret), 'hex'));
}

export function hasExpired(token: StoredToken, nowMs: number): boolean {
  return token.expiresAt !== undefined && nowMs >= Date.parse(token.expiresAt);
}

function hashOf(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}

const stored = z.object({
  id: z.string().regex(TOKEN_ID),
  hash: z.string().regex(/^[0-9a-f]{64}$/),
  principal: z.string().regex(PRINCIPAL_NAME),
  scopes: z.array(z.enum(SCOPES)),
  tools: toolsSchema.optional(),
  createdAt: z.iso.datetime(),
  expiresAt: z.iso.datetime().optional(),
});

const envelope = z.object({ version: z.literal(1), tokens: z.array(z.unknown()) });

/**
 * Reads the secret's text. Entries that are not understood are left out, which takes access and gives none; `faults` has
 * their places.
 * @throws TokenSecretError where the whole is no list of tokens.
 */
export function parseTokenSecret(text: string): { tokens: StoredToken[]; faults: string[] } {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw new TokenSecretError('the token secret is not JSON');
  }
  const whole = envelope.safeParse(json);
  if (!whole.success) {
    throw new TokenSecretError('the token secret is not {"version":1,"tokens":[…]}');
  }
  const tokens = new Map<string, StoredToken>();
  const faults: string[] = [];
  for (const [index, entry] of whole.data.tokens.entries()) {
    const parsed = stored.safeParse(entry);
    if (!parsed.success) {
      faults.push(...parsed.error.issues.map(({ path }) => ['tokens', index, ...path].join('/')));
    } else if (tokens.has(parsed.data.id)) {
      faults.push(`tokens/${index}/id`);
    } else {
      // The schema's optional fields may also be undefined; JSON has no such value.
      tokens.set(parsed.data.id, parsed.data as StoredToken);
    }
  }
  return { tokens: [...tokens.values()], faults };
}

export function formatTokenSecret(tokens: readonly StoredToken[]): string {
  return JSON.stringify({ version: 1, tokens });
}
