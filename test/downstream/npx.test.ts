/** Packages named in mcp.json: which names are taken, which are refused and how, and what is started. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadServers } from '../../lib/downstream/config.ts';
import { parsePackage, programOf } from '../../lib/downstream/npx.ts';
import { temporaryFolder } from './fixtures/setup.ts';

describe('what names a package', () => {
  it.each([
    [['-y', 'server@1.2.3'], { name: 'server', version: '1.2.3', args: [] }],
    [['--yes', 'server@1.2.3', '.'], { name: 'server', version: '1.2.3', args: ['.'] }],
    [['server@0.0.0', '-y'], { name: 'server', version: '0.0.0', args: ['-y'] }],
    [['-y', '@scope/server@2026.8.31'], { name: '@scope/server', version: '2026.8.31', args: [] }],
    [['-y', 'a.b_c~d-e@1.0.0-rc.1'], { name: 'a.b_c~d-e', version: '1.0.0-rc.1', args: [] }],
    [['-y', 'x@1.0.0-0a.x-y', '--port', '1'], { name: 'x', version: '1.0.0-0a.x-y', args: ['--port', '1'] }],
  ])('%j', (args, expected) => {
    expect(parsePackage(args)).toEqual(expected);
  });

  const fix = 'name a package of the npm registry by its exact version, "PACKAGE@1.2.3"';
  const tomorrow = 'which may be another package tomorrow; write the exact version, "server@1.2.3"';
  const refused: [spec: string, problem: string][] = [
    ['server', '"server" has no version; write "server@1.2.3" with the exact one'],
    ['@scope/server', '"@scope/server" has no version; write "@scope/server@1.2.3" with the exact one'],
    ['server@', '"server@" has no version; write "server@1.2.3" with the exact one'],
    ['server@latest', `"server@latest": "latest" is a tag, ${tomorrow}`],
    ...[
      '^1.2.3',
      '~1.2.3',
      '1.2',
      '1',
      '1.x',
      '*',
      '>=1.2.3',
      '1.2.3 || 2.0.0',
      '=1.2.3',
      '01.2.3',
      '1.2.3+a',
    ].map((range): [string, string] => [
      `server@${range}`,
      `"server@${range}": "${range}" is a range or no exact version, ${tomorrow}`,
    ]),
    ['server@v1.2.3-01', `"server@v1.2.3-01": "v1.2.3-01" is a range or no exact version, ${tomorrow}`],
    ['server@npm:other@1.2.3', `"server@npm:other@1.2.3" is an alias; ${fix}`],
    ['git+https://example.com/a.git', `"git+https://example.com/a.git" is a git repository; ${fix}`],
    ['git@example.com:a/b.git', `"git@example.com:a/b.git" is a git repository; ${fix}`],
    ['github:owner/server', `"github:owner/server" is a git repository; ${fix}`],
    ['owner/server', `"owner/server" is a git repository; ${fix}`],
    ['owner/server#v1', `"owner/server#v1" is a git repository; ${fix}`],
    ['server@github:owner/server', `"server@github:owner/server" is a git repository; ${fix}`],
    ['server@git+ssh://example.com/a', `"server@git+ssh://example.com/a" is a git repository; ${fix}`],
    ['https://example.com/a.js', `"https://example.com/a.js" is an address; ${fix}`],
    ['server@https://example.com/a', `"server@https://example.com/a" is an address; ${fix}`],
    ['file:../server', `"file:../server" is a file; ${fix}`],
    ['server@file:../server', `"server@file:../server" is a file; ${fix}`],
    ['./server', `"./server" is a file; ${fix}`],
    ['../server@1.2.3', `"../server@1.2.3" is a file; ${fix}`],
    ['/opt/server', `"/opt/server" is a file; ${fix}`],
    ['~/server', `"~/server" is a file; ${fix}`],
    ['server-1.2.3.tgz', `"server-1.2.3.tgz" is a file; ${fix}`],
    ['Server@1.2.3', `"Server@1.2.3" is no npm package's name; ${fix}`],
    ['_server@1.2.3', `"_server@1.2.3" is no npm package's name; ${fix}`],
    ['@scope@1.2.3', `"@scope@1.2.3" is no npm package's name; ${fix}`],
    ['@-x/server@1.2.3', `"@-x/server@1.2.3" is no npm package's name; ${fix}`],
    ['ser ver@1.2.3', `"ser ver@1.2.3" is no npm package's name; ${fix}`],
    [`${'a'.repeat(215)}@1.2.3`, `"${'a'.repeat(215)}@1.2.3" is no npm package's name; ${fix}`],
    ['', `"" is no npm package's name; ${fix}`],
  ];
  it.each(refused)('refused: %s', (spec, problem) => {
    expect(parsePackage(['-y', spec])).toEqual({ problem });
    expect(parsePackage([spec, 'more'])).toEqual({ problem });
  });

  it.each(['-p', '--package=evil@1.0.0', '-c', '--registry=https://example.com', '--'])(
    'refused: the option %s',
    (option) => {
      const problem = `"${option}" is an option of npx; only "-y" or "--yes" may stand before the package, options of the server after it`;
      expect(parsePackage(['-y', option, 'server@1.2.3'])).toEqual({ problem });
      expect(parsePackage([option])).toEqual({ problem });
    },
  );

  it.each([[[]], [['-y']]])('refused: %j, no package at all', (args) => {
    expect(parsePackage(args)).toEqual({
      problem: 'npx is given no package; write "args": ["-y", "PACKAGE@1.2.3", …]',
    });
  });
});

function installed(root: string, name: string, manifest: object): string {
  const folder = join(root, 'node_modules', name);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
  return folder;
}

describe("an installed package's program", () => {
  it.each<[what: string, bin: unknown, file: string | undefined]>([
    ['the only one', { other: 'a.js' }, 'a.js'],
    ['a bare path', './dist/a.js', 'dist/a.js'],
    ['the one of its own name', { other: 'a.js', server: 'b.js' }, 'b.js'],
    ['none of many', { one: 'a.js', two: 'b.js' }, undefined],
    ['none at all', undefined, undefined],
    ['nothing outside of it', '../../evil.js', undefined],
  ])('%s', (_what, bin, file) => {
    const folder = installed(temporaryFolder(), '@scope/server', { version: '1.0.0', bin });
    expect(programOf(folder, '@scope/server')).toBe(file === undefined ? undefined : join(folder, file));
  });
});

describe('on one machine', () => {
  const load = (root: string, entry: object) => {
    const file = join(root, 'mcp.json');
    writeFileSync(file, JSON.stringify({ mcpServers: { a: entry } }));
    return loadServers({ file })[0];
  };

  it('an installed version is started from its folder, also from one above', () => {
    const root = temporaryFolder();
    const folder = installed(root, '@scope/server', { version: '1.2.3', bin: 'main.js' });
    const below = join(root, 'deep', 'er');
    mkdirSync(below, { recursive: true });
    for (const place of [root, below]) {
      expect(load(place, { command: 'npx', args: ['-y', '@scope/server@1.2.3', '.'] })).toMatchObject({
        command: 'node',
        args: [join(folder, 'main.js'), '.'],
        cwd: place,
      });
    }
  });

  it.each([
    ['another version', { command: 'npx', args: ['-y', 'server@1.2.4'] }],
    ['no version', { command: 'npx', args: ['-y', 'server'] }],
    ['another program', { command: 'uvx', args: ['server@1.2.3'] }],
    ['no program in it', { command: 'npx', args: ['-y', 'bare@1.2.3'] }],
  ])('%s is started as written', (_what, entry) => {
    const root = temporaryFolder();
    installed(root, 'server', { version: '1.2.3', bin: 'main.js' });
    installed(root, 'bare', { version: '1.2.3' });
    expect(load(root, entry)).toMatchObject(entry);
  });
});
