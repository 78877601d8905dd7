/** Failed runs redriven through the machine: what succeeded replays, what failed runs anew, sub-runs go on where they failed. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Blueprint, Step } from '../../lib/blueprint/types.ts';
import { childRunId } from '../../lib/store/run-id.ts';
import { getRun } from '../../lib/store/runs.ts';
import { tombstone } from '../../lib/store/workflows.ts';
import { freshName, type Harness, startHarness } from './harness.ts';

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
});
afterAll(async () => {
  await harness.stop();
});
beforeEach(() => {
  harness.clearCalls();
});

const ok = (id: string, value: string): Step => ({
  id,
  type: 'call',
  tool: 'counting/work',
  params: { value },
});
/** Fails once for each key. */
const once = (id: string, key = '{{ run.id }}'): Step => ({
  id,
  type: 'call',
  tool: 'counting/flaky',
  params: { key: `${id}${key}`, times: 1 },
});
const onceAt = (id: string, index: number): Step => ({
  id,
  type: 'call',
  tool: 'counting/flaky',
  params: { key: `${id}{{ run.id }}{{ index }}`, times: `{{ index == \`${index}\` && \`1\` || \`0\` }}` },
});
const items = Array.from({ length: 30 }, (_, i) => i);

const shapes: { name: string; steps: Step[]; calls: number }[] = [
  { name: 'a call', steps: [ok('a', 'x'), once('b')], calls: 3 },
  {
    name: 'a batch loop',
    steps: [ok('a', 'x'), { id: 'l', type: 'loop', over: items, do: onceAt('b', 12) }],
    calls: 32,
  },
  {
    name: 'lanes',
    steps: [{ id: 'l', type: 'loop', over: items, concurrency: 12, do: onceAt('b', 12) }],
    calls: 31,
  },
  {
    name: 'a map loop',
    steps: [
      {
        id: 'l',
        type: 'loop',
        mode: 'map',
        over: items.slice(0, 6),
        do: [ok('a', '{{ item }}'), onceAt('b', 3)],
      },
    ],
    calls: 13,
  },
  {
    name: 'a parallel',
    steps: [{ id: 'p', type: 'parallel', branches: [[ok('a', 'x'), once('b')], ok('c', 'y')] }],
    calls: 4,
  },
  {
    name: 'a pipe in a parallel',
    steps: [
      {
        id: 'p',
        type: 'parallel',
        branches: [{ id: 'q', type: 'pipe', steps: [ok('a', 'x'), once('b')] }, ok('c', 'y')],
      },
    ],
    calls: 4,
  },
  {
    name: 'a pipe',
    steps: [{ id: 'q', type: 'pipe', steps: [ok('a', 'x'), once('b'), ok('c', 'y')] }],
    calls: 4,
  },
  {
    name: 'a pipe with a time limit, in a collect',
    steps: [
      {
        id: 'o',
        type: 'collect',
        steps: [
          { id: 'q', type: 'pipe', timeoutSeconds: 60, steps: [ok('a', 'x'), once('b'), ok('c', 'y')] },
        ],
      },
    ],
    calls: 4,
  },
  {
    name: 'a collect',
    steps: [{ id: 'q', type: 'collect', steps: [ok('a', 'x'), once('b'), ok('c', 'y')] }],
    calls: 4,
  },
  {
    name: 'a while of states',
    steps: [
      {
        id: 'w',
        type: 'loop',
        mode: 'map',
        while: '{{ index < `2` }}',
        max: 5,
        do: [ok('a', '{{ index }}'), onceAt('b', 1)],
      },
    ],
    calls: 7,
  },
  {
    name: 'a while in a task',
    steps: [
      {
        id: 'w',
        type: 'loop',
        while: '{{ index < `2` }}',
        max: 5,
        do: [ok('a', '{{ index }}'), onceAt('b', 1)],
      },
    ],
    calls: 7,
  },
];

test.each(shapes)('$name', async ({ steps, calls }) => {
  const saved = await harness.save({ id: freshName(), steps });
  const run = await harness.start(saved);
  const failed = await harness.finish(run);
  expect(failed).toMatchObject({ execution: 'FAILED', error: 'ToolError', run: { status: 'FAILED' } });
  // Every container that the failure went through has failed with it.
  const around = steps.at(-1)?.id ?? '';
  expect(failed.steps.get(around)).toMatchObject({
    status: 'failed',
    error: { step: 'b', kind: 'ToolError' },
  });
  expect([...failed.steps.values()].filter(({ status }) => status === 'running')).toEqual([]);
  expect(failed.errors).toHaveLength(1);
  await harness.redrive(run);
  const ended = await harness.finish(run);
  expect({ status: ended.execution, error: ended.error, cause: ended.cause }).toMatchObject({
    status: 'SUCCEEDED',
  });
  expect([...ended.steps.values()].filter(({ status }) => status !== 'succeeded')).toEqual([]);
  expect(ended.run).toMatchObject({ status: 'SUCCEEDED', epoch: 1, errorCount: 0 });
  // A map and lanes may have sent fewer before they stopped; nothing is made twice but what failed.
  expect(harness.calls()).toHaveLength(calls);
});

