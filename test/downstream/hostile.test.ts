/** Servers that do what no server should: nothing of it hangs the engine, breaks it, or tells what must not be told. */
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { callTool, ToolFailure } from '../../lib/downstream/call.ts';
import { readCatalog, resolveTool } from '../../lib/downstream/catalog.ts';
import { visibleText } from '../../lib/downstream/clean-text.ts';
import { parseServers } from '../../lib/downstream/config.ts';
import { createPool, type Pool } from '../../lib/downstream/pool.ts';
import { withoutFolders, withoutSecrets } from '../../lib/downstream/secrets.ts';
import { serversHash } from '../../lib/downstream/servers-hash.ts';
import { afterTest, FIXTURES } from './fixtures/setup.ts';

const SECRET = 'hunter2hunter2';

function configOf(list = '', secret = SECRET) {
  const hostile = {
    command: process.execPath,
    args: [join(FIXTURES, 'hostile-server.mjs'), '$' + '{HOSTILE_TOKEN}'],
    env: { TOKEN: '$' + '{HOSTILE_TOKEN}', HOSTILE_LIST: list },
  };
  const options = { file: join(FIXTURES, 'mcp.json'), env: { HOSTILE_TOKEN: secret } };
  return parseServers(JSON.stringify({ mcpServers: { hostile } }), options);
}

function hostile(list?: string): Pool {
  const pool = createPool(configOf(list), { probeTimeoutMs: 500 });
  afterTest(() => pool.close());
  return pool;
}

const call = (pool: Pool, tool: string, args = {}) =>
  callTool(pool, { server: 'hostile', tool, arguments: args });

describe('a result', () => {
  it.each(['deep', 'deep-error'])('of 100,000 levels is refused: %s', async (tool) => {
    await expect(call(hostile(), tool)).rejects.toMatchObject({
      kind: 'ResultTooLarge',
      message: 'the result is nested deeper than 200 levels',
    });
  });

  it('comes through a flood of progress that nobody asked for', async () => {
    const pool = hostile();
    const { content } = await callTool(pool, {
      server: 'hostile',
      tool: 'flood',
      arguments: {},
      timeoutMs: 20_000,
    });
    expect(content).toEqual([{ type: 'text', text: 'done' }]);
  }, 30_000);
});

describe('a list of tools', () => {
  it.each([
    ['endless', 'its list of tools is too long: over 10000 tools or 16 MiB'],
    ['deep', 'its list of tools is nested deeper than 200 levels'],
    ['refused', 'the key *** is not known'],
  ])('that is %s is none', async (list, error) => {
    expect(await readCatalog(hostile(list))).toEqual({
      tools: [],
      unreachable: [{ server: 'hostile', error: expect.stringContaining(error) }],
    });
  });

  it('has names in sentences without what is not seen', async () => {
    const pool = hostile();
    await expect(resolveTool(pool, 'hostile/evil-tool')).rejects.toThrow(
      'server "hostile" has no tool "evil-tool". Did you mean "eviltool"?',
    );
    expect((await call(pool, 'constructor')).content).toEqual([{ type: 'text', text: 'called constructor' }]);
    await expect(call(pool, 'toString')).rejects.toMatchObject({ kind: 'UnknownTool' });
  });
});

it('what a tool says of itself is told without what is not seen', () => {
  expect(visibleText('Pods\u202e\u{e0049}\n\tof \u001b[31ma \u200bnamespace')).toBe(
    'Pods\n\tof [31ma namespace',
  );
});

describe('a secret of mcp.json', () => {
  it.each(['answer', 'error'])('is not told where the server quotes it: %s', async (how) => {
    const failure = await call(hostile(), 'complain', { how }).catch((error: unknown) => error);
    expect(failure).toMatchObject({ kind: 'ToolError', message: 'the key *** is not known' });
    if (failure instanceof ToolFailure) expect(JSON.stringify(failure.result)).not.toContain(SECRET);
  });

  it('nor a folder of the machine, where the server dies of it', async () => {
    const failure = await call(hostile(), 'die').catch((error: unknown) => error);
    expect((failure as Error).message).toContain('its stderr: Error: …/db.js cannot open …/y.db with ***');
  });

  it('nor does it count in the hash of the configuration', () => {
    expect(serversHash(configOf('', 'another secret'))).toBe(serversHash(configOf()));
    expect(serversHash(configOf('deep', SECRET))).toBe(serversHash(configOf()));
  });

  it.each([
    ['a part of another', 'with abcdef and abcd', ['abcd', 'abcdef'], 'with *** and ***'],
    ['too short to be one', 'on 1 of one', ['on', '1'], 'on 1 of one'],
  ])('is taken out where it is %s', (_, text, secrets, shown) => {
    expect(withoutSecrets(text, secrets)).toBe(shown);
  });

  it.each([
    ["Cannot find module '/home/me/a b/x.js'", "Cannot find module '…/a b/x.js'"],
    ['at C:\\Users\\me\\x.js:3', 'at …/x.js:3'],
    ['see https://example.org/a/b and and/or 1/2', 'see https://example.org/a/b and and/or 1/2'],
    [`${'/a'.repeat(100_000)}`, '…/a'],
  ])('folders: %s', (text, shown) => {
    expect(withoutFolders(text)).toBe(shown);
  });
});
