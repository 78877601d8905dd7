/** The endpoint over real HTTP, with agents of both SDK generations and both protocol eras. */
import { request } from 'node:http';
import {
  Client as ClientV2,
  StreamableHTTPClientTransport as TransportV2,
} from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as TransportV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { encode } from 'gpt-tokenizer';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ENDPOINT_TOOLS } from '../../lib/mcp/tools.ts';
import { PUBLISHED, type RunningEngine, startRunningEngine } from '../running-engine.ts';

let engine: RunningEngine;

beforeAll(async () => {
  engine = await startRunningEngine({ everything: PUBLISHED.everything });
});
afterAll(() => engine.end());

const ECHO = {
  id: 'echo-once',
  params: { message: { type: 'string', default: 'hello' } },
  steps: [
    { id: 'say', type: 'call', tool: 'echo', params: { message: '{{ params.message }}' }, parse: 'text' },
  ],
};

interface AnyClient {
  listTools(): Promise<{ tools: { name: string }[] }>;
  callTool(call: { name: string; arguments: Record<string, unknown> }): Promise<Record<string, unknown>>;
  getPrompt(prompt: { name: string; arguments?: Record<string, string> }): Promise<{ messages: unknown[] }>;
  readResource(resource: { uri: string }): Promise<{ contents: Record<string, unknown>[] }>;
  close(): Promise<void>;
}

const CLIENTS: Record<string, () => Promise<AnyClient>> = {
  'the v1 SDK client (2025 revision)': async () => {
    const client = new ClientV1({ name: 'v1', version: '1' });
    await client.connect(new TransportV1(new URL(engine.mcp)) as Transport);
    return client as unknown as AnyClient;
  },
  'the v2 SDK client in the 2025 era': async () => {
    const client = new ClientV2({ name: 'v2-legacy', version: '1' });
    await client.connect(new TransportV2(new URL(engine.mcp)));
    return client as unknown as AnyClient;
  },
  'the v2 SDK client in the 2026-07-28 revision': async () => {
    const client = new ClientV2({ name: 'v2', version: '1' }, { versionNegotiation: { mode: 'auto' } });
    await client.connect(new TransportV2(new URL(engine.mcp)));
    expect(client.getNegotiatedProtocolVersion()).toBe('2026-07-28');
    return client as unknown as AnyClient;
  },
};

describe.each(Object.keys(CLIENTS))('%s', (name) => {
  it('lists, saves, runs, reads', async () => {
    const client = await (CLIENTS[name] as () => Promise<AnyClient>)();
    try {
      const { tools } = await client.listTools();
      expect(tools.map((tool) => tool.name)).toEqual(ENDPOINT_TOOLS.map((tool) => tool.name));

      const saved = await client.callTool({ name: 'create_workflow', arguments: { blueprint: ECHO } });
      expect(saved.isError).not.toBe(true);
      expect(saved.structuredContent).toMatchObject({ id: 'echo-once', revision: 1 });

      const ran = await client.callTool({
        name: 'run_workflow',
        arguments: { id: 'echo-once', params: { message: name } },
      });
      expect(ran.structuredContent).toMatchObject({ status: 'SUCCEEDED', output: `Echo: ${name}` });

      const prompt = await client.getPrompt({ name: 'design_workflow', arguments: { task: 'sync pods' } });
      expect(JSON.stringify(prompt.messages)).toContain('The task: sync pods');

      const schema = await client.readResource({ uri: 'schema://blueprint' });
      expect(JSON.parse(String(schema.contents[0]?.text))).toHaveProperty('$schema');
      const workflow = await client.readResource({ uri: 'workflow://echo-once' });
      expect(JSON.parse(String(workflow.contents[0]?.text))).toMatchObject({
        blueprint: { id: 'echo-once' },
      });
    } finally {
      await client.close();
    }
  });
});

describe('what the endpoint refuses', () => {
  const send = (method: string, path: string, headers: Record<string, string>): Promise<number> =>
    new Promise((resolve, reject) => {
      const { hostname, port } = new URL(engine.mcp);
      const call = request({ hostname, port, method, path, headers }, (response) => {
        response.resume();
        resolve(response.statusCode ?? 0);
      });
      call.on('error', reject);
      call.end(method === 'POST' ? '{}' : undefined);
    });
  const json = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };

  it.each([
    ['GET', '/mcp', {}, 405],
    ['DELETE', '/mcp', {}, 405],
    ['POST', '/', json, 404],
    ['POST', '/mcp/x', json, 404],
    ['GET', '/.env', {}, 404],
    ['POST', '/mcp', { ...json, host: 'evil.example' }, 403],
    ['POST', '/mcp', { ...json, origin: 'https://evil.example' }, 403],
    ['POST', '/mcp', { ...json, 'sec-fetch-site': 'cross-site' }, 403],
    ['POST', '/mcp', { 'content-type': 'text/plain' }, 415],
  ] as const)('%s %s %o is answered with %i', async (method, path, headers, status) => {
    expect(await send(method, path, headers)).toBe(status);
  });

  it('takes no body over 4 MiB', async () => {
    const answer = await fetch(engine.mcp, {
      method: 'POST',
      headers: json,
      body: JSON.stringify({ pad: 'x'.repeat(5 * 1024 * 1024) }),
    });
    expect(answer.status).toBe(413);
  });

  it('sends no CORS header', async () => {
    const answer = await fetch(engine.mcp, { method: 'GET' });
    expect([...answer.headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([]);
  });
});

describe('what an agent pays', () => {
  it.each(Object.entries(CLIENTS))('tools/list fits into 2,500 tokens: %s', async (_, connect) => {
    const client = await (connect as () => Promise<AnyClient>)();
    const { tools } = await client.listTools();
    await client.close();
    expect(encode(JSON.stringify(tools)).length).toBeLessThan(2500);
  });

  it('one run_workflow exchange fits into 150 tokens', async () => {
    await engine.agent.call('create_workflow', { blueprint: ECHO });
    const args = { id: 'echo-once', params: { message: 'hello' } };
    const { answer } = await engine.agent.call('run_workflow', args);
    const exchange = JSON.stringify({ name: 'run_workflow', arguments: args }) + JSON.stringify(answer);
    expect(encode(exchange).length).toBeLessThan(150);
  });
});
