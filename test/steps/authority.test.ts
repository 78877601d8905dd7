/**
 * Each call is looked at with the allow-list that the run's record has, whoever started it and however the tool was bound: a
 * console start of an owner whose list is narrower than the workflow, or a tool that was bound when the step ran.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { JsonObject } from '../../lib/blueprint/json.ts';
import type { Blueprint, Step } from '../../lib/blueprint/types.ts';
import { childRunId } from '../../lib/store/run-id.ts';
import { getRun } from '../../lib/store/runs.ts';
import { freshName, type Harness, startHarness } from './harness.ts';

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
});
afterAll(() => harness.stop());
beforeEach(() => harness.clearCalls());

const principal = (tools?: string[]) => ({
  kind: 'token' as const,
  id: 'token:reader',
  scopes: [],
  ...(tools === undefined ? {} : { tools }),
});

const work = (tool: string, more: JsonObject = {}): Step => ({
  id: 'w',
  type: 'call',
  tool,
  params: { n: 1 },
  ...more,
});
const loop = (more: JsonObject): Step =>
  ({ id: 'each', type: 'loop', over: [1, 2, 3], do: work('work'), ...more }) as unknown as Step;

/** What is called, and how its tool is found. */
const STEPS: [string, Step, 'bound' | 'unbound'][] = [
  ['a call, bound at saving', work('work'), 'bound'],
  ['a call, bound as it runs', work('work'), 'unbound'],
  ['a call by its server', work('counting/work'), 'unbound'],
  ['a call that would be retried', work('work', { errorStrategy: { maxRetries: 3 } }), 'bound'],
  ['a batch loop', loop({}), 'bound'],
  ['a batch loop at once', loop({ concurrency: 3 }), 'unbound'],
  ['lanes', loop({ concurrency: 20 }), 'bound'],
  ['a map loop', loop({ mode: 'map' }), 'bound'],
  ['a loop in a loop', loop({ do: loop({ id: 'inner', as: 'x' }) as unknown as JsonObject }), 'unbound'],
  ['a while loop', { id: 'each', type: 'loop', while: '{{ output }}', max: 2, do: work('work') }, 'bound'],
  [
    'a branch',
    { id: 'p', type: 'parallel', branches: [work('work'), { ...work('read'), id: 'r' }] },
    'bound',
  ],
];

describe('a run whose authority allows `read` alone', () => {
  test.each(STEPS)('%s: ToolNotAllowed, and nothing was sent', async (_name, step, binding) => {
    const blueprint: Blueprint = { id: freshName(), steps: [step] };
    const bound = { server: 'counting', tool: 'work' };
    const saved = await harness.save(blueprint, binding === 'bound' ? { tools: { w: bound } } : {});
    const run = await harness.start(saved, {}, { principal: principal(['counting/read']) });
    const { run: record, errors } = await harness.finish(run);
    expect(record.status).toBe('FAILED');
    const refused = (errors as JsonObject[]).filter(({ kind }) => kind === 'ToolNotAllowed');
    expect(refused[0]).toMatchObject({
      server: 'counting',
      tool: 'work',
      message:
        '"counting/work" is not among the tools that this run was given the authority for; nothing was sent',
    });
    expect(harness.calls().filter(({ tool }) => tool === 'work')).toEqual([]);
  });

  test('is refused before the server is so much as started, where its name is known', async () => {
    const other = await startHarness({ servers: { broken: { command: 'no-such-program' } } });
    try {
      const saved = await other.save(
        { id: freshName(), steps: [work('broken/x')] },
        { tools: { w: { server: 'broken', tool: 'x' } } },
      );
      const run = await other.start(saved, {}, { principal: principal(['counting/*']) });
      expect((await other.finish(run)).errors).toMatchObject([{ kind: 'ToolNotAllowed', server: 'broken' }]);
    } finally {
      await other.stop();
    }
  });

  test("without a list, or with the server's star, it calls", async () => {
    for (const tools of [undefined, ['counting/*'], ['everything/echo', 'counting/work']]) {
      const saved = await harness.save({ id: freshName(), steps: [work('work')] });
      const run = await harness.start(saved, {}, { principal: principal(tools) });
      expect((await harness.finish(run)).run.status).toBe('SUCCEEDED');
    }
  });
});

describe('a sub-workflow', () => {
  test("that is pinned works with the authority of who saved the parent; the run stays its starter's", async () => {
    const child = await harness.save({ id: freshName(), steps: [work('work')] });
    const step = { id: 'sub', type: 'call' as const, workflow: child.id };
    const parent = await harness.save(
      { id: freshName(), steps: [step] },
      { workflows: { sub: { workflow: child.id, revision: 1, hash: child.hash } } },
    );
    const run = await harness.start(parent, {}, { principal: principal(['counting/read']) });
    const { run: record } = await harness.finish(run);
    expect(record.status).toBe('SUCCEEDED');
    const sub = await getRun(harness.store, childRunId(run, 'sub', 0));
    expect(sub).toMatchObject({
      principal: { kind: 'token', id: 'token:reader', scopes: [] },
      authority: 'local',
    });
    expect(sub?.principal).not.toHaveProperty('tools');
  });

  test('that floats, also within one that is pinned, works with the authority of the run that calls it', async () => {
    const leaf = await harness.save({ id: freshName(), steps: [work('work')] });
    const middle = await harness.save({
      id: freshName(),
      steps: [{ id: 'leaf', type: 'call', workflow: `${leaf.id}@latest` }],
    });
    const floats = await harness.save({
      id: freshName(),
      steps: [{ id: 'mid', type: 'call', workflow: `${middle.id}@latest` }],
    });
    const pins = await harness.save(
      { id: freshName(), steps: [{ id: 'mid', type: 'call', workflow: middle.id }] },
      { workflows: { mid: { workflow: middle.id, revision: 1, hash: middle.hash } } },
    );
    const changes = { principal: principal(['counting/read']) };
    const floating = await harness.start(floats, {}, changes);
    expect((await harness.finish(floating)).run.status).toBe('FAILED');
    expect(harness.calls()).toEqual([]);
    const pinning = await harness.start(pins, {}, changes);
    expect((await harness.finish(pinning)).run.status).toBe('SUCCEEDED');
    const middleRun = childRunId(pinning, 'mid', 0);
    const leafRun = await getRun(harness.store, childRunId(middleRun, 'leaf', 0));
    expect(leafRun).toMatchObject({ authority: 'local', principal: { id: 'token:reader' } });
  });

  test('whose pinner is not recorded has no authority', async () => {
    const child = await harness.save({ id: freshName(), steps: [work('work')] });
    const parent = await harness.save(
      { id: freshName(), steps: [{ id: 'sub', type: 'call', workflow: child.id }] },
      { workflows: { sub: { workflow: child.id, revision: 1, hash: child.hash } } },
    );
    const run = await harness.start(parent, {}, { principal: principal(['counting/work']), revision: 7 });
    expect((await harness.finish(run)).errors).toMatchObject([{ kind: 'SubWorkflowFailed' }]);
    expect(harness.calls()).toEqual([]);
  });
});
