/** The published servers that the product ships with, and server-everything: what they answer and how it is read. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { Json } from '../../lib/blueprint/json.ts';
import type { ParseMode } from '../../lib/blueprint/types.ts';
import { storeBlobs } from '../../lib/downstream/blobs.ts';
import { callTool } from '../../lib/downstream/call.ts';
import { loadServers } from '../../lib/downstream/config.ts';
import { createPool, type Pool } from '../../lib/downstream/pool.ts';
import { resultValue } from '../../lib/downstream/value.ts';
import { afterTest, MODULES, poolOf, temporaryFolder } from './fixtures/setup.ts';

type Case = [tool: string, args: Record<string, Json>, parse: ParseMode | undefined, value: unknown];

async function check(pool: Pool, server: string, cases: Case[]): Promise<void> {
  for (const [tool, args, parse, value] of cases) {
    const result = await callTool(pool, { server, tool, arguments: args });
    expect(resultValue(result, parse), `${tool} parsed as ${parse}`).toEqual(value);
  }
}

const server = (name: string, ...args: string[]) => ({
  command: process.execPath,
  args: [join(MODULES, `@modelcontextprotocol/server-${name}/dist/index.js`), ...args],
});

it('filesystem', async () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'src'));
  writeFileSync(join(folder, 'src/a.ts'), 'export {};\n');
  writeFileSync(join(folder, 'notes.txt'), '00713');
  const pool = poolOf({ filesystem: server('filesystem', folder) });
  const tree = [
    { name: 'notes.txt', type: 'file' },
    { name: 'src', type: 'directory', children: [{ name: 'a.ts', type: 'file' }] },
  ];
  const unordered = (expected: object[]) => expect.arrayContaining(expected);
  await check(pool, 'filesystem', [
    ['list_directory', { path: folder }, 'lines', unordered(['[DIR] src', '[FILE] notes.txt'] as never)],
    ['directory_tree', { path: folder }, 'json', unordered(tree)],
    ['read_text_file', { path: join(folder, 'notes.txt') }, 'text', '00713'],
    ['read_text_file', { path: join(folder, 'notes.txt') }, undefined, { content: '00713' }],
    ['search_files', { path: folder, pattern: '**/*.ts' }, 'lines', [join(folder, 'src/a.ts')]],
    ['search_files', { path: folder, pattern: '**/*.rs' }, 'lines', ['No matches found']],
    [
      'get_file_info',
      { path: join(folder, 'notes.txt') },
      'yaml',
      expect.objectContaining({ size: 5, isFile: true }),
    ],
    [
      'read_multiple_files',
      { paths: [join(folder, 'notes.txt'), join(folder, 'gone.txt')] },
      'text',
      expect.stringMatching(/notes\.txt:\n00713\n+---\n.*gone\.txt: Error/s),
    ],
  ]);
  await expect(
    callTool(pool, { server: 'filesystem', tool: 'read_text_file', arguments: { path: '/etc/passwd' } }),
  ).rejects.toMatchObject({ kind: 'ToolError', message: expect.stringContaining('Access denied') });
});

it('memory, as mcp.json starts it', async () => {
  const dataFolder = temporaryFolder();
  const file = join(MODULES, '../mcp.json');
  const pool = createPool(loadServers({ file, dataFolder, env: {} }).filter(({ name }) => name === 'memory'));
  afterTest(() => pool.close());
  const entities = [{ name: 'a.ts', entityType: 'file', observations: ['1 line'] }];
  const relations = [{ from: 'a.ts', to: 'src', relationType: 'in' }];
  await check(pool, 'memory', [
    ['create_entities', { entities }, undefined, { entities }],
    ['create_entities', { entities }, 'json', []],
    ['create_relations', { relations }, undefined, { relations }],
    ['read_graph', {}, undefined, { entities, relations }],
    ['read_graph', {}, 'json', { entities, relations }],
    ['search_nodes', { query: 'nobody' }, undefined, { entities: [], relations: [] }],
    ['open_nodes', { names: ['a.ts'] }, undefined, { entities, relations }],
  ]);
});

it('everything', async () => {
  const pool = poolOf({ everything: server('everything') });
  await check(pool, 'everything', [
    ['echo', { message: 'hello' }, undefined, 'Echo: hello'],
    ['get-sum', { a: 2, b: 3 }, 'text', 'The sum of 2 and 3 is 5.'],
    [
      'get-structured-content',
      { location: 'Chicago' },
      undefined,
      expect.objectContaining({ temperature: expect.any(Number) }),
    ],
  ]);
  const answer = await callTool(pool, { server: 'everything', tool: 'get-tiny-image', arguments: {} });
  const stored = await storeBlobs(
    answer,
    async (bytes, type) => `${type} ${Buffer.from(bytes.subarray(1, 4))}`,
  );
  expect(resultValue(stored)).toMatchObject([
    { type: 'text' },
    { type: 'image', blob: 'image/png PNG' },
    { type: 'text' },
  ]);
  await expect(
    callTool(pool, { server: 'everything', tool: 'get-sum', arguments: { a: 'two' } }),
  ).rejects.toMatchObject({ kind: 'InvalidArguments' });
});
