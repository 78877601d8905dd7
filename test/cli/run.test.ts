/** `mwe validate`, `compile` and `run` as processes. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../lib/blueprint/json.ts';
import { PUBLISHED } from '../running-engine.ts';
import { mwe } from './command.ts';

let folder: string;
let config: string;

const file = async (name: string, content: JsonObject | string): Promise<string> => {
  const path = join(folder, name);
  await writeFile(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
};

const GREET: JsonObject = {
  id: 'greet',
  params: { names: { type: 'array' }, greeting: { type: 'string', default: 'hello' } },
  steps: [
    {
      id: 'each',
      type: 'loop',
      over: '{{ params.names }}',
      as: 'name',
      do: {
        id: 'say',
        type: 'call',
        tool: 'echo',
        params: { message: '{{ params.greeting }} {{ name }}' },
        parse: 'text',
      },
    },
  ],
};

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mwe-cli-'));
  config = await file('mcp.json', {
    mcpServers: { everything: { ...PUBLISHED.everything }, filesystem: { ...PUBLISHED.filesystem } },
  } as unknown as JsonObject);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const run = (...args: string[]) => mwe([...args]).ended;
const runFile = (path: string, ...args: string[]) =>
  run('run', path, '--config', config, '--data', join(folder, 'data'), ...args);

describe('validate', () => {
  it('tells every diagnostic with its place, and answers with 3', async () => {
    const broken = await file('broken.json', { id: 'Broken', steps: [{ id: 'a', type: 'cal', tool: 'x' }] });
    const { code, stdout, stderr } = await run('validate', broken);
    expect(code).toBe(3);
    expect(stderr).toContain('steps/0/type');
    expect(stdout).toContain('not valid');
    const asJson = await run('validate', broken, '--json');
    expect(JSON.parse(asJson.stdout)).toMatchObject({ valid: false });
  });

  it('takes a file that is none, or no JSON, as what it is', async () => {
    expect(await run('validate', join(folder, 'nowhere.json'))).toMatchObject({ code: 1 });
    expect(await run('validate', await file('bad.json', '{'))).toMatchObject({ code: 3 });
  });
});

describe('compile', () => {
  it('prints the state machine, or its estimate', async () => {
    const path = await file('greet.json', GREET);
    const { code, stdout, stderr } = await run('compile', path);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(JSON.parse(stdout)).toMatchObject({ QueryLanguage: 'JSONata', StartAt: ' begin' });
    const estimate = await run('compile', path, '--estimate');
    expect(JSON.parse(estimate.stdout)).toHaveProperty('transitions');
  });
});

describe('run', () => {
  it('shows progress as plain lines and prints the output', async () => {
    const path = await file('greet.json', GREET);
    const { code, stdout, stderr } = await runFile(
      path,
      '--param',
      'names=["a","b"]',
      '--param',
      'greeting=hi',
    );
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toEqual(['Echo: hi a', 'Echo: hi b']);
    expect(stderr).toContain('greet, revision 1');
    expect(stderr).toContain('SUCCEEDED');
    // biome-ignore lint/suspicious/noControlCharactersInRegex: no escape sequence may be there
    expect(stderr).not.toMatch(/\u001b/);
  });

  it('prints JSON and nothing else with --json', async () => {
    const path = await file('greet.json', GREET);
    const { code, stdout, stderr } = await runFile(path, '--param', 'names=["a"]', '--json');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(JSON.parse(stdout)).toMatchObject({ status: 'SUCCEEDED', output: ['Echo: hello a'] });
  });

  it('answers a failed run with 4 and says which tool on which server', async () => {
    const path = await file('fails.json', {
      id: 'fails',
      steps: [
        { id: 'read', type: 'call', tool: 'read_text_file', params: { path: 'no/such' }, parse: 'text' },
      ],
    });
    const { code, stdout, stderr } = await runFile(path);
    // A run that failed has no output.
    expect({ code, stdout }).toEqual({ code: 4, stdout: '' });
    expect(stderr).toContain('read  ToolError');
  });

  it('refuses parameters and blueprints as an agent would be refused', async () => {
    const path = await file('greet.json', GREET);
    expect(await runFile(path)).toMatchObject({ code: 2 });
    expect(await runFile(path, '--param', 'names=no')).toMatchObject({ code: 2 });
    expect(await runFile(path, '--param', 'names')).toMatchObject({ code: 2 });
    const broken = await file('broken.json', { id: 'broken', steps: [] });
    expect(await runFile(broken)).toMatchObject({ code: 3 });
  });

  it('uses the engine that serves the data folder', async () => {
    const dataDir = join(folder, 'served');
    const engine = mwe(['serve', '--port', '0', '--config', config, '--data', dataDir]);
    await engine.said('MCP endpoint');
    const path = await file('greet.json', GREET);
    const { code, stdout } = await run('run', path, '--data', dataDir, '--param', 'names=["x"]');
    expect({ code, output: JSON.parse(stdout) }).toEqual({ code: 0, output: ['Echo: hello x'] });
    engine.child.kill('SIGINT');
    expect((await engine.ended).code).toBe(0);
  });

  it('cancels the run at Ctrl-C and leaves no engine behind', async () => {
    const path = await file('slow.json', {
      id: 'slow',
      steps: [
        {
          id: 'wait',
          type: 'call',
          tool: 'trigger-long-running-operation',
          params: { duration: 60, steps: 2 },
          parse: 'text',
        },
      ],
    });
    const command = mwe(['run', path, '--config', config, '--data', join(folder, 'cancelled')]);
    await command.said('wait');
    command.child.kill('SIGINT');
    const { code, stderr } = await command.ended;
    expect(code).toBe(4);
    expect(stderr).toContain('CANCELLED');
  });
});
