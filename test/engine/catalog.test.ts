/** The catalog of downstream tools as the endpoint has it: stored by call-tool, read by an endpoint that has just started. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parseServers } from '../../lib/downstream/config.ts';
import { serversHash } from '../../lib/downstream/servers-hash.ts';
import { PUBLISHED, startRunningEngine } from '../running-engine.ts';

let dataDir: string;

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'mwe-catalog-'));
});
afterEach(() => rm(dataDir, { recursive: true, force: true }));

const BROKEN = { command: 'node', args: ['-e', 'process.exit(3)'] };
const ECHO = {
  id: 'echoes',
  steps: [{ id: 'say', type: 'call', tool: 'echo', params: { message: 'hi' }, parse: 'text' }],
};

describe('the stored catalog', () => {
  it('serves an endpoint that has just started without a server being asked, and names those not reached', async () => {
    const servers = { everything: PUBLISHED.everything, broken: BROKEN };
    const first = await startRunningEngine(servers, { dataDir });
    const listed = await first.agent.call('list_tools', {});
    expect(listed.answer).toMatchObject({ unavailable: [{ server: 'broken' }] });
    expect(first.pids()).toHaveLength(1);
    await first.agent.close();
    await first.stop();

    const second = await startRunningEngine(servers, { dataDir });
    try {
      const saved = await second.agent.call('create_workflow', { blueprint: ECHO });
      expect(saved.answer).toMatchObject({ id: 'echoes', warnings: [] });
      const found = await second.agent.call('list_tools', { query: 'echo' });
      expect(found.answer).toMatchObject({
        tools: [{ server: 'everything', name: 'echo', inputSchema: { required: ['message'] } }],
        unavailable: [{ server: 'broken' }],
      });
      expect(second.pids()).toEqual([]);
      // Looking at everything is asking: the servers start.
      await second.agent.call('list_tools', {});
      expect(second.pids()).toHaveLength(1);
    } finally {
      await second.agent.close();
      await second.stop();
    }
  });

  it('is not read under another configuration', async () => {
    const first = await startRunningEngine({ everything: PUBLISHED.everything }, { dataDir });
    await first.agent.call('list_tools', {});
    await first.agent.close();
    await first.stop();

    const second = await startRunningEngine({ filesystem: PUBLISHED.filesystem }, { dataDir });
    try {
      const { answer } = await second.agent.call('create_workflow', { blueprint: ECHO });
      expect(answer.warnings).toMatchObject([{ code: 'BP601' }]);
    } finally {
      await second.agent.close();
      await second.stop();
    }
  });
});

describe('the hash of a configuration', () => {
  const hashOf = (servers: object, env = {}): string =>
    serversHash(parseServers(JSON.stringify({ mcpServers: servers }), { file: 'mcp.json', env }));
  const server = { command: 'node', args: ['server.js'], env: { TOKEN: '$' + '{TOKEN}' } };

  it('changes with what may change the tools, and not with a secret', () => {
    const one = hashOf({ a: server }, { TOKEN: 'one' });
    expect(hashOf({ a: server }, { TOKEN: 'two' })).toBe(one);
    for (const other of [
      { b: server },
      { a: { ...server, args: ['other.js'] } },
      { a: { ...server, tools: ['x'] } },
      { a: { ...server, trustAnnotations: true } },
      { a: server, b: server },
      { a: { url: 'http://127.0.0.1:1/mcp' } },
    ]) {
      expect(hashOf(other, { TOKEN: 'one' })).not.toBe(one);
    }
  });
});
