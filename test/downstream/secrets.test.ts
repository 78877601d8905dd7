// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the placeholders of mcp.json are what is tested
/** `${secret:NAME}`: read from Secrets Manager when a connection is opened, once, and told to nobody but the server. */
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  CreateSecretCommand,
  PutSecretValueCommand,
  SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { callTool } from '../../lib/downstream/call.ts';
import { readCatalog } from '../../lib/downstream/catalog.ts';
import { parseServers } from '../../lib/downstream/config.ts';
import type { ReadSecret } from '../../lib/downstream/secret-values.ts';
import { readFromSecretsManager } from '../../lib/downstream/secrets-manager.ts';
import { serversHash } from '../../lib/downstream/servers-hash.ts';
import { startLocal } from '../../lib/local/start.ts';
import { clientConfig, LOCAL_CREDENTIALS, LOCAL_REGION } from '../../lib/store/aws-config.ts';
import { afterTest, FIXTURES, poolOf } from './fixtures/setup.ts';

/** What no answer, message or hash may hold. */
const VALUE = 'sk-7f3a9c-value';
const JSON_VALUE = 'pw-51b2-value';

let stop: () => Promise<void>;
let client: SecretsManagerClient;
let newClient: () => SecretsManagerClient;
beforeAll(async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'mwe-secrets-'));
  const local = await startLocal({ dataDir, tableName: 'mwe', bucketName: 'mwe-bucket', functions: {} });
  newClient = () =>
    new SecretsManagerClient(
      clientConfig({
        region: LOCAL_REGION,
        credentials: LOCAL_CREDENTIALS,
        endpoint: local.endpoints.secretsmanager,
      }),
    );
  client = newClient();
  stop = async () => {
    client.destroy();
    await local.stop();
    await rm(dataDir, { recursive: true });
  };
  const create = (Name: string, content: object) =>
    client.send(new CreateSecretCommand({ Name, ...content }));
  await create('team/key', { SecretString: VALUE });
  await create('db', { SecretString: JSON.stringify({ password: JSON_VALUE, port: 5432, nested: {} }) });
  await create('bytes', { SecretBinary: Buffer.from([1]) });
  await create('line', { SecretString: 'a\nb-value' });
});
afterAll(() => stop());

/** A reader that notes what it was asked for. */
function counted(): { readSecret: ReadSecret; asked: string[]; pass(ms: number): void } {
  const asked: string[] = [];
  let clock = 0;
  const observed = newClient();
  observed.middlewareStack.add(
    (next) => (args) => {
      asked.push(String((args.input as { SecretId?: string }).SecretId));
      return next(args);
    },
    { step: 'initialize' },
  );
  afterTest(() => observed.destroy());
  const readSecret = readFromSecretsManager({
    client: () => observed,
    hint: (name) => `; make it with "create ${name}"`,
    now: () => clock,
  });
  return { readSecret, asked, pass: (ms) => (clock += ms) };
}

const telling = (fields: object = {}) => ({
  command: 'node',
  args: [join(FIXTURES, 'telling-server.mjs'), ...('args' in fields ? (fields.args as string[]) : [])],
  env: { KEY: '${secret:team/key}', ...('env' in fields ? (fields.env as object) : {}) },
});

interface Told {
  env: Record<string, string>;
  args: string[];
  cwd: string;
  node: string;
}
async function tell(pool: ReturnType<typeof poolOf>, server = 'a'): Promise<Told> {
  const result = await callTool(pool, { server, tool: 'tell', arguments: {} });
  const [block] = result.content as unknown as { text: string }[];
  return JSON.parse(block?.text ?? '') as Told;
}

describe('a stdio server', () => {
  it('gets its secrets, each read once, and nothing else of our environment', async () => {
    process.env.AWS_SESSION_TOKEN = 'of-the-function';
    process.env.MWE_TABLE = 'table';
    afterTest(() => {
      delete process.env.AWS_SESSION_TOKEN;
      delete process.env.MWE_TABLE;
    });
    const { readSecret, asked } = counted();
    const server = telling({
      args: ['--password=${secret:db#password}'],
      env: { PASSWORD: '${secret:db#password}', PORT: '${secret:db#port}', URL: 'x:${secret:team/key}@y' },
    });
    const pool = poolOf({ a: server, b: server }, { readSecret });
    const told = await tell(pool);
    expect(told.args).toEqual([`--password=${JSON_VALUE}`]);
    expect(told.node).toBe(process.execPath);
    const { KEY, PASSWORD, PORT, URL, ...rest } = told.env;
    expect({ KEY, PASSWORD, PORT, URL }).toEqual({
      KEY: VALUE,
      PASSWORD: JSON_VALUE,
      PORT: '5432',
      URL: `x:${VALUE}@y`,
    });
    const allowed = ['HOME', 'LOGNAME', 'PATH', 'SHELL', 'TERM', 'USER'];
    expect(Object.keys(rest).filter((name) => !allowed.includes(name))).toEqual([]);
    await tell(pool, 'b');
    await tell(pool);
    expect(asked.sort()).toEqual(['db', 'team/key']);
  });

  it('that quotes a secret in its answers and its complaints tells nobody', async () => {
    const { readSecret } = counted();
    const pool = poolOf({ a: telling(), dying: telling({ args: ['complain'] }) }, { readSecret });
    const call = (server: string, tool: string) => callTool(pool, { server, tool, arguments: {} });
    const failed = await call('a', 'fail').catch((error: unknown) => error);
    expect(failed).toMatchObject({
      kind: 'ToolError',
      message: expect.stringContaining('the key *** is refused'),
    });
    const dead = await call('dying', 'tell').catch((error: unknown) => error);
    expect(dead).toMatchObject({
      kind: 'ServerUnavailable',
      message: expect.stringContaining('the key *** is'),
    });
    expect(JSON.stringify([failed, dead, String(failed), String(dead)])).not.toContain(VALUE);
  });
});

