/** `run_workflow` as a conversation: progress while it runs, a bounded wait, a caller that leaves, an engine that calls itself. */

import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import {
  Client as ClientV2,
  StreamableHTTPClientTransport as TransportV2,
} from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as TransportV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../lib/blueprint/json.ts';
import { MAX_HOPS } from '../../lib/downstream/hops.ts';
import { PUBLISHED, type RunningEngine, startRunningEngine } from '../running-engine.ts';

let engine: RunningEngine;

/** A port that nobody listens on, for an engine that must know its own address before it starts. */
function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as AddressInfo;
      probe.close(() => resolve(port));
    });
  });
}

beforeAll(async () => {
  const port = await freePort();
  engine = await startRunningEngine(
    { everything: PUBLISHED.everything, self: { url: `http://127.0.0.1:${port}/mcp`, timeoutMs: 60_000 } },
    { port },
  );
  await engine.agent.call('create_workflow', { blueprint: SLOW });
});
afterAll(() => engine.end());

const long = (id: string, duration: number): JsonObject => ({
  id,
  type: 'call',
  tool: 'trigger-long-running-operation',
  params: { duration, steps: 2 },
  parse: 'text',
});
const SLOW: JsonObject = {
  id: 'slow',
  params: { seconds: { type: 'number', default: 1 } },
  steps: [
    { id: 'first', type: 'call', tool: 'echo', params: { message: 'hi' }, parse: 'text' },
    { ...long('wait', 1), params: { duration: '{{ params.seconds }}', steps: 2 } },
  ],
  output: '{{ steps.first }}',
};

interface Told {
  progress: number;
  total?: number | undefined;
  message?: string | undefined;
}
type Call = (onprogress: (told: Told) => void) => Promise<Record<string, unknown>>;

const CLIENTS: Record<string, () => Promise<{ run: Call; close(): Promise<void> }>> = {
  'the v1 SDK client': async () => {
    const client = new ClientV1({ name: 'v1', version: '1' });
    await client.connect(new TransportV1(new URL(engine.mcp)) as Transport);
    return {
      run: (onprogress) =>
        client.callTool({ name: 'run_workflow', arguments: { id: 'slow' } }, undefined, { onprogress }),
      close: () => client.close(),
    };
  },
  'the v2 SDK client in the 2025 era': async () => v2('legacy'),
  'the v2 SDK client in the 2026-07-28 revision': async () => v2('auto'),
};

async function v2(mode: 'legacy' | 'auto') {
  const client = new ClientV2(
    { name: 'v2', version: '1' },
    mode === 'auto' ? { versionNegotiation: { mode } } : {},
  );
  await client.connect(new TransportV2(new URL(engine.mcp)));
  const run: Call = (onprogress) =>
    client.callTool({ name: 'run_workflow', arguments: { id: 'slow' } }, { onprogress });
  return { run, close: () => client.close() };
}

describe.each(Object.keys(CLIENTS))('progress for %s', (name) => {
  it('arrives while the run is on its way, and before the result', async () => {
    const client = await (CLIENTS[name] as (typeof CLIENTS)[string])();
    try {
      const told: (Told & { at: number })[] = [];
      const began = performance.now();
      const result = await client.run((each) => told.push({ ...each, at: performance.now() - began }));
      const took = performance.now() - began;
      const before = told.length;
      expect(result.structuredContent).toMatchObject({ status: 'SUCCEEDED', output: 'Echo: hi' });
      expect(told.length).toBeGreaterThanOrEqual(2);
      // The run takes a second; the first is told at once and not with the result.
      expect(told[0]?.at).toBeLessThan(took / 2);
      const steps = told.map((each) => each.progress);
      expect(steps).toEqual([...new Set(steps)].sort((a, b) => a - b));
      expect(told.at(-1)).toMatchObject({ progress: 2, total: 2 });
      await new Promise((resolve) => setImmediate(resolve));
      expect(told.length).toBe(before);
    } finally {
      await client.close();
    }
  });
});

