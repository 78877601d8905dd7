/**
 * An authorization server for tests: a real HTTP server on loopback with metadata and keys, which counts what it is asked,
 * and whatever token a test wants signed by it.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, type JWTPayload, SignJWT } from 'jose';

export interface SigningKey {
  kid: string;
  alg: string;
  privateKey: CryptoKey;
  publicJwk: JWK;
}

export async function makeKey(alg: string, kid: string): Promise<SigningKey> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
  return { kid, alg, privateKey, publicJwk: { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' } };
}

export interface Issuer {
  /** The issuer as tokens name it. */
  url: string;
  /** Keys of the set, as they are served now. */
  keys: JWK[];
  /** What its documents are, by path; a test may replace one, or answer by itself. */
  documents: Map<string, object | ((request: IncomingMessage, response: ServerResponse) => void)>;
  /** Requests so far, by path. */
  asked: Map<string, number>;
  stop(): Promise<void>;
}

export const JWKS_PATH = '/keys';

/** `path`: of an issuer that is not at its host's root, e.g. `/tenant`. */
export async function startIssuer(keys: readonly SigningKey[], path = ''): Promise<Issuer> {
  const documents: Issuer['documents'] = new Map();
  const asked = new Map<string, number>();
  const issuer: Issuer = {
    url: '',
    keys: keys.map(({ publicJwk }) => publicJwk),
    documents,
    asked,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  const server = createServer((request, response) => {
    const target = request.url ?? '/';
    asked.set(target, (asked.get(target) ?? 0) + 1);
    const document =
      target === JWKS_PATH && !documents.has(target) ? { keys: issuer.keys } : documents.get(target);
    if (document === undefined) {
      response.writeHead(404).end('no such document');
    } else if (typeof document === 'function') {
      document(request, response);
    } else {
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(document));
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  issuer.url = `${origin}${path}`;
  documents.set(`/.well-known/oauth-authorization-server${path}`, {
    issuer: issuer.url,
    jwks_uri: `${origin}${JWKS_PATH}`,
  });
  return issuer;
}

/** Signs claims as they are; `header` is added to `alg` and `kid`, undefined takes one of these away. */
export function sign(
  key: SigningKey,
  claims: JWTPayload,
  header: Record<string, unknown> = {},
): Promise<string> {
  const all = { alg: key.alg, kid: key.kid, typ: 'at+jwt', ...header };
  const kept = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
  const jwt = new SignJWT(claims).setProtectedHeader(kept as { alg: string });
  return jwt.sign(key.privateKey, { crit: { 'urn:test': true } });
}
