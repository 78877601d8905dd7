/** `mwe token` against a real Secrets Manager stand-in: what a person types, what is kept, and two people at once. */
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  CreateSecretCommand,
  GetSecretValueCommand,
  PutSecretValueCommand,
  SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { CliError } from '../../lib/cli/exit-codes.ts';
import { runToken } from '../../lib/cli/token.ts';
import { SCOPES } from '../../lib/engine/principals.ts';
import type { RunningServer } from '../../lib/local/http-server.ts';
import { startSecretsManager } from '../../lib/local/secrets-manager/service.ts';
import { createAuthenticator } from '../../lib/mcp/auth/authenticator.ts';
import { formatTokenSecret, mintToken, type StoredToken } from '../../lib/mcp/auth/tokens.ts';
import { clientConfig, LOCAL_CREDENTIALS, LOCAL_REGION } from '../../lib/store/aws-config.ts';
import { mwe } from './command.ts';

let folder: string;
let server: RunningServer;
let client: SecretsManagerClient;
let name: string;
let arn: string;
let secrets = 0;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mwe-token-'));
  server = await startSecretsManager({ folder });
  client = new SecretsManagerClient(
    clientConfig({ region: LOCAL_REGION, endpoint: server.url, credentials: LOCAL_CREDENTIALS }),
  );
  // What a person has in the environment; the endpoint is the SDK's own variable.
  for (const [variable, value] of Object.entries(environment())) vi.stubEnv(variable, value);
});
afterAll(async () => {
  vi.unstubAllEnvs();
  client.destroy();
  await server.close();
  await rm(folder, { recursive: true, force: true });
});
beforeEach(async () => {
  name = `mwe-tokens-${++secrets}`;
  const SecretString = JSON.stringify({ version: 1, tokens: [] });
  arn = String((await client.send(new CreateSecretCommand({ Name: name, SecretString }))).ARN);
});

const environment = (): Record<string, string> => ({
  AWS_ENDPOINT_URL_SECRETS_MANAGER: server.url,
  AWS_REGION: LOCAL_REGION,
  AWS_ACCESS_KEY_ID: 'local',
  AWS_SECRET_ACCESS_KEY: 'local',
});

interface Said {
  out: string[];
  err: string[];
}

async function token(...args: string[]): Promise<Said> {
  const said: Said = { out: [], err: [] };
  const code = await runToken(args, {
    out: (line) => said.out.push(line),
    err: (line) => said.err.push(line),
    interactive: false,
  });
  expect(code).toBe(0);
  return said;
}

const create = (principal: string, ...more: string[]): Promise<Said> =>
  token('create', '--secret', name, '--principal', principal, '--scopes', 'agent', ...more);

async function stored(): Promise<StoredToken[]> {
  const { SecretString = '' } = await client.send(new GetSecretValueCommand({ SecretId: name }));
  return (JSON.parse(SecretString) as { tokens: StoredToken[] }).tokens;
}

const write = (SecretString: string) =>
  client.send(new PutSecretValueCommand({ SecretId: name, SecretString }));

/** The error of a command that must fail. */
async function fails(...args: string[]): Promise<CliError> {
  const error = await runToken(args, { out: () => {}, err: () => {}, interactive: false }).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof CliError)) throw new Error(`no CliError: ${String(error)}`);
  return error;
}

const statusOf = async (text: string): Promise<number> => {
  const authenticator = createAuthenticator(
    { mode: 'bearer', secretArn: arn },
    {
      readSecret: async (id) => {
        const { SecretString } = await client.send(new GetSecretValueCommand({ SecretId: id }));
        return String(SecretString);
      },
      fetch,
      now: Date.now,
    },
  );
  const headers = { authorization: `Bearer ${text}` };
  const caller = await authenticator.authenticate(new Request('https://x.example/mcp', { headers }), {});
  return 'principal' in caller ? 200 : caller.response.status;
};

