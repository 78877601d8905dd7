/**
 * `call_tool`: each use is a recorded run that is read, listed, limited and cancelled like any other; and what a deployment lets it
 * try. A server that writes down each call it gets tells what was sent.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as TransportV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../lib/blueprint/json.ts';
import type { Agent } from '../../lib/cli/agent.ts';
import { ENDPOINT_TOOLS } from '../../lib/mcp/tools.ts';
import { PUBLISHED, type RunningEngine, startRunningEngine } from '../running-engine.ts';
import { FIXTURES, readLines } from '../steps/harness.ts';
import { callersOf, credentials, principalOf } from './callers.ts';

const folder = mkdtempSync(join(tmpdir(), 'mwe-try-'));
const journal = join(folder, 'calls.jsonl');
const sent = () => readLines(journal).map(({ tool }) => tool);

type Options = Parameters<typeof startRunningEngine>[1];

function start(options: Options = {}): Promise<RunningEngine> {
  return startRunningEngine(
    {
      counting: {
        command: process.execPath,
        args: [join(FIXTURES, 'counting-server.mjs'), journal],
        trustAnnotations: true,
        maxConcurrency: 8,
      },
      // Annotates its tools as well, and is not trusted.
      everything: PUBLISHED.everything,
    },
    { principalOf, headers: { authorization: credentials('alice') }, ...options },
  );
}

/** The newest trial call of the agent's, as soon as it is listed. */
async function newestTry(agent: Agent, status = 'RUNNING'): Promise<string> {
  for (;;) {
    const { answer } = await agent.call('list_runs', { workflow: 'call_tool', status });
    const [run] = answer.runs as JsonObject[];
    if (run !== undefined) return String(run.runId);
    await sleep(20);
  }
}

async function sentCall(tool: string): Promise<void> {
  while (!sent().includes(tool)) await sleep(20);
}

afterAll(() => rmSync(folder, { recursive: true, force: true }));
beforeEach(() => rmSync(journal, { force: true }));

