/** `mwe serve` as a process: ready, quiet, found by its file, and gone without a trace. */
import { readdirSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectAgent } from '../../lib/cli/agent.ts';
import { PUBLISHED } from '../running-engine.ts';
import { mwe } from './command.ts';

let folder: string;
let config: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mwe-serve-'));
  config = join(folder, 'mcp.json');
  await writeFile(config, JSON.stringify({ mcpServers: { everything: PUBLISHED.everything } }));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Processes whose command line names a text. */
function processesWith(text: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        const line = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
        return line.includes(text) && !line.includes('vitest');
      } catch {
        return false;
      }
    });
}

describe('serve', () => {
  it('says where it is, writes endpoints.json, prints nothing else, and leaves no child', async () => {
    const dataDir = join(folder, 'data');
    const engine = mwe(['serve', '--port', '0', '--config', config, '--data', dataDir]);
    const line = await engine.said('MCP endpoint http://127.0.0.1:');
    const url = line.trim().replace('MCP endpoint ', '');
    const endpoints = JSON.parse(await readFile(join(dataDir, 'endpoints.json'), 'utf8'));
    expect(Object.keys(endpoints).sort()).toEqual([
      'dynamodb',
      'lambda',
      'mcp',
      's3',
      'scheduler',
      'secretsmanager',
      'sfn',
    ]);
    expect(endpoints.mcp).toBe(url);
    expect((await stat(dataDir)).mode & 0o777).toBe(0o700);

    const agent = await connectAgent(url);
    const { answer } = await agent.call('call_tool', { tool: 'echo', params: { message: 'hi' } });
    expect(answer).toMatchObject({ server: 'everything', isError: false, value: 'Echo: hi' });
    await agent.close();
    expect(engine.child.pid).toBeGreaterThan(0);
    const children = childrenOf(engine.child.pid ?? 0);
    expect(children.length).toBeGreaterThan(0);

    engine.child.kill('SIGINT');
    const { code, stdout, stderr } = await engine.ended;
    expect({ code, stderr, lines: stdout.trim().split('\n').length }).toEqual({
      code: 0,
      stderr: '',
      lines: 1,
    });
    expect(children.filter(isAlive)).toEqual([]);
  });

  it('shows the blueprints that ship, read-only', async () => {
    const dataDir = join(folder, 'shipped');
    const engine = mwe(['serve', '--port', '0', '--config', config, '--data', dataDir]);
    const url = (await engine.said('MCP endpoint')).trim().replace('MCP endpoint ', '');
    const agent = await connectAgent(url);
    const { answer } = await agent.call('list_workflows', {});
    const shipped = (answer.workflows as { id: string; readOnly?: boolean }[]).map((w) => [w.id, w.readOnly]);
    expect(shipped.sort()).toEqual([
      ['repo-to-graph', true],
      ['triage', true],
    ]);
    const refused = await agent.call('delete_workflow', { id: 'triage' });
    expect(refused.answer).toMatchObject({ code: 'Forbidden' });
    expect(refused.answer.message).toContain('blueprints/triage.json');
    await agent.close();
    engine.child.kill('SIGTERM');
    expect((await engine.ended).code).toBe(0);
  });
});

describe('what stands in the way is one line and exit code 1', () => {
  const fails = async (args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await mwe(['serve', ...args]).ended;
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr.trim().split('\n')).toHaveLength(1);
    return stderr;
  };

  it('a port in use', async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const port = String((other.address() as AddressInfo).port);
    try {
      const line = await fails(['--port', port, '--config', config, '--data', join(folder, 'p')]);
      expect(line).toContain(`port ${port} is in use`);
    } finally {
      other.close();
    }
  });

  it('a broken mcp.json', async () => {
    const broken = join(folder, 'broken.json');
    await writeFile(broken, '{ "mcpServers": { "Bad Name": { "command": "x" } } }');
    const line = await fails(['--port', '0', '--config', broken, '--data', join(folder, 'b')]);
    expect(line).toContain('Bad Name');
    await writeFile(broken, '{ not json');
    expect(await fails(['--port', '0', '--config', broken, '--data', join(folder, 'b')])).toContain(
      'not JSON',
    );
    expect(
      await fails(['--port', '0', '--config', join(folder, 'none.json'), '--data', join(folder, 'b')]),
    ).toContain('there is no such file');
  });

  it('a data folder that cannot be one', async () => {
    const file = join(folder, 'a-file');
    await writeFile(file, '');
    const line = await fails(['--port', '0', '--config', config, '--data', join(file, 'data')]);
    expect(line).toContain('data folder');
  });

  it('a limit in the environment that is none', async () => {
    const args = ['serve', '--port', '0', '--config', config, '--data', join(folder, 'l')];
    const { code, stderr } = await mwe(args, { MWE_MAX_ATTEMPTS: 'many' }).ended;
    expect({ code, stderr: stderr.trim() }).toEqual({
      code: 1,
      stderr: 'mwe: MWE_MAX_ATTEMPTS: a whole number from 1 is needed, "many" is set',
    });
  });

  it('a blueprint of its own that cannot be read', async () => {
    const args = ['--port', '0', '--config', config, '--data', join(folder, 's'), '--blueprints'];
    const blueprints = join(folder, 'blueprints');
    expect(await fails([...args, blueprints])).toContain(`blueprints folder ${blueprints}`);
    await mkdir(blueprints);
    await writeFile(join(blueprints, 'half.json'), '{');
    expect(await fails([...args, blueprints])).toContain('half.json: not JSON');
  });

  it('a data folder that another engine has', async () => {
    const dataDir = join(folder, 'taken');
    const first = mwe(['serve', '--port', '0', '--config', config, '--data', dataDir]);
    await first.said('MCP endpoint');
    expect(await fails(['--port', '0', '--config', config, '--data', dataDir])).toContain(dataDir);
    first.child.kill('SIGINT');
    await first.ended;
  });
});

describe('wrong usage is exit code 2', () => {
  it.each([
    [['nonsense'], 'unknown command "nonsense"'],
    [['serve', '--nope'], '--nope'],
    [['serve', '--port', 'x'], '--port x'],
    [['serve', 'extra'], 'extra'],
    [['validate'], 'FILE is missing'],
    [['run', 'a.json', 'b.json'], 'one FILE only'],
  ])('%j', async (args, part) => {
    const { code, stderr } = await mwe(args).ended;
    expect(code).toBe(2);
    expect(stderr).toContain(part);
  });

  it.each([
    [['--help']],
    [['serve', '--help']],
    [['validate', '-h']],
    [['compile', '--help']],
    [['run', '--help']],
  ])('%j helps', async (args) => {
    const { code, stdout, stderr } = await mwe(args).ended;
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain('mwe');
  });
});

function childrenOf(pid: number): number[] {
  return processesWith('').filter((candidate) => {
    try {
      const parent = /\) \S (\d+)/.exec(readFileSync(`/proc/${candidate}/stat`, 'utf8'))?.[1];
      return Number(parent) === pid;
    } catch {
      return false;
    }
  });
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
