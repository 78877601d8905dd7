/** Tools and servers as a run meets them: bare names, bound at saving or at run time, refused, unavailable; real published ones. */
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../lib/blueprint/json.ts';
import { PUBLISHED, type RunningEngine, startRunningEngine } from '../running-engine.ts';
import { CONTINUE, expectRun, type Lab, labServer, type RunCase, startLab } from './lab.ts';

describe('names of tools', () => {
  let lab: Lab;
  beforeAll(async () => {
    lab = await startLab({
      lab: { tools: ['echo', 'value', 'record', 'hold'] },
      twin: { tools: ['echo', 'text'] },
      servers: { gone: { command: process.execPath, args: ['-e', 'process.exit(7)'] } },
    });
  });
  afterAll(() => lab.end());

  const bare = (id: string, tool: string, params: JsonObject, more: JsonObject = {}): JsonObject => ({
    id,
    type: 'call',
    tool,
    params,
    ...more,
  });
  const cases: RunCase[] = [
    {
      name: 'a bare name is the one server that offers it; with a server it is that one',
      blueprint: {
        steps: [
          bare('a', 'value', { value: 1 }),
          bare('b', 'text', { text: 't' }),
          bare('c', 'twin/echo', {}),
          bare('d', 'lab/echo', {}),
        ],
        output: [
          '{{ results.a.server }}',
          '{{ results.b.server }}',
          '{{ results.c.server }}',
          '{{ results.d.server }}',
        ],
      },
      output: ['lab', 'twin', 'twin', 'lab'],
    },
    {
      name: 'a tool that is not allowed, a server that cannot be reached, one that nobody knows',
      blueprint: {
        errorStrategy: { onStepFailure: 'continue', maxRetries: 1, retryDelayMs: 0 },
        steps: [bare('a', 'lab/crash', {}), bare('b', 'gone/anything', {}), bare('c', 'nobody/tool', {})],
        output: '{{ [results.a.attempts, results.b.attempts] }}',
      },
      output: expect.anything() as unknown as null,
      errors: [
        { step: 'a', kind: 'ToolNotAllowed' },
        { step: 'b', kind: 'ServerUnavailable', attempts: 2, server: 'gone' },
        { step: 'c', kind: 'UnknownTool' },
      ],
    },
  ];
  it.concurrent.each(cases)('$name', async (given) => {
    await expectRun(lab, given);
  });

  it.concurrent('a bare name that two servers offer: a warning at saving, an error when it runs', async () => {
    const blueprint = { id: 'two-offer', steps: [bare('a', 'echo', {})] };
    const { warnings } = await lab.call('create_workflow', { blueprint });
    expect(warnings).toContainEqual(expect.objectContaining({ code: 'BP603' }));
    expect(await lab.run(blueprint)).toMatchObject({
      status: 'FAILED',
      errors: [{ step: 'a', kind: 'UnknownTool' }],
    });
  });
});

describe('a tool that no server offered at saving', () => {
  let folder: string;
  let dataDir: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'mwe-bind-'));
    dataDir = join(folder, 'data');
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  const server = (name: string) => labServer(join(folder, `${name}.jsonl`), { tools: ['echo'] });
  const run = (engine: RunningEngine) => engine.agent.call('run_workflow', { id: 'unbound', wait: 50 });
  const stop = async (engine: RunningEngine) => {
    await engine.agent.close();
    await engine.stop();
  };

  it('is bound when it runs: to the one that offers it by then, and to none of two', async () => {
    await mkdir(dataDir, { mode: 0o700 });
    const first = await startRunningEngine({}, { dataDir });
    const steps = [{ id: 'a', type: 'call', tool: 'echo', params: { x: 1 } }];
    const saved = await first.agent.call('create_workflow', {
      blueprint: { id: 'unbound', steps, output: '{{ results.a.server }}' },
    });
    expect(saved).toMatchObject({
      isError: false,
      answer: { warnings: expect.arrayContaining([expect.objectContaining({ code: 'BP601' })]) },
    });
    expect((await run(first)).answer).toMatchObject({ status: 'FAILED', errors: [{ kind: 'UnknownTool' }] });
    await stop(first);

    const second = await startRunningEngine({ one: server('one') }, { dataDir });
    expect((await run(second)).answer).toMatchObject({ status: 'SUCCEEDED', output: 'one' });
    await stop(second);

    const third = await startRunningEngine({ one: server('one'), two: server('two') }, { dataDir });
    expect((await run(third)).answer).toMatchObject({
      status: 'FAILED',
      errors: [{ kind: 'UnknownTool', message: expect.stringMatching(/one.*two/) }],
    });
    await stop(third);
    expect(
      await readFile(join(folder, 'one.jsonl'), 'utf8').then((text) => text.trim().split('\n').length),
    ).toBe(1);
  });
});

describe('the published servers', () => {
  let engine: RunningEngine;
  beforeAll(async () => {
    engine = await startRunningEngine(PUBLISHED);
  });
  afterAll(() => engine.end());

  it('work together: files listed and read, entities made of them, a graph read back', async () => {
    const blueprint: JsonObject = {
      id: 'published',
      ...CONTINUE,
      steps: [
        {
          id: 'files',
          type: 'call',
          tool: 'filesystem/search_files',
          params: { path: 'lib/asl', pattern: '**/*.ts' },
          parse: 'lines',
        },
        {
          id: 'texts',
          type: 'loop',
          over: '{{ sort(steps.files) }}',
          as: 'file',
          do: {
            id: 'read',
            type: 'call',
            tool: 'read_text_file',
            params: { path: '{{ file }}', head: 3 },
            parse: 'lines',
            select: { name: '{{ file }}', entityType: 'file', observations: '{{ output }}' },
          },
        },
        {
          id: 'entities',
          type: 'call',
          tool: 'create_entities',
          params: { entities: '{{ steps.texts }}' },
          parse: 'json',
        },
        { id: 'graph', type: 'call', tool: 'read_graph', parse: 'json' },
        {
          id: 'sum',
          type: 'call',
          tool: 'everything/get-sum',
          params: { a: '{{ length(steps.files) }}', b: 1 },
          parse: 'text',
        },
        {
          id: 'missing',
          type: 'call',
          tool: 'read_text_file',
          params: { path: 'no/such/file' },
          parse: 'text',
        },
      ],
      output: {
        names: '{{ steps.graph.entities[].name }}',
        first: '{{ steps.graph.entities[0].observations[0] }}',
        sum: '{{ steps.sum }}',
        missing: '{{ results.missing.error.kind }}',
      },
    };
    expect((await engine.agent.call('create_workflow', { blueprint })).isError).toBe(false);
    const { answer } = await engine.agent.call('run_workflow', { id: 'published', wait: 50 });
    expect(answer).toMatchObject({
      status: 'SUCCEEDED',
      output: { sum: 'The sum of 2 and 1 is 3.', missing: 'ToolError' },
    });
    const { names, first } = answer.output as { names: string[]; first: string };
    expect(names.map((name) => name.replace(/^.*\/lib\//, ''))).toEqual(['asl/limits.ts', 'asl/types.ts']);
    expect(first).toMatch(/^\/\*\*/);
  });
});
