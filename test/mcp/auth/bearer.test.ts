/** Tokens of ours, with the secret in a real Secrets Manager stand-in and a clock of the test's own. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  CreateSecretCommand,
  GetSecretValueCommand,
  PutSecretValueCommand,
  SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { RunningServer } from '../../../lib/local/http-server.ts';
import { startSecretsManager } from '../../../lib/local/secrets-manager/service.ts';
import { type Authenticator, createAuthenticator } from '../../../lib/mcp/auth/authenticator.ts';
import { formatTokenSecret, mintToken, type StoredToken } from '../../../lib/mcp/auth/tokens.ts';
import { clientConfig, LOCAL_CREDENTIALS, LOCAL_REGION } from '../../../lib/store/aws-config.ts';

const START = Date.parse('2026-11-30T12:00:00Z');
const SECOND = 1000;

let folder: string;
let server: RunningServer;
let client: SecretsManagerClient;
let clock: number;
let reads: number;
let failing: boolean;
let arn: string;
let secrets = 0;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mwe-bearer-'));
  server = await startSecretsManager({ folder });
  client = new SecretsManagerClient(
    clientConfig({ region: LOCAL_REGION, endpoint: server.url, credentials: LOCAL_CREDENTIALS }),
  );
});
afterAll(async () => {
  client.destroy();
  await server.close();
  await rm(folder, { recursive: true, force: true });
});
beforeEach(() => {
  clock = START;
  reads = 0;
  failing = false;
});

interface Made {
  text: string;
  entry: StoredToken;
}

function make(changes: Partial<StoredToken> = {}): Made {
  const { text, id, hash } = mintToken();
  const createdAt = new Date(START).toISOString();
  return {
    text,
    entry: { id, hash, principal: 'ci', scopes: ['runs:start'], createdAt, ...changes },
  };
}

const keep = (...tokens: Made[]) => write(formatTokenSecret(tokens.map(({ entry }) => entry)));
const write = (SecretString: string) =>
  client.send(new PutSecretValueCommand({ SecretId: arn, SecretString }));

async function start(...tokens: Made[]): Promise<Authenticator> {
  const created = await client.send(new CreateSecretCommand({ Name: `tokens-${++secrets}` }));
  arn = String(created.ARN);
  await keep(...tokens);
  return createAuthenticator(
    { mode: 'bearer', secretArn: arn },
    {
      readSecret: async (id) => {
        reads++;
        if (failing) throw Object.assign(new Error(`may not read ${id}`), { name: 'AccessDeniedException' });
        const { SecretString } = await client.send(new GetSecretValueCommand({ SecretId: id }));
        return String(SecretString);
      },
      fetch,
      now: () => clock,
    },
  );
}

async function ask(authenticator: Authenticator, authorization?: string) {
  const headers: Record<string, string> = authorization === undefined ? {} : { authorization };
  return authenticator.authenticate(new Request('https://x.example/mcp', { method: 'POST', headers }), {});
}

async function statusOf(authenticator: Authenticator, token: string): Promise<number> {
  const caller = await ask(authenticator, `Bearer ${token}`);
  return 'principal' in caller ? 200 : caller.response.status;
}

describe('a token', () => {
  it('is 256 bits of chance, and only its hash is kept', () => {
    const { text, entry } = make();
    expect(text).toMatch(/^mwe_[a-z0-9]{12}_[A-Za-z0-9_-]{43}$/);
    expect(entry.hash).toMatch(/^[0-9a-f]{64}$/);
    expect(formatTokenSecret([entry])).not.toContain(text.slice(-43));
    const many = new Set(Array.from({ length: 1000 }, () => mintToken().text));
    expect(many.size).toBe(1000);
  });

  it('gives its principal, scopes and tools', async () => {
    const token = make({ principal: 'nightly.ci', scopes: ['runs:start', 'runs:read'], tools: ['k8s/*'] });
    const authenticator = await start(token);
    for (const scheme of ['Bearer', 'bearer', 'BEARER  ']) {
      expect(await ask(authenticator, `${scheme} ${token.text}`)).toEqual({
        principal: {
          kind: 'token',
          id: 'token:nightly.ci',
          scopes: ['runs:start', 'runs:read'],
          tools: ['k8s/*'],
        },
      });
    }
  });

  it('may be one of two of its principal', async () => {
    const [old, fresh] = [make(), make()];
    const authenticator = await start(old, fresh);
    expect(await statusOf(authenticator, old.text)).toBe(200);
    expect(await statusOf(authenticator, fresh.text)).toBe(200);
  });

  it('ends when it says', async () => {
    const token = make({ expiresAt: new Date(START + 5 * SECOND).toISOString() });
    const authenticator = await start(token);
    clock += 5 * SECOND - 1;
    expect(await statusOf(authenticator, token.text)).toBe(200);
    clock += 1;
    const caller = await ask(authenticator, `Bearer ${token.text}`);
    expect(caller).toMatchObject({ reason: 'expired-token' });
    // Who does not hold it does not learn that it was one.
    const guess = await ask(authenticator, `Bearer ${token.text.slice(0, -43)}${'A'.repeat(43)}`);
    expect(guess).toMatchObject({ reason: 'unknown-token' });
  });
});

describe('what is refused with 401 and a challenge that names no metadata', () => {
  const token = make();
  const secret = token.text.slice(-43);
  const swapped = `${token.text.slice(0, -1)}${token.text.endsWith('A') ? 'E' : 'A'}`;
  it.each([
    ['no header', undefined, 'no-credentials'],
    ['an empty header', '', 'no-credentials'],
    ['another scheme', `Basic ${token.text}`, 'malformed-credentials'],
    ['a scheme without a token', 'Bearer', 'malformed-credentials'],
    ['the token without a scheme', token.text, 'malformed-credentials'],
    ['the token twice', `Bearer ${token.text}, Bearer ${token.text}`, 'malformed-credentials'],
    ['something behind it', `Bearer ${token.text} x`, 'malformed-credentials'],
    ['a header without end', `Bearer ${'a'.repeat(20_000)}`, 'malformed-credentials'],
    ['another last character', `Bearer ${swapped}`, 'unknown-token'],
    ['one character less', `Bearer ${token.text.slice(0, -1)}`, 'unknown-token'],
    ['one character more', `Bearer ${token.text}A`, 'unknown-token'],
    [
      'its hash for its secret',
      `Bearer mwe_${token.entry.id}_${token.entry.hash.slice(0, 43)}`,
      'unknown-token',
    ],
    ['another id', `Bearer mwe_aaaaaaaaaaaa_${secret}`, 'unknown-token'],
    ['the id in capitals', `Bearer mwe_${token.entry.id.toUpperCase()}_${secret}`, 'unknown-token'],
    ['the prefix in capitals', `Bearer MWE_${token.entry.id}_${secret}`, 'unknown-token'],
    ['an inherited name as id', `Bearer mwe___proto____${secret}`, 'unknown-token'],
    ['a JWT', 'Bearer eyJhbGciOiJub25lIn0.e30.', 'unknown-token'],
  ])('%s', async (_, authorization, reason) => {
    const caller = await ask(await start(token), authorization);
    expect(caller).toMatchObject({ reason });
    if (!('response' in caller)) throw new Error('it was let in');
    const { status, headers } = caller.response;
    expect(status).toBe(401);
    const challenge = headers.get('www-authenticate') ?? '';
    if (reason === 'no-credentials') expect(challenge).toBe('Bearer');
    else expect(challenge).toMatch(/^Bearer error="invalid_token", error_description="[ -~]+"$/);
    expect(challenge).not.toContain('resource_metadata');
    const told = JSON.stringify([await caller.response.text(), challenge, caller.reason]);
    expect(told).not.toContain(secret);
    expect(told).not.toContain(token.entry.hash);
  });

  it('nothing is read of the secret for what cannot be a token', async () => {
    const authenticator = await start(token);
    await ask(authenticator);
    await ask(authenticator, 'Bearer nonsense');
    expect(reads).toBe(0);
  });

  it('well-known paths are not there', async () => {
    const authenticator = await start();
    for (const path of ['', '/mcp']) {
      const url = `https://x.example/.well-known/oauth-protected-resource${path}`;
      expect(authenticator.metadata(new Request(url))).toBeUndefined();
    }
  });
});

describe('when the secret is read', () => {
  it('once for many at once, and then not for half a minute', async () => {
    const token = make();
    const authenticator = await start(token);
    const all = await Promise.all(Array.from({ length: 50 }, () => statusOf(authenticator, token.text)));
    expect(new Set(all)).toEqual(new Set([200]));
    clock += 30 * SECOND - 1;
    expect(await statusOf(authenticator, token.text)).toBe(200);
    expect(reads).toBe(1);
    clock += 1;
    expect(await statusOf(authenticator, token.text)).toBe(200);
    expect(reads).toBe(2);
  });

  it('a revoked token is refused within a minute', async () => {
    const [kept, revoked] = [make(), make()];
    const authenticator = await start(kept, revoked);
    expect(await statusOf(authenticator, revoked.text)).toBe(200);
    await keep(kept);
    clock += 60 * SECOND;
    expect(await statusOf(authenticator, revoked.text)).toBe(401);
    expect(await statusOf(authenticator, kept.text)).toBe(200);
  });

  it('a new token is known at once where nothing was read for ten seconds', async () => {
    const [old, fresh] = [make(), make()];
    const authenticator = await start(old);
    expect(await statusOf(authenticator, old.text)).toBe(200);
    await keep(old, fresh);
    clock += 10 * SECOND - 1;
    expect(await statusOf(authenticator, fresh.text)).toBe(401);
    clock += 1;
    expect(await statusOf(authenticator, fresh.text)).toBe(200);
    expect(reads).toBe(2);
  });

  it('at most every ten seconds for ids that are unknown, however many come', async () => {
    const authenticator = await start(make());
    const storm = async () => {
      const all = await Promise.all(
        Array.from({ length: 60 }, () => statusOf(authenticator, mintToken().text)),
      );
      expect(new Set(all)).toEqual(new Set([401]));
      return reads;
    };
    expect(await storm()).toBe(1);
    clock += 10 * SECOND - 1;
    expect(await storm()).toBe(1);
    clock += 1;
    expect(await storm()).toBe(2);
    for (let n = 0; n < 6; n++) {
      clock += 10 * SECOND;
      await storm();
    }
    expect(reads).toBe(8);
  });

  it('a reading that fails costs nothing for a minute, then there is 503 until one succeeds', async () => {
    const token = make();
    const authenticator = await start(token);
    expect(await statusOf(authenticator, token.text)).toBe(200);
    failing = true;
    clock += 30 * SECOND;
    for (let n = 0; n < 5; n++) expect(await statusOf(authenticator, token.text)).toBe(200);
    expect(reads).toBe(2);
    clock += 30 * SECOND - 1;
    expect(await statusOf(authenticator, token.text)).toBe(200);
    expect(await statusOf(authenticator, mintToken().text)).toBe(401);
    clock += SECOND;
    const caller = await ask(authenticator, `Bearer ${token.text}`);
    expect(caller).toMatchObject({ reason: 'unavailable', detail: 'AccessDeniedException' });
    if (!('response' in caller)) throw new Error('it was let in');
    expect(caller.response.status).toBe(503);
    expect(caller.response.headers.get('retry-after')).toBe('5');
    expect(await caller.response.text()).not.toContain(arn);
    failing = false;
    clock += SECOND;
    expect(await statusOf(authenticator, token.text)).toBe(200);
  });

  it('without any usable set it is asked for at most once a second', async () => {
    const authenticator = await start(make());
    failing = true;
    for (let n = 0; n < 20; n++) expect(await statusOf(authenticator, mintToken().text)).toBe(503);
    expect(reads).toBe(1);
    clock += SECOND;
    expect(await statusOf(authenticator, mintToken().text)).toBe(503);
    expect(reads).toBe(2);
  });

  it('a clock that is set back makes no set young', async () => {
    const token = make();
    const authenticator = await start(token);
    expect(await statusOf(authenticator, token.text)).toBe(200);
    await keep();
    clock -= 3600 * SECOND;
    expect(await statusOf(authenticator, token.text)).toBe(401);
  });
});

describe('a secret that is not as it should be', () => {
  it.each([
    ['no JSON', 'generated-by-somebody-else', 'the token secret is not JSON'],
    ['another version', '{"version":2,"tokens":[]}', 'the token secret is not {"version":1,"tokens":[…]}'],
    ['no list', '{"version":1}', 'the token secret is not {"version":1,"tokens":[…]}'],
  ])('%s: 503, and the log says what it is', async (_, text, detail) => {
    const authenticator = await start();
    await write(text);
    const caller = await ask(authenticator, `Bearer ${mintToken().text}`);
    expect(caller).toMatchObject({ reason: 'unavailable', detail });
  });

  const good = make();
  const bad = make();
  it.each([
    ['an unknown scope', { scopes: ['everything'] }],
    ['no scopes', { scopes: undefined }],
    ['a principal with a colon', { principal: 'local:x' }],
    ['an empty hash', { hash: '' }],
    ['an expiry that is no time', { expiresAt: 'soon' }],
    ['tools that are no list', { tools: '*' }],
    ['a pattern of tools', { tools: ['k8s/get*'] }],
  ])('an entry with %s opens nothing, and the others go on', async (_, changes) => {
    const authenticator = await start();
    await write(JSON.stringify({ version: 1, tokens: [{ ...bad.entry, ...changes }, good.entry] }));
    expect(await statusOf(authenticator, bad.text)).toBe(401);
    expect(await statusOf(authenticator, good.text)).toBe(200);
  });

  it('of two entries with one id the first counts', async () => {
    const [first, second] = [make(), make({ scopes: ['admin'] })];
    const authenticator = await start(first, { ...second, entry: { ...second.entry, id: first.entry.id } });
    expect(await ask(authenticator, `Bearer ${first.text}`)).toMatchObject({
      principal: { scopes: ['runs:start'] },
    });
    const other = `mwe_${first.entry.id}_${second.text.slice(-43)}`;
    expect(await statusOf(authenticator, other)).toBe(401);
  });
});