describe('create', () => {
  it('shows the token once, on stdout alone, and keeps its hash', async () => {
    const { out, err } = await create('ci');
    expect(out).toHaveLength(1);
    const text = String(out[0]);
    expect(text).toMatch(/^mwe_[a-z0-9]{12}_[A-Za-z0-9_-]{43}$/);
    expect(err.join()).not.toContain(text.slice(-43));
    expect(await statusOf(text)).toBe(200);
    const [entry] = await stored();
    expect(entry).toMatchObject({ principal: 'ci', scopes: SCOPES.filter((scope) => scope !== 'admin') });
    expect(entry).not.toHaveProperty('tools');
    expect(entry).not.toHaveProperty('expiresAt');
    for (const file of await readdir(folder)) {
      expect(await readFile(join(folder, file), 'utf8')).not.toContain(text.slice(-43));
    }
  });

  it('has the scopes, tools and end that it is given', async () => {
    const before = Date.now();
    const args = ['--scopes', 'reader, runs:start', '--tools', 'k8s/*,graph/query', '--tools', 'k8s/*'];
    await token('create', '--secret', arn, '--principal', 'ops@x.y', ...args, '--expires', '30');
    const [entry] = await stored();
    expect(entry).toMatchObject({
      principal: 'ops@x.y',
      scopes: ['workflows:read', 'runs:start', 'runs:read', 'tools:read'],
      tools: ['k8s/*', 'graph/query'],
    });
    const days = (Date.parse(String(entry?.expiresAt)) - before) / 86_400_000;
    expect(days).toBeGreaterThan(29.99);
    expect(days).toBeLessThan(30.01);
  });

  it('refuses a third active token of a principal, naming the two; others are not counted', async () => {
    await create('ci');
    await create('ci');
    await create('other');
    const { message, exitCode } = await fails(
      ...['create', '--secret', name, '--principal', 'ci', '--scopes', 'agent'],
    );
    const ids = (await stored()).filter(({ principal }) => principal === 'ci').map(({ id }) => id);
    for (const id of ids) expect(message).toContain(id);
    expect(message).toContain('mwe token revoke');
    expect(exitCode).toBe(1);
    expect(await stored()).toHaveLength(3);
    await token('revoke', String(ids[0]), '--secret', name);
    await create('ci');
  });

  it('does not count expired tokens, and takes them out', async () => {
    const old = (id: string): StoredToken => ({
      ...{ id, hash: mintToken().hash, principal: 'ci', scopes: ['runs:read'] },
      createdAt: '2026-01-01T00:00:00Z',
      expiresAt: '2026-02-01T00:00:00Z',
    });
    await write(formatTokenSecret([old('aaaaaaaaaaaa'), old('bbbbbbbbbbbb')]));
    const { err } = await create('ci');
    expect(err.join('\n')).toContain('aaaaaaaaaaaa, bbbbbbbbbbbb');
    expect(await stored()).toHaveLength(1);
  });

  it('begins with a secret that has no value', async () => {
    name = `empty-${secrets}`;
    await client.send(new CreateSecretCommand({ Name: name }));
    await create('first');
    expect(await stored()).toHaveLength(1);
  });
});

describe('list', () => {
  it('tells everything but hashes', async () => {
    await create('ci', '--expires', '10');
    await token('create', '--secret', name, '--principal', 'ops', '--scopes', 'admin', '--tools', 'k8s/*');
    const [ci, ops] = await stored();
    const lines = await token('list', '--secret', name);
    expect(lines.out).toEqual([
      `${ci?.id}  ci  agent  all tools  made ${ci?.createdAt.slice(0, 10)}  expires ${ci?.expiresAt?.slice(0, 10)}`,
      `${ops?.id}  ops  admin  k8s/*  made ${ops?.createdAt.slice(0, 10)}  never expires`,
    ]);
    const json = (await token('list', '--secret', name, '--json')).out.join('\n');
    expect(JSON.parse(json)).toMatchObject({
      tokens: [{ id: ci?.id, expired: false }, { tools: ['k8s/*'] }],
    });
    for (const text of [lines.out.join(), json]) {
      expect(text).not.toContain(String(ci?.hash));
      expect(text).not.toContain('hash');
    }
  });

  it('of none says so on stderr', async () => {
    expect(await token('list', '--secret', name)).toEqual({ out: [], err: ['no tokens'] });
  });
});