describe('a trial call', () => {
  let engine: RunningEngine;
  const { as, close } = callersOf(() => engine.mcp);
  beforeAll(async () => {
    engine = await start();
  });
  afterAll(async () => {
    await close();
    await engine.end();
  });

  it('is a run with its tool, attempts, parameters and whole value', async () => {
    const alice = await as('alice');
    const value = Array.from({ length: 3000 }, (_, n) => `row ${n}`);
    const { answer } = await alice.call('call_tool', { tool: 'work', params: { value } });
    const runId = String(answer.runId);
    expect(answer).toMatchObject({ server: 'counting', tool: 'work', isError: false });
    const { answer: run } = await alice.call('get_run', { runId });
    expect(run).toMatchObject({
      runId,
      status: 'SUCCEEDED',
      trigger: 'try',
      tool: 'counting/work',
      attempts: 1,
      steps: [],
    });
    expect(run).not.toHaveProperty('workflow');
    expect(run).not.toHaveProperty('url');
    const read = async (step: string) => (await alice.call('get_run', { runId, step })).answer;
    expect((await read('$params')).value).toEqual({ value });
    const client = await callersOf(() => engine.mcp).clientAs('alice');
    const { contents } = await client.readResource({ uri: `run://${runId}/output` });
    // The answer holds a sample, the run all of it.
    expect(JSON.parse((contents[0] as { text: string }).text)).toEqual({ value });
    await client.close();
    const { answer: list } = await alice.call('list_runs', {});
    expect((list.runs as JsonObject[])[0]).toMatchObject({
      runId,
      trigger: 'try',
      tool: 'counting/work',
      status: 'SUCCEEDED',
    });
  });

  it('that fails is a run that failed, with the error in the one shape', async () => {
    const alice = await as('alice');
    const CASES: [JsonObject, JsonObject, string[]][] = [
      [
        { tool: 'fail', params: { text: 'it broke' } },
        { kind: 'ToolError', server: 'counting', tool: 'fail', message: 'it broke' },
        ['fail'],
      ],
      [{ tool: 'nothing_like_it' }, { kind: 'UnknownTool' }, []],
    ];
    for (const [args, error, calls] of CASES) {
      rmSync(journal, { force: true });
      const { answer } = await alice.call('call_tool', args);
      expect(answer).toMatchObject({ isError: true, error: { kind: error.kind } });
      const { answer: run } = await alice.call('get_run', { runId: String(answer.runId) });
      expect(run).toMatchObject({
        status: 'FAILED',
        trigger: 'try',
        errors: [{ step: 'call_tool', attempts: 1, ...error }],
      });
      expect(sent()).toEqual(calls);
    }
  });

  it('keeps what is binary beside the value', async () => {
    const alice = await as('alice');
    const { answer } = await alice.call('call_tool', { tool: 'everything/get-tiny-image', params: {} });
    const { answer: value } = await alice.call('get_run', { runId: String(answer.runId), step: '$output' });
    const blocks = value.value as JsonObject[];
    expect(blocks.find(({ type }) => type === 'image')).toMatchObject({
      mimeType: 'image/png',
      blob: expect.stringMatching(/^blobs\//) as string,
    });
  });

  it('is broken off by cancel_run, and stays cancelled', async () => {
    const alice = await as('alice');
    const calling = alice.call('call_tool', { tool: 'hang-read' });
    const runId = await newestTry(alice);
    await sentCall('hang-read');
    expect((await alice.call('cancel_run', { runId })).answer).toEqual({ runId, status: 'CANCELLED' });
    expect((await calling).answer).toMatchObject({ runId, isError: true, error: { kind: 'Cancelled' } });
    expect((await alice.call('get_run', { runId })).answer).toMatchObject({
      status: 'CANCELLED',
      trigger: 'try',
    });
  });

  it("is nobody else's", async () => {
    const { answer } = await (await as('alice')).call('call_tool', { tool: 'read' });
    const foreign = await (await as('bob')).call('get_run', { runId: String(answer.runId) });
    expect(foreign.answer.code).toBe('NotFound');
  });

  it('cannot be taken over by an execution that is given its id', async () => {
    const alice = await as('alice');
    const { answer } = await alice.call('call_tool', { tool: 'read' });
    expect((await alice.call('get_workflow', { id: 'call_tool' })).answer.code).toBe('NotFound');
    expect((await alice.call('run_workflow', { id: 'call_tool' })).answer.code).toBe('NotFound');
    expect(
      (await alice.call('create_workflow', { blueprint: { id: 'call_tool', steps: [] } })).answer.code,
    ).toBe('Invalid');
    expect(answer.runId).toMatch(/^[0-9a-f]{32}$/);
  });
});

describe('its mode', () => {
  it('`off`: not listed, and refused with who can switch it on; there is no run', async () => {
    const engine = await start({ callTool: 'off' });
    const { as, clientAs, close } = callersOf(() => engine.mcp);
    try {
      const off = await (await clientAs('alice')).listTools();
      const all = await start();
      const other = callersOf(() => all.mcp);
      const on = await (await other.clientAs('alice')).listTools();
      await other.close();
      await all.end();
      // What the SDK lists, without the one.
      expect(off.tools).toEqual(on.tools.filter(({ name }) => name !== 'call_tool'));
      expect(on.tools).toHaveLength(ENDPOINT_TOOLS.length);
      const older = new ClientV1({ name: 'v1', version: '1' });
      const requestInit = { headers: { authorization: credentials('alice') } };
      await older.connect(new TransportV1(new URL(engine.mcp), { requestInit }) as Transport);
      const names = (await older.listTools()).tools.map(({ name }) => name);
      expect(names).toEqual(off.tools.map(({ name }) => name));
      await older.close();
      const alice = await as('alice');
      const { isError, answer } = await alice.call('call_tool', { tool: 'read' });
      expect({ isError, code: answer.code }).toEqual({ isError: true, code: 'Forbidden' });
      expect(answer.message).toContain('the prop "callTool" of the stack turns it on');
      expect((await alice.call('list_runs', {})).answer.runs).toEqual([]);
      expect(sent()).toEqual([]);
    } finally {
      await close();
      await engine.end();
    }
  }, 30_000);

  it('`read-only`: tools that a trusted server annotates so, and no other', async () => {
    const engine = await start({ callTool: 'read-only' });
    const { as, close } = callersOf(() => engine.mcp);
    try {
      const alice = await as('alice');
      expect((await alice.call('call_tool', { tool: 'read' })).answer).toMatchObject({ isError: false });
      for (const tool of ['work', 'counting/fail', 'everything/echo']) {
        const { answer } = await alice.call('call_tool', { tool, params: { message: 'x' } });
        expect(answer).toMatchObject({ isError: true, error: { kind: 'ToolNotAllowed' } });
        expect((answer.error as JsonObject).message).toContain('nothing was sent');
      }
      expect(sent()).toEqual(['read']);
    } finally {
      await close();
      await engine.end();
    }
  }, 30_000);
});

describe('held too long', () => {
  it('call_tool says which run to follow; the run is closed by what the call comes to', async () => {
    const engine = await start({ maxHeldMs: 700 });
    const { as, close } = callersOf(() => engine.mcp);
    try {
      const alice = await as('alice');
      await alice.call('call_tool', { tool: 'read' });
      // It takes longer than it is waited for, and less than its own time (1 s at least).
      const { isError, answer } = await alice.call('call_tool', { tool: 'work', params: { ms: 850, n: 5 } });
      expect({ isError, code: answer.code }).toEqual({ isError: true, code: 'Unavailable' });
      const runId = /get_run with runId "([0-9a-f]{32})"/.exec(String(answer.message))?.[1] ?? '';
      let run: JsonObject;
      do run = (await alice.call('get_run', { runId })).answer;
      while (run.status === 'RUNNING');
      expect(run).toMatchObject({ status: 'SUCCEEDED', tool: 'counting/work' });
      expect((await alice.call('get_run', { runId, step: '$output' })).answer.value).toEqual({ did: 5 });
      expect(sent()).toEqual(['read', 'work']);
    } finally {
      await close();
      await engine.end();
    }
  }, 30_000);

  it('any other tool says what to do', async () => {
    const engine = await start({ maxHeldMs: 700 });
    const { as, close } = callersOf(() => engine.mcp);
    try {
      const alice = await as('alice');
      const blueprint = {
        id: 'slow',
        steps: [{ id: 'a', type: 'call', tool: 'counting/read', params: { ms: 1500 } }],
      };
      while ((await alice.call('create_workflow', { blueprint })).isError) await sleep(20);
      const { isError, answer } = await alice.call('run_workflow', { id: 'slow', dryRun: true });
      expect({ isError, code: answer.code }).toEqual({ isError: true, code: 'Unavailable' });
      expect(answer.message).toBe(
        'not answered within 0.7 s, the longest that a request is held here: it may still take effect; look (list_runs, get_workflow) before it is repeated',
      );
    } finally {
      await close();
      await engine.end();
    }
  }, 30_000);

  it('run_workflow waits no longer than that, whatever is asked for', async () => {
    const engine = await start({ maxHeldMs: 3000 });
    const { as, close } = callersOf(() => engine.mcp);
    try {
      const alice = await as('alice');
      const blueprint = {
        id: 'long',
        steps: [{ id: 'a', type: 'call', tool: 'read', params: { ms: 60_000 } }],
      };
      await alice.call('create_workflow', { blueprint });
      const began = performance.now();
      const { answer } = await alice.call('run_workflow', { id: 'long', wait: 50 });
      expect(answer.status).toBe('RUNNING');
      expect(performance.now() - began).toBeLessThan(3000);
      await alice.call('cancel_run', { runId: String(answer.runId) });
    } finally {
      await close();
      await engine.end();
    }
  }, 30_000);
});
