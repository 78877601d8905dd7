import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { StepFailure } from '../../lib/blueprint/errors.ts';
import { callTool } from '../../lib/downstream/call.ts';
import { readCatalog, resolveTool } from '../../lib/downstream/catalog.ts';
import type { ServerState } from '../../lib/downstream/pool.ts';
import { livingChildren } from '../../lib/downstream/processes.ts';
import { mayRepeat } from '../../lib/downstream/tool-info.ts';
import { FIXTURES, MODULES, oddServer, poolOf, temporaryFolder, until } from './fixtures/setup.ts';

const published = (name: string, ...args: string[]) => ({
  command: process.execPath,
  args: [join(MODULES, `@modelcontextprotocol/server-${name}/dist/index.js`), ...args],
});
const modern = (...args: string[]) => ({
  command: process.execPath,
  args: [join(FIXTURES, 'modern-server.mjs'), ...args],
});
const nobody = { command: 'no-such-command-anywhere' };

describe('readCatalog', () => {
  it('has every page, the allowed tools only, and who could not be reached', async () => {
    const { server, journal } = oddServer();
    const pool = poolOf({ odd: server, few: { ...server, tools: ['echo', 'slow', 'not-there'] }, nobody });
    const catalog = await readCatalog(pool);
    expect(catalog.tools.filter((tool) => tool.server === 'odd').length).toBe(20);
    expect(catalog.tools.filter((tool) => tool.server === 'few').map((tool) => tool.name)).toEqual([
      'echo',
      'slow',
    ]);
    expect(catalog.unreachable).toEqual([
      { server: 'nobody', error: 'its command or its working directory was not found' },
    ]);
    const before = journal().length;
    await readCatalog(pool);
    expect(journal().length, 'the lists are kept').toBe(before);
    await readCatalog(pool, { server: 'odd', maxAgeMs: -1 });
    expect(journal().length, 'and read again when they are too old').toBe(before + 4);
  });

  it('shows what a tool says of itself', async () => {
    const pool = poolOf({
      memory: { ...published('memory'), env: { MEMORY_FILE_PATH: join(temporaryFolder(), 'm.jsonl') } },
    });
    const { tools } = await readCatalog(pool, { server: 'memory' });
    expect(tools.find((tool) => tool.name === 'read_graph')).toMatchObject({
      server: 'memory',
      title: 'Read Graph',
      description: 'Read the entire knowledge graph',
      inputSchema: { type: 'object' },
      outputSchema: { type: 'object', properties: { entities: { type: 'array' } } },
      annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    });
  });

  it('is read again when the server says that it changed, in the legacy era', async () => {
    const pool = poolOf({ odd: oddServer().server });
    expect((await resolveTool(pool, 'echo')).name).toBe('echo');
    await callTool(pool, { server: 'odd', tool: 'rename', arguments: {} });
    await until(() => pool.servers.get('odd')?.tools === undefined, 'the change is noticed');
    await expect(resolveTool(pool, 'echo')).rejects.toMatchObject({ kind: 'UnknownTool' });
    expect((await resolveTool(pool, 'echo2')).name).toBe('echo2');
  });

  it.each([[[]], [['strict']]])('and in the modern era: %j', async (args) => {
    const pool = poolOf({ modern: modern(...args) });
    await expect(callTool(pool, { server: 'modern', tool: 'grown', arguments: {} })).rejects.toMatchObject({
      kind: 'UnknownTool',
      message: 'server "modern" has no tool "grown". Did you mean "grow"?',
    });
    expect(pool.servers.get('modern')?.era).toBe('modern');
    await callTool(pool, { server: 'modern', tool: 'grow', arguments: {} });
    await until(() => pool.servers.get('modern')?.tools === undefined, 'the change is noticed');
    const result = await callTool(pool, { server: 'modern', tool: 'grown', arguments: {} });
    expect(result.content).toEqual([{ type: 'text', text: 'I am new' }]);
    expect(livingChildren().length).toBe(1);
  });
});

describe('resolveTool', () => {
  it('finds by bare name, by server, and says what is wrong with a name', async () => {
    const pool = poolOf({
      modern: modern(),
      twin: modern(),
      odd: { ...oddServer().server, tools: ['echo', 'slow'] },
      nobody,
    });
    expect(await resolveTool(pool, 'odd/echo')).toMatchObject({ server: 'odd', name: 'echo' });
    expect(await resolveTool(pool, 'slow')).toMatchObject({ server: 'odd', name: 'slow' });
    expect(await resolveTool(pool, 'twin/hello')).toMatchObject({ server: 'twin', name: 'hello' });
    const failures: [name: string, kind: string, message: string][] = [
      [
        'hello',
        'UnknownTool',
        'more than one server offers "hello"; write one of "modern/hello", "twin/hello"',
      ],
      [
        'ecko',
        'UnknownTool',
        'no connected server offers the tool "ecko" (not reached: "nobody"). Did you mean "echo"?',
      ],
      [
        'odd/ecko',
        'ToolNotAllowed',
        '"tools" of server "odd" in mcp.json does not allow "ecko". Did you mean "echo"?',
      ],
      ['odd/crash', 'ToolNotAllowed', '"tools" of server "odd" in mcp.json does not allow "crash"'],
      ['crash', 'ToolNotAllowed', '"tools" of server "odd" in mcp.json does not allow "crash"'],
      [
        'nobody/x',
        'ServerUnavailable',
        'server "nobody" cannot be reached: its command or its working directory was not found',
      ],
      [
        'else/echo',
        'UnknownTool',
        'no connected server offers the tool "else/echo" (not reached: "nobody"). Did you mean "odd/echo"?',
      ],
    ];
    for (const [name, kind, message] of failures) {
      const failure = await resolveTool(pool, name).catch((error: StepFailure) => error);
      expect(failure, name).toMatchObject({ kind });
      expect((failure as StepFailure).message).toBe(message);
    }
  });
});

it('mayRepeat believes hints only of servers that are trusted', async () => {
  const filesystem = published('filesystem', temporaryFolder());
  const pool = poolOf({ trusted: { ...filesystem, trustAnnotations: true }, other: filesystem });
  const repeatable = async (name: string) => {
    const info = await resolveTool(pool, name);
    return mayRepeat((pool.servers.get(info.server) as ServerState).config, info);
  };
  expect(await repeatable('trusted/read_text_file')).toBe(true);
  expect(await repeatable('trusted/write_file'), 'idempotent').toBe(true);
  expect(await repeatable('trusted/move_file')).toBe(false);
  expect(await repeatable('other/read_text_file')).toBe(false);
});
