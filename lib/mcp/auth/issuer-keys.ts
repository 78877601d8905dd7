/**
 * The issuer's public keys, fetched when they are first needed and kept. What always holds:
 *
 * - keys are fetched anew after ten minutes; while that fails the old ones serve for an hour at most;
 * - a key id that is not among them makes one fetch a minute at most, however many such tokens come;
 * - only keys of the configured issuer's own set verify: what a token itself names or carries is never looked at.
 *
 * Fetches are shared: however many requests wait, one is under way.
 */
import {
  type CryptoKey,
  createLocalJWKSet,
  errors,
  type JSONWebKeySet,
  type JWSHeaderParameters,
} from 'jose';
import type { JsonObject } from '../../blueprint/json.ts';
import type { OAuthConfig } from './config.ts';
import { discoverJwksUri } from './discovery.ts';
import { FetchFault, fetchJson } from './fetch-json.ts';

const FRESH_MS = 10 * 60_000;
const MAX_AGE_MS = 60 * 60_000;
const AGAIN_MS = 60_000;
/** Between fetches that fail while no key is usable. */
const FAILING_MS = 5000;
const MAX_KEYS = 100;

/** There are no usable keys. `detail` says which document could not be had. */
export class KeysUnavailable extends Error {
  override readonly name = 'KeysUnavailable';
  readonly detail: string;

  constructor(detail: string) {
    super(`the issuer's keys cannot be had: ${detail}`);
    this.detail = detail;
  }
}

export interface IssuerKeys {
  /** The key that a token's header means, by `kid` and `alg` alone. @throws KeysUnavailable, or jose's errors */
  keyFor(header: JWSHeaderParameters): Promise<CryptoKey>;
}

export function createIssuerKeys(
  config: Pick<OAuthConfig, 'issuer' | 'jwksUri'>,
  deps: { fetch: typeof fetch; now(): number },
): IssuerKeys {
  let held: { find: ReturnType<typeof createLocalJWKSet>; since: number } | undefined;
  let fetching: Promise<void> | undefined;
  let lastBegan = Number.NEGATIVE_INFINITY;
  let fault = 'no fetch has ended';

  const age = (since: number): number => {
    const ms = deps.now() - since;
    // A clock that was set back must not make anything young.
    return ms < 0 ? Number.POSITIVE_INFINITY : ms;
  };

  /** Fetches anew unless a fetch began less than `againMs` ago; waits for one that is under way. Never rejects. */
  const refresh = (againMs: number): Promise<void> => {
    if (fetching !== undefined) return fetching;
    if (age(lastBegan) < againMs) return Promise.resolve();
    const since = deps.now();
    lastBegan = since;
    fetching = fetchKeys(config, deps.fetch)
      .then((keys) => {
        held = { find: createLocalJWKSet(keys), since };
      })
      .catch((error: unknown) => {
        fault = error instanceof FetchFault ? error.message : 'the key set is malformed';
      })
      .finally(() => {
        fetching = undefined;
      });
    return fetching;
  };

  return {
    async keyFor({ alg, kid }) {
      if (held === undefined || age(held.since) >= MAX_AGE_MS) await refresh(FAILING_MS);
      else if (age(held.since) >= FRESH_MS) await refresh(AGAIN_MS);
      if (held === undefined || age(held.since) >= MAX_AGE_MS) throw new KeysUnavailable(fault);
      // Nothing else of the header is handed on.
      const wanted = { ...(alg === undefined ? {} : { alg }), ...(kid === undefined ? {} : { kid }) };
      try {
        return await held.find(wanted);
      } catch (error) {
        if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
        await refresh(AGAIN_MS);
        return held.find(wanted);
      }
    },
  };
}

/** @throws FetchFault */
async function fetchKeys(
  { issuer, jwksUri }: Pick<OAuthConfig, 'issuer' | 'jwksUri'>,
  fetchImpl: typeof fetch,
): Promise<JSONWebKeySet> {
  const url = jwksUri ?? (await discoverJwksUri(fetchImpl, issuer));
  const { keys } = await fetchJson(fetchImpl, url);
  if (!Array.isArray(keys) || keys.length > MAX_KEYS) {
    throw new FetchFault(url, `a list "keys" of at most ${MAX_KEYS} is needed`);
  }
  return { keys: keys.filter(isPublicKey) as JSONWebKeySet['keys'] };
}

/** A shared secret or a private key in a public document is a mistake that must not become an access. */
function isPublicKey(key: unknown): boolean {
  if (typeof key !== 'object' || key === null) return false;
  const { kty, d, k } = key as JsonObject;
  return (kty === 'RSA' || kty === 'EC' || kty === 'OKP') && d === undefined && k === undefined;
}