describe('an HTTP server', () => {
  it('gets its secrets in headers and in its URL', async () => {
    const seen: { url: string | undefined; headers: IncomingHttpHeaders }[] = [];
    const server: Server = createServer(({ url, headers }, response) => {
      seen.push({ url, headers });
      response.writeHead(401).end(`no: ${headers.authorization} ${url}`);
    });
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    afterTest(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const { readSecret } = counted();
    const web = {
      url: `http://127.0.0.1:${port}/${'${secret:db#port}'}/mcp`,
      headers: { authorization: 'Bearer ${secret:team/key}' },
    };
    const pool = poolOf({ web }, { readSecret });
    const catalog = await readCatalog(pool);
    expect(seen[0]).toMatchObject({ url: '/5432/mcp', headers: { authorization: `Bearer ${VALUE}` } });
    expect(catalog.unreachable).toMatchObject([{ server: 'web' }]);
    expect(JSON.stringify(catalog)).not.toContain(VALUE);
  });
});

describe('a secret that cannot be used', () => {
  const cases: [what: string, reference: string, message: string][] = [
    [
      'is not there',
      'gone',
      'the secret "gone" does not exist in Secrets Manager; make it with "create gone"',
    ],
    ['is bytes', 'bytes', 'the secret "bytes" holds bytes; only a text can be used'],
    [
      'is no JSON',
      'team/key#a',
      'the secret "team/key" has no text under the key "a"; it must be a JSON object with that key',
    ],
    ['has not the key', 'db#user', 'the secret "db" has no text under the key "user"'],
    [
      'has the key only from its prototype',
      'db#constructor',
      'the secret "db" has no text under the key "constructor"',
    ],
    ['has no text under the key', 'db#nested', 'the secret "db" has no text under the key "nested"'],
  ];
  it.each(cases)('because it %s: that server alone is unavailable', async (_what, reference, message) => {
    const { readSecret } = counted();
    const broken = telling({ env: { OTHER: `\${secret:${reference}}` } });
    const pool = poolOf({ a: telling(), broken }, { readSecret });
    const catalog = await readCatalog(pool);
    expect(catalog.tools.map(({ server }) => server)).toEqual(['a', 'a']);
    expect(catalog.unreachable).toEqual([{ server: 'broken', error: expect.stringContaining(message) }]);
    await expect(callTool(pool, { server: 'broken', tool: 'tell', arguments: {} })).rejects.toMatchObject({
      kind: 'ServerUnavailable',
      message: expect.stringContaining(message),
    });
    expect(JSON.stringify(catalog)).not.toMatch(/sk-7f3a9c|pw-51b2/);
  });

  it('because it breaks the header that it stands in', async () => {
    const { readSecret } = counted();
    const web = { url: 'http://127.0.0.1:9/mcp', headers: { 'x-key': '${secret:line}' } };
    const { unreachable } = await readCatalog(poolOf({ web }, { readSecret }));
    expect(unreachable).toEqual([
      { server: 'web', error: 'with its secrets filled in, headers/x-key is not valid' },
    ]);
  });

  it('where nothing can be asked', async () => {
    const { unreachable } = await readCatalog(poolOf({ a: telling() }));
    expect(unreachable).toEqual([
      { server: 'a', error: 'the secret "team/key" cannot be read: there is no Secrets Manager here' },
    ]);
  });

  it('is asked for again a second later, and found once it is there', async () => {
    const { readSecret, asked, pass } = counted();
    await expect(readSecret('late')).rejects.toThrow('does not exist');
    await expect(readSecret('late')).rejects.toThrow('does not exist');
    expect(asked).toEqual(['late']);
    await client.send(new CreateSecretCommand({ Name: 'late', SecretString: 'first' }));
    pass(1000);
    expect(await readSecret('late')).toBe('first');
    await client.send(new PutSecretValueCommand({ SecretId: 'late', SecretString: 'second' }));
    pass(3_600_000);
    expect(await readSecret('late')).toBe('first');
    expect(asked).toEqual(['late', 'late']);
  });

  it('does not keep a pool from closing', async () => {
    const pool = poolOf({ a: telling() }, { readSecret: () => new Promise(() => undefined) });
    const reading = readCatalog(pool);
    await pool.close();
    expect((await reading).unreachable).toEqual([{ server: 'a', error: 'the engine is shutting down' }]);
  });
});

describe('the configuration', () => {
  const parse = (env: Record<string, string> = {}) =>
    parseServers(
      JSON.stringify({
        mcpServers: {
          a: telling({ args: ['${secret:db#password}', '${secret:db#password}'] }),
          web: { url: 'https://example.com/${secret:path}', headers: { a: '${secret:team/key}' } },
        },
      }),
      { file: '/project/mcp.json', env },
    );

  it('keeps the placeholders, and says which secrets it needs', () => {
    expect(parse()).toMatchObject([
      { args: [expect.any(String), '${secret:db#password}', '${secret:db#password}'] },
      { url: 'https://example.com/${secret:path}' },
    ]);
    expect(parse().map(({ secretReferences }) => secretReferences)).toEqual([
      ['db#password', 'team/key'],
      ['path', 'team/key'],
    ]);
  });

  it('has a hash that no value of a secret changes', () => {
    expect(serversHash(parse())).toBe(serversHash(parse({ ANY: VALUE })));
  });
});
