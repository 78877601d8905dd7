/** Work that does not fit into one invocation: `more`, `wait`, time limits, cancelling. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Json } from '../../lib/blueprint/json.ts';
import type { Step } from '../../lib/blueprint/types.ts';
import { getRun } from '../../lib/store/runs.ts';
import { freshName, type Harness, startHarness } from './harness.ts';

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness({ limits: { marginMs: 50, pollEveryMs: 20 }, counting: { timeoutMs: 1500 } });
});
afterAll(async () => {
  await harness.stop();
});
beforeEach(() => {
  harness.knobs.invocationMs = 900_000;
  harness.tasks.length = 0;
  harness.clearCalls();
});

const statuses = (): unknown[] =>
  harness.tasks.map(
    ({ answer, error }) => (answer as { status?: string } | undefined)?.status ?? error?.name,
  );
const ITEMS = Array.from({ length: 36 }, (_, i) => i);
const times = (values: Json[]): Map<Json, number> => {
  const found = new Map<Json, number>();
  for (const value of values) found.set(value, (found.get(value) ?? 0) + 1);
  return found;
};

test('a loop goes on in another invocation, and no call is made twice', async () => {
  harness.knobs.invocationMs = 1950;
  const each: Step = {
    id: 'each',
    type: 'loop',
    over: ITEMS,
    concurrency: 3,
    do: { id: 'one', type: 'call', tool: 'counting/work', params: { value: '{{ item }}', ms: 60 } },
  };
  const ended = await harness.run({ id: freshName(), steps: [each], output: '{{ steps.each[].value }}' });
  expect(ended).toMatchObject({ execution: 'SUCCEEDED', output: ITEMS });
  expect(statuses().filter((status) => status === 'more').length).toBeGreaterThan(1);
  expect(times(harness.calls().map(({ args }) => args.value ?? null))).toEqual(
    new Map(ITEMS.map((i) => [i, 1])),
  );
});

test('items in the middle of their body go on there', async () => {
  harness.knobs.invocationMs = 2000;
  const call = (id: string): Step => ({
    id,
    type: 'call',
    tool: 'counting/work',
    params: { value: `${id}{{ item }}`, ms: 110 },
  });
  const each: Step = {
    id: 'each',
    type: 'loop',
    over: [0, 1, 2, 3, 4, 5],
    concurrency: 2,
    do: [
      call('a'),
      { id: 'p', type: 'pipe', steps: [call('b'), call('c')] },
      {
        id: 'both',
        type: 'parallel',
        branches: [
          call('d'),
          {
            id: 'inner',
            type: 'loop',
            over: [7, 8],
            as: 'n',
            do: {
              id: 'e',
              type: 'call',
              tool: 'counting/work',
              params: { value: 'e{{ item }}{{ n }}', ms: 110 },
            },
          },
        ],
      },
      {
        id: 'last',
        type: 'call',
        tool: 'counting/read',
        params: {
          value: '{{ steps.a.value }}{{ steps.p.value }}{{ steps.both[0].value }}{{ steps.inner[1].value }}',
        },
      },
    ],
  };
  const ended = await harness.run({ id: freshName(), steps: [each], output: '{{ steps.each[].value }}' });
  expect(ended).toMatchObject({
    execution: 'SUCCEEDED',
    output: [0, 1, 2, 3, 4, 5].map((i) => `a${i}c${i}d${i}e${i}8`),
  });
  expect(statuses().filter((status) => status === 'more').length).toBeGreaterThan(1);
  const made = times(
    harness
      .calls()
      .filter(({ tool }) => tool === 'work')
      .map(({ args }) => args.value ?? null),
  );
  expect([...made.values()].every((count) => count === 1)).toBe(true);
  expect(made.size).toBe(6 * 6);
});

test('lanes go on too', async () => {
  harness.knobs.invocationMs = 1950;
  const each: Step = {
    id: 'each',
    type: 'loop',
    over: Array.from({ length: 150 }, (_, i) => i),
    concurrency: 12,
    do: { id: 'one', type: 'call', tool: 'counting/work', params: { value: '{{ item }}', ms: 60 } },
  };
  const ended = await harness.run({ id: freshName(), steps: [each], output: '{{ length(steps.each) }}' });
  expect(ended).toMatchObject({ execution: 'SUCCEEDED', output: 150 });
  expect(statuses()).toContain('more');
  expect(times(harness.calls().map(({ args }) => args.value ?? null)).size).toBe(150);
  expect(harness.calls()).toHaveLength(150);
});

test('a delay that does not fit is waited for outside, and the attempts count on', async () => {
  harness.knobs.invocationMs = 1900;
  const retry = {
    onStepFailure: 'retry' as const,
    maxRetries: 2,
    retryDelayMs: 1800,
    backoffRate: 1,
    jitter: false,
  };
  const ended = await harness.run({
    id: freshName(),
    steps: [
      {
        id: 'a',
        type: 'call',
        tool: 'counting/flaky',
        params: { key: '{{ run.id }}', times: 2 },
        errorStrategy: retry,
      },
      {
        id: 'each',
        type: 'loop',
        over: [1, 2],
        do: {
          id: 'b',
          type: 'call',
          tool: 'counting/flaky',
          params: { key: '{{ run.id }}{{ item }}', times: 1 },
          errorStrategy: retry,
        },
      },
    ],
    output: { a: '{{ results.a.attempts }}', each: '{{ steps.each[].made }}' },
  });
  expect(ended).toMatchObject({ execution: 'SUCCEEDED', output: { a: 3, each: [2, 2] } });
  // What failed was followed by what did not.
  expect(ended.steps.get('a')?.error).toBeUndefined();
  expect(statuses().filter((status) => status === 'wait').length).toBeGreaterThanOrEqual(3);
});

test('a call that takes too long: ToolTimeout where it may be repeated, else OutcomeUnknown', async () => {
  const go = { onStepFailure: 'continue' as const };
  const ended = await harness.run({
    id: freshName(),
    steps: [
      { id: 'a', type: 'call', tool: 'counting/hang-read', timeoutSeconds: 1, errorStrategy: go },
      { id: 'b', type: 'call', tool: 'counting/hang', timeoutSeconds: 1, errorStrategy: go },
    ],
    output: ['{{ results.a.error.kind }}', '{{ results.b.error.kind }}'],
  });
  expect(ended.output).toEqual(['ToolTimeout', 'OutcomeUnknown']);
});

test("a container's time limit ends what is in it", async () => {
  const slow = (id: string): Step => ({ id, type: 'call', tool: 'counting/read', params: { ms: 700 } });
  const two = (id: string): Step[] => [slow(`${id}1`), slow(`${id}2`)];
  const inner: Step[] = [
    { id: 'c', type: 'collect', timeoutSeconds: 1, steps: two('c') },
    { id: 'q', type: 'pipe', timeoutSeconds: 1, steps: two('q') },
  ];
  const ended = await harness.run({
    id: freshName(),
    errorStrategy: { onStepFailure: 'continue' },
    steps: [
      {
        id: 'all',
        type: 'parallel',
        branches: [
          { id: 'p', type: 'pipe', timeoutSeconds: 1, steps: two('p') },
          { id: 'l', type: 'loop', timeoutSeconds: 1, over: [1, 2, 3], do: slow('l1') },
          { id: 'w', type: 'loop', over: [1], concurrency: 1, do: inner },
          { id: 'm', type: 'loop', mode: 'map', timeoutSeconds: 1, over: [1], do: two('m') },
          { id: 'o', type: 'parallel', timeoutSeconds: 1, branches: [two('o')] },
          {
            id: 'k',
            type: 'loop',
            timeoutSeconds: 1,
            concurrency: 11,
            over: Array(22).fill(0),
            do: slow('k1'),
          },
        ],
      },
    ],
    output: {
      kinds: '{{ results.[p, l, m, o, k][].error.kind }}',
      item: '{{ results.w.items[0].error.kind }}',
    },
  });
  expect(ended.output).toEqual({ kinds: Array(5).fill('LimitExceeded'), item: 'LimitExceeded' });
});

test("a container's time limit ends a sub-workflow in it, and is the container's failure", async () => {
  const child = await harness.save({
    id: freshName(),
    steps: [{ id: 'c', type: 'call', tool: 'counting/hang-read', timeoutSeconds: 60 }],
  });
  const sub: Step = { id: 'sub', type: 'call', workflow: `${child.id}@latest` };
  const ended = await harness.run({
    id: freshName(),
    errorStrategy: { onStepFailure: 'continue' },
    steps: [{ id: 'q', type: 'collect', timeoutSeconds: 1, steps: [sub] }],
    output: '{{ results.[q, sub][].error.kind }}',
  });
  expect(ended.output).toEqual(['LimitExceeded', 'LimitExceeded']);
});

test("the run's time limit closes it as timed out", async () => {
  const hang: Step = { id: 'a', type: 'call', tool: 'counting/hang-read' };
  const ended = await harness.run({ id: freshName(), timeoutSeconds: 1, steps: [hang] });
  expect(['TIMED_OUT', 'FAILED']).toContain(ended.execution);
  // The machine has the same limit, and does not wait for its task to write this down.
  let { run } = ended;
  while (run.status === 'RUNNING') {
    await new Promise((next) => setTimeout(next, 10));
    run = (await getRun(harness.store, run.run)) ?? run;
  }
  expect(run.status).toBe('TIMED_OUT');
});