describe('revoke', () => {
  it('takes one token away and leaves the others', async () => {
    const [first, second] = [String((await create('ci')).out[0]), String((await create('ci')).out[0])];
    const { out, err } = await token('revoke', first.slice(4, 16), '--secret', arn);
    expect(out).toEqual([]);
    expect(err.join()).toContain('of "ci"');
    expect(await statusOf(first)).toBe(401);
    expect(await statusOf(second)).toBe(200);
  });

  it('names the ids that there are, and never repeats a token', async () => {
    const text = String((await create('ci')).out[0]);
    const unknown = await fails('revoke', `${text.slice(4, 15)}2`, '--secret', name);
    expect(unknown.message).toContain(`there are "${text.slice(4, 16)}"`);
    const whole = await fails('revoke', text, '--secret', name);
    expect(whole.message).toBe(`that is a whole token; its id is ${text.slice(4, 16)}`);
  });
});

describe('changes at once', () => {
  it('lose nothing', async () => {
    await create('kept');
    const [kept] = await stored();
    const made = await Promise.all(Array.from({ length: 5 }, (_, n) => create(`p${n}`)));
    await Promise.all([
      token('revoke', String(kept?.id), '--secret', name),
      ...Array.from({ length: 3 }, (_, n) => create(`q${n}`)),
    ]);
    const after = await stored();
    expect(after.map(({ principal }) => principal).sort()).toEqual(
      ['p0', 'p1', 'p2', 'p3', 'p4', 'q0', 'q1', 'q2'].sort(),
    );
    for (const { out } of made) expect(await statusOf(String(out[0]))).toBe(200);
  });

  it('hold the limit of two', async () => {
    const outcomes = await Promise.allSettled(Array.from({ length: 5 }, () => create('ci')));
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(2);
    expect(await stored()).toHaveLength(2);
  });

  it('hold for the first value of an empty secret', async () => {
    name = `race-${secrets}`;
    await client.send(new CreateSecretCommand({ Name: name }));
    await Promise.all([create('a'), create('b'), create('c')]);
    expect((await stored()).map(({ principal }) => principal).sort()).toEqual(['a', 'b', 'c']);
  });
});

