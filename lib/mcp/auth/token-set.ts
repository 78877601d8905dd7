/**
 * The tokens of the secret, kept for a short while. What always holds:
 *
 * - no answer rests on a reading that began more than a minute ago, so a token that was revoked is refused a minute later;
 * - a token id that is not in the set is looked for anew, but at most every ten seconds, however many come;
 * - a reading that fails costs nothing for as long as the last good one is young enough.
 *
 * Readings are shared: however many requests wait, one is under way.
 */
import { parseTokenSecret, type StoredToken } from './tokens.ts';

/** After this a set is read anew when next asked for; the rest of the minute is for readings that fail. */
const FRESH_MS = 30_000;
const MAX_AGE_MS = 60_000;
/** Between readings that somebody could do without. */
const AGAIN_MS = 10_000;
/** Between readings that fail while no set is usable. */
const FAILING_MS = 1000;
const READ_TIMEOUT_MS = 5000;

/** No usable set of tokens. `detail` is our own sentence or an error's name. */
export class TokensUnavailable extends Error {
  override readonly name = 'TokensUnavailable';
  readonly detail: string;

  constructor(detail: string) {
    super(`the tokens cannot be read: ${detail}`);
    this.detail = detail;
  }
}

export interface TokenSet {
  /** The token with this id; undefined: none. @throws TokensUnavailable */
  find(id: string): Promise<StoredToken | undefined>;
}

export function createTokenSet(read: () => Promise<string>, now: () => number): TokenSet {
  let held: { tokens: ReadonlyMap<string, StoredToken>; since: number } | undefined;
  let reading: Promise<void> | undefined;
  let lastBegan = Number.NEGATIVE_INFINITY;
  let fault = 'no reading has ended';

  const age = (since: number): number => {
    const ms = now() - since;
    // A clock that was set back must not make anything young.
    return ms < 0 ? Number.POSITIVE_INFINITY : ms;
  };
  const isUsable = (): boolean => held !== undefined && age(held.since) < MAX_AGE_MS;

  /** Reads anew unless a reading began less than `againMs` ago; waits for one that is under way. Never rejects. */
  const refresh = (againMs: number): Promise<void> => {
    if (reading !== undefined) return reading;
    if (age(lastBegan) < againMs) return Promise.resolve();
    const since = now();
    lastBegan = since;
    reading = withinTime(read)
      .then((text) => {
        const tokens = parseTokenSecret(text).tokens;
        held = { tokens: new Map(tokens.map((token) => [token.id, token])), since };
      })
      .catch((error: unknown) => {
        fault = faultOf(error);
      })
      .finally(() => {
        reading = undefined;
      });
    return reading;
  };

  return {
    async find(id) {
      if (!isUsable()) await refresh(FAILING_MS);
      else if (held !== undefined && age(held.since) >= FRESH_MS) await refresh(AGAIN_MS);
      if (held?.tokens.has(id) !== true) await refresh(AGAIN_MS);
      if (held === undefined || !isUsable()) throw new TokensUnavailable(fault);
      return held.tokens.get(id);
    },
  };
}

/** A reading that hangs is one that fails. */
async function withinTime(read: () => Promise<string>): Promise<string> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new TokensUnavailable('no answer in time')), READ_TIMEOUT_MS);
    timer.unref();
  });
  try {
    return await Promise.race([read(), late]);
  } finally {
    clearTimeout(timer);
  }
}

/** What may be told of a failed reading: our own sentences, and of others' errors the name. */
function faultOf(error: unknown): string {
  if (error instanceof TokensUnavailable) return error.detail;
  if (error instanceof Error) return error.name === 'TokenSecretError' ? error.message : error.name;
  return 'an unknown fault';
}
