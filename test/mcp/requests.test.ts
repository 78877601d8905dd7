/** What comes in is bounded and checked, and every refusal says what is wrong, where, and what to do. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../lib/blueprint/json.ts';
import { depthOf } from '../../lib/mcp/request-body.ts';
import { PUBLISHED, type RunningEngine, startRunningEngine } from '../running-engine.ts';

let engine: RunningEngine;

beforeAll(async () => {
  engine = await startRunningEngine({ everything: PUBLISHED.everything });
});
afterAll(() => engine.end());

describe('arguments', () => {
  it.each([
    [
      'run_workflow',
      { id: 'x', waitt: 3 },
      ['"waitt": run_workflow has no such argument', 'Did you mean "wait"?'],
    ],
    ['run_workflow', { idd: 'x' }, ['id: required (string) and missing', 'Did you mean "id"?']],
    ['run_workflow', { id: 'x', wait: '5' }, ['wait: number is needed, string came']],
    ['run_workflow', { id: 'x', wait: 51 }, ['wait: at most 50 is allowed, 51 came']],
    ['run_workflow', { id: 'x', wait: -1 }, ['wait: at least 0 is needed, -1 came']],
    ['run_workflow', { id: 'x', revision: 1.5 }, ['revision: a multiple of 1 is needed, 1.5 came']],
    ['run_workflow', { id: 'x', params: '{"a":1}' }, ['params: object is needed, string came']],
    ['run_workflow', { id: 7, wait: true, nope: 1 }, ['id: string', 'wait: number', '"nope"']],
    ['list_runs', { status: 'running' }, ['status: one of "RUNNING"', 'Did you mean "RUNNING"?']],
    ['create_workflow', {}, ['blueprint: required (object) and missing']],
    ['create_workflow', { blueprint: [] }, ['blueprint: object is needed, array came']],
    ['validate_workflow', {}, ['give either "blueprint" or "id"']],
    ['get_run', { runid: 'x' }, ['Did you mean "runId"?']],
    ['list_workflows', { page: 2 }, ['"page": list_workflows has no such argument; it has "cursor"']],
    ['call_tool', { name: 'echo' }, ['tool: required (string) and missing', '"name": call_tool has no such']],
  ] as [string, JsonObject, string[]][])('%s %o', async (tool, args, parts) => {
    const { isError, answer } = await engine.agent.call(tool, args);
    expect(isError).toBe(true);
    expect(answer.code).toBe('Invalid');
    for (const part of parts) expect(answer.message).toContain(part);
  });

  it('tells of many faults the first, and how many there are', async () => {
    const many = Object.fromEntries(Array.from({ length: 20_000 }, (_, n) => [`k${n}`, 1]));
    const { answer } = await engine.agent.call('run_workflow', {
      id: 'x',
      ...many,
      ['z'.repeat(100_000)]: 1,
    });
    expect(answer.message).toMatch(/"k0": run_workflow has no such argument.*; and 19991 more$/);
    expect(JSON.stringify(answer).length).toBeLessThan(3000);
  });

  it('shows neither a long nor a nested value that came', async () => {
    const secret = 'hunter2'.repeat(20);
    const { answer } = await engine.agent.call('list_runs', { status: secret });
    expect(JSON.stringify(answer)).not.toContain('hunter2');
  });
});

const nested = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);
const post = (body: string): Promise<Response> =>
  fetch(engine.mcp, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body,
  });
const toolCall = (args: string): string =>
  `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"validate_workflow","arguments":${args}}}`;

describe('bodies', () => {
  it('nest as deep as a blueprint may, and no deeper', async () => {
    const fits = await post(toolCall(`{"blueprint":{"id":"deep","steps":${nested(63)}}}`));
    expect(fits.status).toBe(200);
    expect(await fits.text()).toContain('errors');
    const refused = await post(toolCall(`{"blueprint":{"id":"deep","steps":${nested(64)}}}`));
    expect(refused.status).toBe(400);
    expect(await refused.json()).toMatchObject({
      error: { message: expect.stringContaining('nested 68 levels deep; arguments may nest 64 levels') },
    });
    const bottomless = await post(toolCall(nested(1_500_000)));
    expect(bottomless.status).toBe(400);
  });

  it('of 4 MiB are taken, larger ones are not, whether they say so or not', async () => {
    const pad = (bytes: number): string => toolCall(`{"blueprint":{"id":"${'x'.repeat(bytes)}"}}`);
    expect((await post(pad(4 * 1024 * 1024 - 200))).status).toBe(200);
    const refused = await post(pad(4 * 1024 * 1024));
    expect(refused.status).toBe(413);
    expect(await refused.json()).toMatchObject({
      error: { message: expect.stringContaining('4194304 bytes') },
    });
    const chunk = Buffer.alloc(1024 * 1024, 0x20);
    const stream = new ReadableStream({
      pull(controller) {
        controller.enqueue(chunk);
      },
    });
    const streamed = fetch(engine.mcp, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: stream,
      duplex: 'half',
    } as RequestInit);
    expect((await streamed).status).toBe(413);
  });

  it.each(['', '{', 'null', '[]', '7', '"x"', '{"jsonrpc":"2.0"}'])(
    '%o is answered with an error',
    async (body) => {
      const answer = await post(body);
      expect(answer.status).toBe(400);
      expect(await answer.json()).toHaveProperty('error');
    },
  );

  it.each([
    ['{}', 1],
    ['1', 0],
    ['"[[["', 0],
    ['{"a":["\\"[[",{}]}', 3],
    ['["\\\\",[]]', 2],
  ])('%s is %i deep', (text, depth) => {
    expect(depthOf(text)).toBe(depth);
  });
});
