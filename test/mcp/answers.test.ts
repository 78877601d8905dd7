/** Every answer is what its tool declares, and short whatever it is about. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../lib/blueprint/json.ts';
import { PUBLISHED, type RunningEngine, startRunningEngine } from '../running-engine.ts';

let engine: RunningEngine;
let client: Client;

beforeAll(async () => {
  engine = await startRunningEngine({
    everything: PUBLISHED.everything,
    filesystem: PUBLISHED.filesystem,
    broken: { command: 'node', args: ['-e', 'process.exit(1)'] },
  });
  client = new Client({ name: 'v1', version: '1' });
  await client.connect(new StreamableHTTPClientTransport(new URL(engine.mcp)) as Transport);
  // From here on this client checks every answer against the tool's output schema, and throws where it does not fit.
  await client.listTools();
});
afterAll(async () => {
  await client.close();
  await engine.end();
});

interface Answer {
  isError?: boolean;
  structuredContent?: JsonObject;
  content: { type: string; text?: string; uri?: string }[];
}
async function call(name: string, args: JsonObject): Promise<Answer> {
  return (await client.callTool({ name, arguments: args })) as unknown as Answer;
}
async function answer(name: string, args: JsonObject): Promise<JsonObject> {
  const result = await call(name, args);
  expect(result.isError, JSON.stringify(result.content)).not.toBe(true);
  return result.structuredContent as JsonObject;
}
async function read(uri: string): Promise<Json> {
  const { contents } = await client.readResource({ uri });
  const [content] = contents;
  return JSON.parse(content !== undefined && 'text' in content ? content.text : 'null') as Json;
}
const sizeOf = (value: unknown): number => JSON.stringify(value).length;
const linksOf = (result: Answer): string[] =>
  result.content.flatMap((block) => (block.type === 'resource_link' ? [String(block.uri)] : []));
const text = (id: string, path: string, more: JsonObject = {}): JsonObject => ({
  id,
  type: 'call',
  tool: 'filesystem/read_text_file',
  params: { path },
  parse: 'text',
  ...more,
});

describe('every answer fits its output schema', () => {
  it('whatever came of the request', async () => {
    await answer('create_workflow', { blueprint: { id: 'fits', steps: [text('pkg', 'package.json')] } });
    await answer('create_workflow', { blueprint: { id: 'fails', steps: [text('none', 'no/such')] } });
    const { runId } = await answer('run_workflow', { id: 'fits' });
    const failed = await answer('run_workflow', { id: 'fails' });
    const requests: [string, JsonObject][] = [
      ['create_workflow', { blueprint: { id: 'fits', steps: [text('pkg', 'package.json')] } }],
      ['run_workflow', { id: 'fits', dryRun: true }],
      ['run_workflow', { id: 'fits', wait: 0 }],
      ['list_workflows', {}],
      ['get_workflow', { id: 'fits', machine: true }],
      ['validate_workflow', { id: 'fits' }],
      ['validate_workflow', { blueprint: { id: 7, steps: 'none' } }],
      ['get_run', { runId: runId as string }],
      ['get_run', { runId: failed.runId as string }],
      ['get_run', { runId: runId as string, step: 'pkg' }],
      ['get_run', { runId: runId as string, step: '$output' }],
      ['get_run', { runId: failed.runId as string, step: '$errors' }],
      ['list_runs', {}],
      ['list_runs', { workflow: 'nothing-of-that-name', status: 'FAILED' }],
      ['cancel_run', { runId: runId as string }],
      ['list_tools', {}],
      ['list_tools', { query: 'echo' }],
      ['list_tools', { server: 'nobody' }],
      ['call_tool', { tool: 'echo', params: { message: 'x' } }],
      ['call_tool', { tool: 'echo' }],
      ['call_tool', { tool: 'no_such_tool' }],
      ['call_tool', { tool: 'broken/anything' }],
      ['delete_workflow', { id: 'fails' }],
    ];
    for (const [tool, args] of requests) await answer(tool, args);
    const refused: [string, JsonObject][] = [
      ['create_workflow', { blueprint: {} }],
      ['run_workflow', { id: 'fails' }],
      ['get_workflow', { id: 'fails' }],
      ['get_run', { runId: 'x', cursor: 'y' }],
      ['get_run', { runId: runId as string, step: 'nope' }],
      ['cancel_run', { runId: 'x' }],
      ['list_tools', { cursor: 'x' }],
    ];
    for (const [tool, args] of refused) {
      const { isError, content } = await call(tool, args);
      expect(isError).toBe(true);
      expect(JSON.parse(String(content[0]?.text))).toMatchObject({
        code: expect.any(String),
        message: expect.any(String),
      });
    }
  });
});

describe('a large answer is a summary with a link to the whole', () => {
  const big: JsonObject = {
    id: 'big',
    steps: Array.from({ length: 900 }, (_, n) => text(`step-${n}`, 'x'.repeat(900))),
  };

  it('of a workflow', async () => {
    await answer('create_workflow', { blueprint: big });
    const result = await call('get_workflow', { id: 'big', machine: true });
    expect(sizeOf(result)).toBeLessThan(16 * 1024);
    expect(result.structuredContent).toMatchObject({
      summary: { bytes: expect.any(Number), sample: { blueprint: { id: 'big' } } },
      machineSummary: { bytes: expect.any(Number) },
    });
    const links = linksOf(result);
    expect(links).toEqual(['workflow://big/revisions/1', 'workflow://big/revisions/1/machine']);
    expect(await read(String(links[0]))).toMatchObject({ blueprint: big });
    expect(await read(String(links[1]))).toMatchObject({ QueryLanguage: 'JSONata' });
  });

  it("of a step's value, whatever its type", async () => {
    await answer('create_workflow', {
      blueprint: {
        id: 'values',
        steps: [
          text('lock', 'package-lock.json'),
          text('parsed', 'package-lock.json', { parse: 'json' }),
          {
            id: 'loop',
            type: 'loop',
            over: '{{ [`1`, `2`, `3`] }}',
            do: text('each', 'package-lock.json'),
          },
        ],
        output: '{{ steps.parsed }}',
      },
    });
    const ran = await call('run_workflow', { id: 'values' });
    const runId = String(ran.structuredContent?.runId);
    expect(sizeOf(ran)).toBeLessThan(8 * 1024);
    expect(linksOf(ran)).toEqual([`run://${runId}/output`]);
    for (const step of ['lock', 'parsed', '$output']) {
      const result = await call('get_run', { runId, step });
      expect(sizeOf(result)).toBeLessThan(8 * 1024);
      const [link] = linksOf(result);
      expect(link).toBe(`run://${runId}/value/${step}`);
      expect(sizeOf(await read(String(link)))).toBeGreaterThan(100_000);
    }
    const loop = await call('get_run', { runId, step: 'loop' });
    expect(sizeOf(loop)).toBeLessThan(32 * 1024);
    expect(loop.structuredContent).toMatchObject({
      total: 3,
      items: [{ index: 0, summary: { bytes: expect.any(Number) } }, { index: 1 }, { index: 2 }],
    });
  });

  it('of diagnostics: the first of them and their number', async () => {
    const steps = Array.from({ length: 400 }, (_, n) =>
      text(`step-${n}`, `{{ steps.nothing-${n}.that.exists }}`, { wrong: true }),
    );
    const { structuredContent, ...rest } = await call('validate_workflow', {
      blueprint: { id: 'wrong', steps },
    });
    expect(sizeOf(structuredContent)).toBeLessThan(48 * 1024);
    expect(structuredContent).toMatchObject({ valid: false, errorCount: expect.any(Number) });
    expect(structuredContent?.errors).toHaveLength(50);
    expect(rest.isError).not.toBe(true);
    const refused = await call('create_workflow', { blueprint: { id: 'wrong', steps } });
    expect(sizeOf(refused)).toBeLessThan(64 * 1024);
    expect(JSON.parse(String(refused.content[0]?.text))).toMatchObject({ code: 'Invalid', errorCount: 800 });
  });

  it("of a run's errors and steps: pages", async () => {
    const steps = Array.from({ length: 60 }, (_, n) => text(`step-${n}`, `no/such/${'x'.repeat(400)}/${n}`));
    await answer('create_workflow', {
      blueprint: { id: 'errors', errorStrategy: { onStepFailure: 'continue' }, steps, output: 'done' },
    });
    const ran = await answer('run_workflow', { id: 'errors' });
    expect(ran).toMatchObject({ status: 'SUCCEEDED', errorCount: 60 });
    expect(ran.errors).toHaveLength(10);
    const runId = String(ran.runId);
    const first = await call('get_run', { runId });
    expect(sizeOf(first)).toBeLessThan(128 * 1024);
    const seen: Json[] = [];
    let cursor: Json | undefined;
    do {
      const page = await answer('get_run', {
        runId,
        step: '$errors',
        ...(cursor === undefined ? {} : { cursor }),
      });
      seen.push(...(page.value as Json[]));
      expect(page.total).toBe(60);
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    expect(seen).toHaveLength(60);
  });

  it('of a trial call', async () => {
    const lock = await call('call_tool', { tool: 'read_text_file', params: { path: 'package-lock.json' } });
    expect(sizeOf(lock)).toBeLessThan(16 * 1024);
    expect(lock.structuredContent).toMatchObject({ from: 'structured', bytes: expect.any(Number) });
    const image = await call('call_tool', { tool: 'get-tiny-image' });
    expect(image.structuredContent).toMatchObject({ from: 'blocks', isError: false });
    expect(JSON.stringify(image)).not.toContain('iVBORw0KGgo');
    const small = await answer('call_tool', { tool: 'echo', params: { message: 'hi' } });
    expect(small).toEqual({
      runId: expect.stringMatching(/^[0-9a-f]{32}$/),
      server: 'everything',
      tool: 'echo',
      isError: false,
      from: 'text',
      value: 'Echo: hi',
      ms: expect.any(Number),
    });
  });
});