describe('what is wrong is told with the way out', () => {
  const CREATE = ['create', '--secret', 'S', '--principal', 'ci', '--scopes', 'agent'];
  const withOption = (option: string, value: string): string[] => {
    const at = CREATE.indexOf(option);
    return at === -1 ? [...CREATE, option, value] : CREATE.toSpliced(at + 1, 1, value);
  };
  it.each([
    ['no command', [], 2, '"create", "list", "revoke"'],
    ['an unknown command', ['mint'], 2, 'there is no command "mint"'],
    ['no secret', ['list'], 2, '--secret is missing'],
    ['no id', ['revoke', '--secret', 'S'], 2, 'the ID is missing'],
    ['two ids', ['revoke', 'a', 'b', '--secret', 'S'], 2, '"b" is one argument too many'],
    ['an argument of list', ['list', 'a', '--secret', 'S'], 2, '"a" is one argument too many'],
    [
      'an option of another command',
      ['list', '--secret', 'S', '--principal', 'x'],
      2,
      'takes no --principal',
    ],
    ['no principal', ['create', '--secret', 'S', '--scopes', 'agent'], 2, '--principal is missing'],
    ['a principal with a space', withOption('--principal', 'a b'), 2, '--principal "a b"'],
    ['a principal that names a kind', withOption('--principal', 'iam:x'), 2, '--principal "iam:x"'],
    ['no scopes', ['create', '--secret', 'S', '--principal', 'ci'], 2, '--scopes is missing'],
    ['a misspelt scope', withOption('--scopes', 'runs:strat'), 2, 'Did you mean "runs:start"?'],
    ['an empty list of scopes', withOption('--scopes', ' , '), 2, 'at least one is needed'],
    ['a bare tool', withOption('--tools', 'list_pods'), 2, '"list_pods"'],
    ['a pattern of tools', withOption('--tools', 'k8s/get*'), 2, 'not for a part of a name'],
    ['an end of no days', withOption('--expires', '0'), 2, 'from 1 to 3650'],
    ['an end that is a date', withOption('--expires', '2027-01-01'), 2, '--expires 2027-01-01'],
    ['a secret that is not there', ['list', '--secret', 'none'], 1, 'there is no secret "none"'],
    [
      'a secret that is not there, by ARN',
      ['list', '--secret', 'arn:aws:secretsmanager:eu-west-1:123456789012:secret:x-aaaaaa'],
      1,
      'in eu-west-1',
    ],
  ] as [string, string[], number, string][])('%s', async (_, args, exitCode, part) => {
    const error = await fails(...args);
    expect(error.message).toContain(part);
    expect(error.exitCode).toBe(exitCode);
    expect(error.message).not.toContain('\n');
  });

  it('another secret than that of the tokens is left as it is', async () => {
    await write('{"password":"hunter2"}');
    const { message } = await fails(...CREATE.toSpliced(2, 1, name));
    expect(message).toContain('the token secret is not');
    expect(message).not.toContain('hunter2');
    const { SecretString } = await client.send(new GetSecretValueCommand({ SecretId: name }));
    expect(SecretString).toBe('{"password":"hunter2"}');
  });

  it('entries that are not understood stop a change and are named', async () => {
    await write(JSON.stringify({ version: 1, tokens: [{ id: 'aaaaaaaaaaaa', hash: 'x' }] }));
    expect((await fails(...CREATE.toSpliced(2, 1, name))).message).toContain('tokens/0/hash');
  });

  it('no region, no credentials, no network', async () => {
    const port = await unusedPort();
    const list = (without: string[], env: Record<string, string> = {}) => {
      for (const variable of without) vi.stubEnv(variable, undefined);
      const started = mwe(['token', 'list', '--secret', name], {
        ...Object.fromEntries(Object.entries(environment()).filter(([each]) => !without.includes(each))),
        ...{ HOME: folder, AWS_EC2_METADATA_DISABLED: 'true', ...env },
      });
      for (const variable of without) vi.stubEnv(variable, environment()[variable]);
      return started.ended;
    };
    const [region, credentials, network] = await Promise.all([
      list(['AWS_REGION']),
      list(['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY']),
      list([], { AWS_ENDPOINT_URL_SECRETS_MANAGER: `http://127.0.0.1:${port}` }),
    ]);
    expect(region).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('no AWS region: set AWS_REGION'),
    });
    expect(credentials).toMatchObject({ code: 1, stderr: expect.stringContaining('no AWS credentials') });
    expect(network).toMatchObject({ code: 1, stderr: expect.stringContaining('ECONNREFUSED') });
  });
});

it('is a command of mwe: one line on stdout, so that a script can take it', async () => {
  const args = ['token', 'create', '--secret', name, '--principal', 'ci', '--scopes', 'reader'];
  const { code, stdout, stderr } = await mwe(args, environment()).ended;
  expect(code).toBe(0);
  expect(stdout).toMatch(/^mwe_[a-z0-9]{12}_[A-Za-z0-9_-]{43}\n$/);
  expect(stderr).toContain('scopes   workflows:read, runs:read, tools:read');
  const help = await mwe(['token', '--help']).ended;
  expect(help).toMatchObject({ code: 0, stderr: '' });
  expect(help.stdout).toContain('mwe token revoke ID');
});

function unusedPort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address();
      probe.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}
