/**
 * An OAuth issuer of our own on loopback: its metadata, its keys, and tokens as it is asked for them. To the endpoint it is
 * `https://issuer.example`; rehearsal/route-issuer.mjs, loaded into the function before its bundle, sends what goes there to loopback,
 * as a resolver and a TLS terminator would.
 */
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { type RunningServer, startServer } from '../lib/local/http-server.ts';

export const ISSUER = 'https://issuer.example';

export interface Issuer {
  url: string;
  /** Signs an access token; `claims` come on top of a good token's. */
  token(claims: Readonly<Record<string, unknown>>): Promise<string>;
  close(): Promise<void>;
}

const KID = 'rehearsal';

export async function startIssuer(audience: string): Promise<Issuer> {
  const { publicKey, privateKey } = await generateKeyPair('ES256');
  const documents: Readonly<Record<string, object>> = {
    '/.well-known/oauth-authorization-server': { issuer: ISSUER, jwks_uri: `${ISSUER}/keys` },
    '/.well-known/openid-configuration': { issuer: ISSUER, jwks_uri: `${ISSUER}/keys` },
    '/keys': { keys: [{ ...(await exportJWK(publicKey)), kid: KID, alg: 'ES256', use: 'sig' }] },
  };
  const server: RunningServer = await startServer((request, response) => {
    const document = documents[(request.url ?? '').split('?')[0] ?? ''];
    const body = JSON.stringify(document ?? { error: 'not found' });
    response.writeHead(document === undefined ? 404 : 200, {
      'Content-Type': 'application/json',
      'Content-Length': Buffer.byteLength(body),
    });
    response.end(body);
  });
  return {
    url: server.url,
    token(claims) {
      const now = Math.floor(Date.now() / 1000);
      const good = {
        iss: ISSUER,
        aud: audience,
        sub: 'agent',
        iat: now,
        nbf: now,
        exp: now + 600,
        client_id: 'c',
        jti: 'j',
      };
      return new SignJWT({ ...good, ...claims })
        .setProtectedHeader({ alg: 'ES256', kid: KID, typ: 'at+jwt' })
        .sign(privateKey);
    },
    close: () => server.close(),
  };
}