describe('waiting', () => {
  it('is bounded: RUNNING with the run id, to be followed', async () => {
    const began = performance.now();
    const { answer } = await engine.agent.call('run_workflow', {
      id: 'slow',
      wait: 0.2,
      params: { seconds: 2 },
    });
    expect(performance.now() - began).toBeLessThan(1500);
    expect(answer).toEqual({ runId: expect.any(String), status: 'RUNNING' });
    const runId = String(answer.runId);
    await expect
      .poll(async () => (await engine.agent.call('get_run', { runId })).answer.status, { timeout: 10_000 })
      .toBe('SUCCEEDED');
  });

  it('ends when the caller leaves; the run goes on', async () => {
    const client = new ClientV2({ name: 'leaver', version: '1' }, { versionNegotiation: { mode: 'auto' } });
    await client.connect(new TransportV2(new URL(engine.mcp)));
    const leaving = new AbortController();
    const call = client.callTool(
      { name: 'run_workflow', arguments: { id: 'slow', params: { seconds: 1.5 }, idempotencyKey: 'left' } },
      { signal: leaving.signal },
    );
    const open = async () =>
      (
        (await engine.agent.call('list_runs', { workflow: 'slow', status: 'RUNNING' })).answer
          .runs as JsonObject[]
      ).length;
    await expect.poll(open).toBe(1);
    leaving.abort();
    await expect(call).rejects.toThrow();
    await client.close();
    // The same key finds the same run, which nobody stopped.
    const { answer } = await engine.agent.call('run_workflow', {
      id: 'slow',
      params: { seconds: 1.5 },
      idempotencyKey: 'left',
    });
    expect(answer).toMatchObject({ status: 'SUCCEEDED' });
  });
});

describe('an engine that is its own downstream server', () => {
  it('ends with LimitExceeded instead of never', async () => {
    await engine.agent.call('create_workflow', {
      blueprint: {
        id: 'selfish',
        steps: [
          {
            id: 'again',
            type: 'call',
            tool: 'self/run_workflow',
            params: { id: 'selfish', wait: 50 },
            parse: 'structured',
            failWhen: "{{ output.status != 'SUCCEEDED' }}",
          },
        ],
      },
    });
    const { answer } = await engine.agent.call('run_workflow', { id: 'selfish', wait: 50 });
    expect(answer).toMatchObject({ status: 'FAILED', errors: [{ kind: 'FailedCondition' }] });
    const { runs } = (await engine.agent.call('list_runs', { workflow: 'selfish' })).answer;
    expect(runs).toHaveLength(MAX_HOPS + 1);
    const [innermost] = runs as JsonObject[];
    const { answer: deepest } = await engine.agent.call('get_run', { runId: String(innermost?.runId) });
    expect(deepest.errors).toMatchObject([{ step: 'again', kind: 'LimitExceeded' }]);
  });

  it('counts through a sub-workflow and through call_tool as well', async () => {
    const step = (tool: string, params: JsonObject): JsonObject => ({
      id: 'again',
      type: 'call',
      tool: `self/${tool}`,
      params,
      parse: 'structured',
    });
    const save = (id: string, steps: JsonObject[]) =>
      engine.agent.call('create_workflow', { blueprint: { id, steps } });
    await save('inner', [step('run_workflow', { id: 'outer', wait: 50 })]);
    await save('outer', [{ id: 'sub', type: 'call', workflow: 'inner' }]);
    await engine.agent.call('run_workflow', { id: 'outer', wait: 50 });
    const { runs } = (await engine.agent.call('list_runs', { workflow: 'outer' })).answer;
    expect(runs).toHaveLength(MAX_HOPS + 1);

    const nested = (levels: number): JsonObject =>
      levels === 0
        ? { tool: 'echo', params: { message: 'deep' } }
        : { tool: 'self/call_tool', params: nested(levels - 1) };
    const within = await engine.agent.call('call_tool', nested(MAX_HOPS - 1));
    expect(JSON.stringify(within.answer)).toContain('Echo: deep');
    const beyond = await engine.agent.call('call_tool', nested(MAX_HOPS));
    expect(JSON.stringify(beyond.answer)).toContain('LimitExceeded');
    expect(JSON.stringify(beyond.answer)).not.toContain('Echo: deep');
  });
});