test('a sub-workflow: parameters in, output out, its run under the parent', async () => {
  const child = await harness.save({
    id: freshName(),
    params: { x: { type: 'integer' } },
    steps: [ok('c', '{{ params.x }}')],
    output: { got: '{{ steps.c.value }}' },
  });
  const parent: Blueprint = {
    id: freshName(),
    steps: [
      { id: 'sub', type: 'call', workflow: child.id, params: { x: 5 }, select: '{{ output.got }}' },
      {
        id: 'all',
        type: 'loop',
        over: [1, 2],
        do: { id: 'each', type: 'call', workflow: `${child.id}@latest`, params: { x: '{{ item }}' } },
      },
    ],
    output: ['{{ steps.sub }}', '{{ steps.all[].got }}'],
  };
  const saved = await harness.save(parent, {
    workflows: { sub: { workflow: child.id, revision: 1, hash: child.hash } },
  });
  const ended = await harness.finish(await harness.start(saved));
  expect({
    status: ended.execution,
    error: ended.error,
    cause: ended.cause,
    output: ended.output,
  }).toMatchObject({ status: 'SUCCEEDED', output: [5, [1, 2]] });
  expect(ended.run).toMatchObject({ subRuns: 3, attempts: 3 });
});

test('a failed sub-workflow fails its step, and is redriven with its parent, not started again', async () => {
  const child = await harness.save({ id: freshName(), steps: [ok('a', 'x'), once('b')] });
  const saved = await harness.save(
    { id: freshName(), steps: [{ id: 'sub', type: 'call', workflow: child.id }] },
    { workflows: { sub: { workflow: child.id, revision: 1, hash: child.hash } } },
  );
  const run = await harness.start(saved);
  const failed = await harness.finish(run);
  expect(failed).toMatchObject({ execution: 'FAILED', error: 'SubWorkflowFailed' });
  expect(failed.errors).toMatchObject([
    { kind: 'SubWorkflowFailed', message: expect.stringMatching(/as FAILED: ToolError at step "b"$/) },
  ]);
  await harness.redrive(run);
  const ended = await harness.finish(run);
  expect({ status: ended.execution, error: ended.error, cause: ended.cause }).toMatchObject({
    status: 'SUCCEEDED',
  });
  expect(ended.run.subRuns).toBe(1);
  // Its own time is as long as the parent's and began later: it ends with the parent's.
  const sub = await getRun(harness.store, childRunId(run, 'sub', 0));
  expect(sub).toMatchObject({ epoch: 1, deadline: ended.run.deadline });
  expect(harness.calls().map(({ tool }) => tool)).toEqual(['work', 'flaky', 'flaky']);
}, 40_000);

test('a sub-workflow whose parameters it refuses', async () => {
  const child = await harness.save({
    id: freshName(),
    params: { x: { type: 'integer' } },
    steps: [ok('c', 'y')],
  });
  const ended = await harness.run({
    id: freshName(),
    steps: [{ id: 'sub', type: 'call', workflow: `${child.id}@latest`, params: {} }],
  });
  expect(ended).toMatchObject({ execution: 'FAILED', error: 'SubWorkflowFailed' });
  expect(ended.errors).toMatchObject([{ message: expect.stringMatching(/params\/x: required/) }]);
});

test('a workflow that calls itself for ever stops at the depth limit', async () => {
  const id = freshName();
  const ended = await harness.run({ id, steps: [{ id: 'sub', type: 'call', workflow: `${id}@latest` }] });
  expect(ended.execution).toBe('FAILED');
  expect(ended.run.subRuns).toBe(10);
}, 60_000);

test('a deleted workflow is refused', async () => {
  const saved = await harness.save({ id: freshName(), steps: [ok('a', 'x')] });
  await tombstone(harness.store, saved.id, 1, new Date().toISOString());
  const ended = await harness.finish(await harness.start(saved));
  expect(ended).toMatchObject({ execution: 'FAILED', error: 'Cancelled', run: { status: 'FAILED' } });
  expect(ended.cause).toMatch(/has been deleted/);
  expect(harness.calls()).toHaveLength(0);
});
