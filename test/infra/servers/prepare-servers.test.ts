/** The packages of the stdio servers at synth: from the committed lock, into the asset, and started from there. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { npmEnvironment } from '../../../infra/servers/install.ts';
import { type LockedPackage, readLock } from '../../../infra/servers/lock.ts';
import { inspectInstalled } from '../../../infra/servers/native.ts';
import { type PrepareOptions, prepareServers } from '../../../infra/servers/prepare-servers.ts';
import { projectRoot } from '../../../lib/cli/project.ts';
import { callTool } from '../../../lib/downstream/call.ts';
import { readCatalog } from '../../../lib/downstream/catalog.ts';
import { loadServers } from '../../../lib/downstream/config.ts';
import { createPool } from '../../../lib/downstream/pool.ts';
import { serversHash } from '../../../lib/downstream/servers-hash.ts';

const root = projectRoot();
const folders: string[] = [];
function folder(): string {
  const made = mkdtempSync(join(tmpdir(), 'mwe-servers-'));
  folders.push(made);
  return made;
}
afterEach(() => {
  for (const each of folders.splice(0)) rmSync(each, { recursive: true, force: true });
});

const prepare = (options: Partial<PrepareOptions> & { outFolder: string }) =>
  prepareServers({ mcpJson: join(root, 'mcp.json'), trustTogether: false, root, ...options });

describe('the servers that are shipped', () => {
  it('are in the asset and start from it, whatever the environment holds', async () => {
    const outFolder = join(folder(), 'asset');
    const prepared = await prepare({ outFolder });
    expect(prepared.secrets).toEqual([]);
    expect(prepared.warnings).toEqual([]);
    expect(existsSync(join(outFolder, 'servers', 'node_modules', '.bin'))).toBe(false);
    expect(readFileSync(join(outFolder, 'servers', 'package-lock.json'), 'utf8')).toBe(
      readFileSync(join(root, 'infra', 'servers', 'package-lock.json'), 'utf8'),
    );
    const dataFolder = folder();
    const servers = loadServers({ file: join(outFolder, 'mcp.json'), dataFolder, env: {} });
    expect(servers.map(({ name }) => name)).toEqual(['filesystem', 'memory']);
    for (const server of servers) expect(server).toMatchObject({ command: 'node', cwd: outFolder });
    const pool = createPool(servers);
    try {
      const catalog = await readCatalog(pool);
      expect(catalog.unreachable).toEqual([]);
      const entities = [{ name: 'a', entityType: 'b', observations: [] }];
      await callTool(pool, { server: 'memory', tool: 'create_entities', arguments: { entities } });
      expect(readFileSync(join(dataFolder, 'memory.jsonl'), 'utf8')).toContain('"name":"a"');
    } finally {
      await pool.close();
    }
  });

  it('have the hash that the function computes of what it reads', async () => {
    const outFolder = folder();
    const { serversHash: given } = await prepare({ outFolder });
    // In the function the asset stands in /var/task and /tmp can be written.
    const read = loadServers({ file: join(outFolder, 'mcp.json'), dataFolder: '/tmp', env: {} });
    const there = JSON.parse(JSON.stringify(read).replaceAll(outFolder, '/var/task')) as typeof read;
    expect(given).toBe(serversHash(there));
  });

  it('are the same twice', async () => {
    const [first, second] = [folder(), folder()];
    expect(await prepare({ outFolder: first })).toEqual(await prepare({ outFolder: second }));
    expect(readFileSync(join(first, 'mcp.json'), 'utf8')).toBe(
      readFileSync(join(second, 'mcp.json'), 'utf8'),
    );
  });
});

describe('a configuration', () => {
  const withServers = (servers: unknown, text = JSON.stringify({ mcpServers: servers })): string => {
    const file = join(folder(), 'mcp.json');
    writeFileSync(file, text);
    return file;
  };
  const faultOf = async (mcpJson: string): Promise<string> => {
    const error: unknown = await prepare({ outFolder: folder(), mcpJson }).then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    expect(error).toMatchObject({ name: 'SynthFault' });
    return (error as Error).message.replaceAll(mcpJson, 'mcp.json');
  };

  it('without programs needs no lock and ships no packages', async () => {
    const outFolder = folder();
    const headers = { authorization: ['$', '{secret:team/key}'].join('') };
    const mcpJson = withServers({ web: { url: 'https://example.com/mcp', headers } });
    expect((await prepare({ outFolder, mcpJson, root: '/nowhere' })).secrets).toEqual(['team/key']);
    expect(existsSync(join(outFolder, 'servers'))).toBe(false);
  });

  it('that the lock does not fit is refused', async () => {
    const command = 'npx';
    const mcpJson = withServers({
      filesystem: { command, args: ['-y', '@modelcontextprotocol/server-filesystem@2026.8.30'] },
      other: { command, args: ['-y', 'other@1.0.0'] },
    });
    expect(await faultOf(mcpJson)).toBe(
      [
        'mcp.json:',
        '  mcp.json names @modelcontextprotocol/server-filesystem@2026.8.30, and the lock has @modelcontextprotocol/server-filesystem@2026.8.31; run node scripts/run.js scripts/servers-lock.ts',
        '  the lock has @modelcontextprotocol/server-memory, which mcp.json does not name; run node scripts/run.js scripts/servers-lock.ts',
        '  mcp.json names other@1.0.0, and the lock has no such package; run node scripts/run.js scripts/servers-lock.ts',
      ].join('\n'),
    );
  });

  it.each([
    ['is not there', undefined, 'mcp.json:\n  it cannot be read (ENOENT)'],
    ['is no JSON', '{', 'mcp.json:\n  it is not JSON (it ends too early)'],
    [
      'is misspelt',
      '{"mcpServers":{"a":{"Url":"https://a"}}}',
      'mcp.json:\n  server "a": unknown field "Url". Did you mean "url"?',
    ],
  ])('that %s is refused', async (_what, text, message) => {
    const mcpJson = text === undefined ? join(folder(), 'mcp.json') : withServers({}, text);
    expect(await faultOf(mcpJson)).toBe(message);
  });
});

describe('the lock', () => {
  const lockOf = (packages: Record<string, LockedPackage>, lockfileVersion = 3) => {
    const place = folder();
    writeFileSync(join(place, 'package.json'), JSON.stringify({ dependencies: { a: '1.0.0' } }));
    const root = { dependencies: { a: '1.0.0' } };
    const text = JSON.stringify({ lockfileVersion, packages: { '': root, ...packages } });
    writeFileSync(join(place, 'package-lock.json'), text);
    return readLock(place, { a: '1.0.0' });
  };
  const good = { version: '1.0.0', integrity: 'sha512-x' };

  it('of tarballs with checksums is taken', () => {
    const resolved = 'https://example.com/a.tgz';
    expect(lockOf({ 'node_modules/a': { ...good, resolved } })).toHaveProperty('lock');
  });

  it.each<[what: string, entry: LockedPackage, problem: string]>([
    [
      'a git repository',
      { ...good, resolved: 'git+ssh://git@example.com/b.git' },
      'comes from "git+ssh://git@example.com/b.git"',
    ],
    ['a file', { ...good, resolved: 'file:../b' }, 'comes from "file:../b"'],
    [
      'a plain address',
      { ...good, resolved: 'http://example.com/b.tgz' },
      'comes from "http://example.com/b.tgz"',
    ],
    [
      'a link',
      { link: true, resolved: '../b' },
      'is a link to a folder; name packages of the npm registry alone',
    ],
    ['no checksum', { version: '1.0.0' }, 'has no checksum; run node scripts/run.js scripts/servers-lock.ts'],
  ])('with %s below is refused', (_what, entry, problem) => {
    const read = lockOf({ 'node_modules/a': good, 'node_modules/a/node_modules/b': entry });
    expect(read).toEqual({
      problems: [expect.stringContaining(`package-lock.json: node_modules/a/node_modules/b ${problem}`)],
    });
  });

  it('of an old version, or that is not there, is refused', () => {
    expect(lockOf({ 'node_modules/a': good }, 2)).toEqual({
      problems: ['package-lock.json is not of version 3; run node scripts/run.js scripts/servers-lock.ts'],
    });
    expect(readLock(join(folder(), 'none'), {})).toEqual({
      problems: [
        'the lock of the servers cannot be read (ENOENT); run node scripts/run.js scripts/servers-lock.ts',
      ],
    });
  });
});

describe('native parts', () => {
  const elf = (machine: number): Buffer => {
    const head = Buffer.alloc(64);
    head.write('\x7fELF', 'latin1');
    head.writeUInt16LE(machine, 18);
    return head;
  };
  const [ARM, X64, MACH] = [elf(183), elf(62), Buffer.from('cffaedfe0c000001', 'hex')];
  const inspect = async (files: Record<string, Buffer | string>, scripts: boolean) => {
    const place = folder();
    for (const [file, content] of Object.entries(files)) {
      const path = join(place, 'node_modules', 'n', file);
      mkdirSync(join(path, '..'), { recursive: true });
      writeFileSync(path, content);
    }
    return inspectInstalled(place, { 'node_modules/n': scripts ? { hasInstallScript: true } : {} });
  };
  const fix =
    'Take a version of the server that uses n prebuilt for linux arm64 (an optional dependency, or a folder "prebuilds"), or serve it elsewhere and give its "url"';

  it.each<
    [
      what: string,
      files: Record<string, Buffer | string>,
      scripts: boolean,
      problems: string[],
      warnings: string[],
    ]
  >([
    ['none', { 'index.js': '' }, false, [], []],
    ['one for arm64', { 'n.node': ARM }, false, [], []],
    [
      'prebuilt for many',
      { 'prebuilds/darwin/n.node': MACH, 'prebuilds/arm/n.node': ARM, 'binding.gyp': '' },
      true,
      [],
      [],
    ],
    [
      'for another platform alone',
      { 'prebuilds/a/n.node': X64, 'prebuilds/b/n.node': MACH },
      false,
      [`node_modules/n has a native part for other platforms alone. ${fix}`],
      [],
    ],
    [
      'to be compiled',
      { 'binding.gyp': '{}' },
      true,
      [`node_modules/n compiles a native part when it is installed, which is not done here. ${fix}`],
      [],
    ],
    [
      'perhaps to be fetched',
      { 'index.js': '' },
      true,
      [],
      ['node_modules/n has an install script, which was not run: it may lack what the script makes'],
    ],
  ])('%s', async (_what, files, scripts, problems, warnings) => {
    expect(await inspect(files, scripts)).toEqual({ problems, warnings });
  });
});

it('npm learns nothing of AWS, nor anything else that it does not need', () => {
  expect(
    npmEnvironment({
      PATH: '/bin',
      HOME: '/home/me',
      HTTPS_PROXY: 'http://proxy',
      npm_config_cache: '/cache',
      AWS_ACCESS_KEY_ID: 'x',
      AWS_SESSION_TOKEN: 'x',
      AWS_PROFILE: 'x',
      GITHUB_TOKEN: 'x',
      NODE_OPTIONS: '--require x',
      npm_lifecycle_script: 'x',
      MISSING: undefined,
    }),
  ).toEqual({ PATH: '/bin', HOME: '/home/me', HTTPS_PROXY: 'http://proxy', npm_config_cache: '/cache' });
});
