// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the placeholders of mcp.json are what is tested
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ConfigError, loadServers, parseServers } from '../../lib/downstream/config.ts';

const options = { file: '/project/mcp.json', env: { TOKEN: 'hunter22', EMPTY: '' }, dataFolder: '/data' };
const parse = (servers: object) => parseServers(JSON.stringify({ mcpServers: servers }), options);
const problemsOf = (text: string): string => {
  try {
    parseServers(text, options);
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
  return '';
};

describe('what is accepted', () => {
  it('a stdio server, with every default', () => {
    expect(parse({ files: { command: 'node' } })).toEqual([
      {
        name: 'files',
        transport: 'stdio',
        command: 'node',
        args: [],
        env: {},
        cwd: '/project',
        timeoutMs: 60_000,
        maxConcurrency: 1,
        session: 'pool',
        trustAnnotations: false,
        secrets: [],
      },
    ]);
  });

  it('an HTTP server with every field', () => {
    const web = {
      type: 'streamable-http',
      url: 'https://mcp.example.com/mcp',
      headers: { authorization: 'Bearer ${TOKEN}' },
      tools: ['list_pods'],
      timeoutMs: 5000,
      maxConcurrency: 8,
      session: 'run',
      trustAnnotations: true,
    };
    const { type, ...fields } = web;
    expect(type).toBe('streamable-http');
    expect(parse({ web })).toEqual([
      {
        ...fields,
        name: 'web',
        transport: 'http',
        headers: { authorization: 'Bearer hunter22' },
        secrets: ['hunter22', 'Bearer hunter22', 'hunter22'],
      },
    ]);
  });

  it.each([
    [undefined, 'http'],
    ['http', 'http'],
    ['streamable-http', 'http'],
    ['streamableHttp', 'http'],
    ['sse', 'sse'],
  ])('type %s is the transport %s', (type, transport) => {
    expect(parse({ web: { type, url: 'http://127.0.0.1:3000/mcp' } })).toMatchObject([
      { transport, maxConcurrency: 64 },
    ]);
  });

  it("VS Code's key, a byte order mark, and fields of other programs", () => {
    const text = `\ufeff${JSON.stringify({ inputs: [], servers: { a: { type: 'stdio', command: 'x', gallery: true, timeout: 3 } } })}`;
    expect(parseServers(text, options)).toMatchObject([{ name: 'a', command: 'x' }]);
  });

  it('a disabled server is left out, whatever else it holds', () => {
    expect(
      parse({ off: { disabled: true, command: '${MISSING}' }, on: { disabled: false, command: 'x' } }),
    ).toMatchObject([{ name: 'on' }]);
  });

  it('paths are relative to the file', () => {
    expect(parse({ a: { command: 'x', cwd: 'sub/dir' }, b: { command: 'x', cwd: '/abs' } })).toMatchObject([
      { cwd: '/project/sub/dir' },
      { cwd: '/abs' },
    ]);
  });

  const placeholders: [written: string, filled: string][] = [
    ['${TOKEN}', 'hunter22'],
    ['a-${env:TOKEN}-b', 'a-hunter22-b'],
    ['${MISSING:-none}', 'none'],
    ['${EMPTY:-none}', 'none'],
    ['${EMPTY}', ''],
    ['${TOKEN:-none}', 'hunter22'],
    ['${dataFolder}/m.jsonl', '/data/m.jsonl'],
    ['${workspaceFolder}/x', '/project/x'],
    ['$TOKEN {TOKEN} $', '$TOKEN {TOKEN} $'],
  ];
  it.each(placeholders)('%s is %s', (written, filled) => {
    expect(parse({ a: { command: 'x', args: [written], env: { V: written } } })).toMatchObject([
      { args: [filled], env: { V: filled } },
    ]);
  });

  it('what a placeholder stands for is not filled again', () => {
    const nested = { ...options, env: { A: '${B}', B: 'secret' } };
    const text = JSON.stringify({ mcpServers: { a: { command: '${A}' } } });
    expect(parseServers(text, nested)).toMatchObject([{ command: '${B}' }]);
  });
});

describe('what is refused', () => {
  const servers = (value: unknown) => JSON.stringify({ mcpServers: value });
  const cases: [what: string, text: string, message: string][] = [
    ['no JSON', '{"mcpServers": {"a": hunter22}}', 'it is not JSON (line 1, column 22)'],
    ['an early end', '{"mcpServers": {', 'it is not JSON (it ends too early)'],
    ['an array', '[]', 'it must be an object with the key "mcpServers"'],
    ['no servers', '{}', 'the key "mcpServers" (or VS Code\'s "servers") is missing'],
    ['both keys', '{"mcpServers": {}, "servers": {}}', 'it has both "mcpServers" and "servers"'],
    ['servers as a list', servers([]), 'mcpServers must be an object of servers by name'],
    [
      'a bad name',
      servers({ 'My Server': { command: 'x' } }),
      'server "My Server": a name has 1 to 32 lower-case',
    ],
    ['a bad entry', servers({ a: 'npx' }), 'server "a": must be an object with "command" or "url"'],
    ['neither', servers({ a: {} }), 'server "a": give either "command" (a program to start) or "url"'],
    ['both', servers({ a: { command: 'x', url: 'http://x' } }), 'server "a": give either'],
    [
      'a wrong type',
      servers({ a: { command: 'x', args: 'y' } }),
      'server "a": args: Invalid input: expected array',
    ],
    ['a wrong limit', servers({ a: { command: 'x', timeoutMs: 0 } }), 'server "a": timeoutMs: Too small'],
    [
      'a wrong session',
      servers({ a: { command: 'x', session: 'once' } }),
      'server "a": session: Invalid option',
    ],
    [
      'a misspelt field',
      servers({ a: { command: 'x', timeoutMS: 5 } }),
      'unknown field "timeoutMS". Did you mean "timeoutMs"?',
    ],
    [
      'another',
      servers({ a: { command: 'x', 'trust-annotations': true } }),
      'Did you mean "trustAnnotations"?',
    ],
    ['envFile', servers({ a: { command: 'x', envFile: '.env' } }), '"envFile" is not supported'],
    [
      'stdio with a url',
      servers({ a: { type: 'stdio', url: 'http://x' } }),
      'server "a": type: Invalid option',
    ],
    ['a relative url', servers({ a: { url: '/mcp' } }), '"url" must be an absolute http or https URL'],
    [
      'another scheme',
      servers({ a: { url: 'file:///etc/passwd' } }),
      '"url" must be an absolute http or https URL',
    ],
    ['credentials in a url', servers({ a: { url: 'http://u:hunter22@x/' } }), 'without credentials in it'],
    [
      'a bad header',
      servers({ a: { url: 'http://x', headers: { 'x y': '1' } } }),
      'headers/x y is not a valid HTTP header',
    ],
    [
      'a missing variable',
      servers({ a: { command: 'x', env: { K: '${NOPE}' } } }),
      'env/K: the environment variable NOPE is not set',
    ],
    [
      'a secret without a name',
      servers({ a: { command: 'x', env: { K: '${secret:}' } } }),
      'server "a": env/K: ${secret:} names no secret; write ${secret:NAME}, or ${secret:NAME#key} for a key of its JSON',
    ],
    [
      'a secret without a key after #',
      servers({ a: { command: 'x', env: { K: '${secret:db#}' } } }),
      'server "a": env/K: ${secret:db#} names no secret',
    ],
    [
      'a secret by its ARN',
      servers({ a: { command: 'x', env: { K: '${secret:arn:aws:secretsmanager:x}' } } }),
      '${secret:arn:aws:secretsmanager:x} names no secret; write ${secret:NAME} (its name, not its ARN), or',
    ],
    [
      'a secret as a program',
      servers({ a: { command: '${secret:db}' } }),
      'server "a": a secret cannot stand in "command" or "cwd"; hand it over in "env"',
    ],
    [
      'a secret as a whole URL',
      servers({ a: { url: '${secret:db}' } }),
      'server "a": "url" must be an absolute http or https URL',
    ],
    [
      'an input',
      servers({ a: { command: 'x', args: ['${input:key}'] } }),
      'args/0: ${input:key}: there is nobody to ask',
    ],
    ['another placeholder', servers({ a: { command: '${a b}' } }), '${a b} is not understood'],
    [
      'a prototype name',
      servers({ a: { command: 'x', env: { K: '${__proto__}' } } }),
      'variable __proto__ is not set',
    ],
  ];
  it.each(cases)('%s', (_, text, message) => {
    const problem = problemsOf(text);
    expect(problem).toContain(message);
    expect(problem.startsWith('/project/mcp.json: ')).toBe(true);
    expect(problem).not.toContain('hunter22');
    expect(problem).not.toContain('\n');
  });

  it('everything at once', () => {
    const problem = problemsOf(servers({ A: {}, b: {}, c: { command: '${X}', cwd: '${Y}' } }));
    expect(problem.match(/server "/g)?.length).toBe(4);
  });

  it('a file that is not there', () => {
    const folder = mkdtempSync(join(tmpdir(), 'config-'));
    try {
      const file = join(folder, 'mcp.json');
      expect(() => loadServers({ file })).toThrow('there is no such file');
      writeFileSync(file, '{"mcpServers": {"a": {"command": "x"}}}');
      expect(loadServers({ file })).toMatchObject([{ name: 'a', cwd: folder }]);
      expect(() => loadServers({ file: folder })).toThrow('it cannot be read (EISDIR)');
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

it('the mcp.json that ships is valid', () => {
  const servers = loadServers({ file: resolve(import.meta.dirname, '../../mcp.json'), env: {} });
  expect(servers.map(({ name, trustAnnotations }) => [name, trustAnnotations])).toEqual([
    ['filesystem', true],
    ['memory', true],
  ]);
});
