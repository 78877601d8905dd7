/** Whole blueprints, from `begin` to `finish`: the compiled machine, the local Step Functions, real servers. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Json, JsonObject } from '../../lib/blueprint/json.ts';
import type { Blueprint, Step } from '../../lib/blueprint/types.ts';
import { freshName, type Harness, startHarness } from './harness.ts';

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
});
afterAll(async () => {
  await harness.stop();
});

const blueprint = (steps: Step[], more: Partial<Blueprint> = {}): Blueprint => ({
  id: freshName(),
  steps,
  ...more,
});
const work = (id: string, params: JsonObject, more: JsonObject = {}): Step =>
  ({ id, type: 'call', tool: 'counting/work', params, ...more }) as Step;
const fail = (id: string, more: JsonObject = {}): Step =>
  ({ id, type: 'call', tool: 'counting/fail', params: {}, ...more }) as Step;
const GO_ON = { errorStrategy: { onStepFailure: 'continue' as const } };

interface Case {
  name: string;
  steps: Step[];
  more?: Partial<Blueprint>;
  params?: JsonObject;
  output: Json;
  errors?: number;
  /** Statuses by path. */
  steps_?: Record<string, string>;
}

const cases: Case[] = [
  {
    name: 'a call and its value',
    steps: [work('a', { n: 1 })],
    output: { did: 1 },
  },
  {
    name: 'parameters, defaults and types',
    steps: [work('a', { value: '{{ params }}' })],
    more: {
      params: {
        x: { type: 'integer' },
        y: { type: 'string', default: 'why' },
        z: { type: 'array', default: null },
      },
    },
    params: { x: 4 },
    output: { value: { x: 4, y: 'why', z: null } },
  },
  {
    name: 'a loop in a batch',
    steps: [
      work('list', { value: [1, 2, 3] }),
      {
        id: 'each',
        type: 'loop',
        over: '{{ steps.list.value }}',
        concurrency: 2,
        do: work('one', { n: '{{ item }}', value: '{{ index }}' }),
      },
    ],
    output: [{ value: 0 }, { value: 1 }, { value: 2 }],
  },
  {
    name: 'an empty loop',
    steps: [{ id: 'each', type: 'loop', over: [], do: work('one', {}) }],
    output: [],
  },
  {
    name: 'a loop of states',
    steps: [
      {
        id: 'each',
        type: 'loop',
        over: ['a', 'b'],
        mode: 'map',
        do: [
          work('one', { value: '{{ item }}' }),
          work('two', { value: '{{ steps.one.value }}{{ index }}' }),
        ],
      },
    ],
    output: [{ value: 'a0' }, { value: 'b1' }],
  },
  {
    name: 'a distributed loop of states',
    steps: [
      work('list', { value: ['a', 'b', 'c'] }),
      {
        id: 'each',
        type: 'loop',
        over: '{{ steps.list.value }}',
        mode: 'map',
        do: work('one', { value: '{{ item }}{{ index }}' }),
      },
    ],
    output: [{ value: 'a0' }, { value: 'b1' }, { value: 'c2' }],
  },
  {
    name: 'values that do not fit into a record',
    steps: [
      { id: 'big', type: 'call', tool: 'counting/text', params: { text: 'x'.repeat(20_000) } },
      {
        id: 'each',
        type: 'loop',
        over: [1, 2, 3],
        do: work('one', { value: ['{{ steps.big }}', '{{ item }}'] }),
      },
    ],
    more: { output: '{{ [length(steps.big), length(steps.each[2].value[0]), steps.each[2].value[1]] }}' },
    output: [20_000, 20_000, 3],
  },
  {
    name: 'a loop in lanes',
    steps: [
      {
        id: 'each',
        type: 'loop',
        over: Array.from({ length: 60 }, (_, i) => i),
        concurrency: 25,
        do: work('one', { value: '{{ item }}' }),
      },
    ],
    more: { output: '{{ steps.each[].value }}' },
    output: Array.from({ length: 60 }, (_, i) => i),
  },
  {
    name: 'a while in a task',
    steps: [
      {
        id: 'pages',
        type: 'loop',
        while: '{{ output.next != null }}',
        max: 10,
        do: {
          id: 'page',
          type: 'call',
          tool: 'counting/page',
          params: { cursor: '{{ input.next }}', size: 2, total: 5 },
        },
      },
    ],
    more: { output: '{{ steps.pages[].rows[] }}' },
    output: [0, 1, 2, 3, 4],
  },
  {
    name: 'a while of states',
    steps: [
      {
        id: 'pages',
        type: 'loop',
        while: '{{ output.next != null }}',
        max: 10,
        mode: 'map',
        do: {
          id: 'page',
          type: 'call',
          tool: 'counting/page',
          params: { cursor: '{{ input.next }}', size: 2, total: 5 },
        },
      },
    ],
    more: { output: '{{ steps.pages[].rows[] }}' },
    output: [0, 1, 2, 3, 4],
  },
  {
    name: 'a parallel, with a failed branch that goes on',
    steps: [
      {
        id: 'both',
        type: 'parallel',
        ...GO_ON,
        branches: [
          work('a', { n: 1 }),
          [fail('b', { errorStrategy: { onStepFailure: 'abort' } }), work('c', { n: 3 })],
          work('d', { n: 4 }),
        ],
      },
    ],
    output: [{ did: 1 }, null, { did: 4 }],
    errors: 1,
  },
  {
    name: 'a pipe',
    steps: [
      {
        id: 'p',
        type: 'pipe',
        steps: [
          work('a', { value: 1 }),
          work('b', { value: '{{ input.value }}' }),
          work('c', { value: '{{ input }}' }),
        ],
      },
    ],
    output: { value: { value: 1 } },
  },
  {
    name: 'a collect, and its select',
    steps: [
      { id: 'one', type: 'collect', steps: [work('a', { n: 1 }), work('b', { n: 2 })] },
      { id: 'two', type: 'collect', steps: [work('c', { n: 3 })], select: '{{ output.c.did }}' },
    ],
    more: { output: { one: '{{ steps.one }}', two: '{{ steps.two }}' } },
    output: { one: { a: { did: 1 }, b: { did: 2 } }, two: 3 },
  },
  {
    name: 'when, and what reads a skipped step',
    steps: [
      work('a', { n: 1 }, { when: '{{ params.yes }}' }),
      work('b', { value: '{{ steps.a || `"none"` }}' }),
    ],
    more: { params: { yes: { type: 'boolean' } } },
    params: { yes: false },
    output: { value: 'none' },
    steps_: { a: 'skipped', b: 'succeeded' },
  },
  {
    name: 'what reads a failed step is skipped, and what reads that',
    steps: [
      fail('a', GO_ON),
      work('b', { value: '{{ steps.a }}' }),
      work('c', { value: '{{ steps.b }}' }),
      work('d', { value: '{{ results.a.status }} {{ results.c.status }}' }),
    ],
    output: { value: 'failed skipped' },
    errors: 1,
    steps_: { a: 'failed', b: 'skipped', c: 'skipped', d: 'succeeded' },
  },
  {
    name: 'results of a call',
    steps: [
      work('a', { n: 1 }),
      work('b', {
        value: '{{ results.a.{s: status, t: tool, v: server, c: content[0].type, n: attempts, e: isError} }}',
      }),
    ],
    output: { value: { s: 'succeeded', t: 'work', v: 'counting', c: 'text', n: 1, e: false } },
  },
  {
    name: 'results of a loop',
    steps: [
      {
        id: 'each',
        type: 'loop',
        over: [1, 2, 3],
        ...GO_ON,
        do: work('one', { n: '{{ item }}' }, { failWhen: '{{ output.did == `2` }}' }),
      },
      work('b', {
        value:
          '{{ results.each.{count: count, failed: failed, statuses: items[].status, kind: items[1].error.kind, item: items[1].item} }}',
      }),
    ],
    more: { output: { loop: '{{ steps.each }}', seen: '{{ steps.b.value }}' } },
    output: {
      loop: [{ did: 1 }, null, { did: 3 }],
      seen: {
        count: 3,
        failed: 1,
        statuses: ['succeeded', 'failed', 'succeeded'],
        kind: 'FailedCondition',
        item: 2,
      },
    },
    errors: 1,
  },
  {
    name: 'a loop of states that goes on past a failed item',
    steps: [
      {
        id: 'each',
        type: 'loop',
        mode: 'map',
        over: [1, 2, 3],
        ...GO_ON,
        do: work('one', { n: '{{ item }}' }, { failWhen: '{{ output.did == `2` }}' }),
      },
    ],
    output: [{ did: 1 }, null, { did: 3 }],
    errors: 1,
  },
  {
    name: 'everything inside a batch item',
    steps: [
      {
        id: 'each',
        type: 'loop',
        over: [[1, 2], [3]],
        as: 'row',
        do: [
          {
            id: 'inner',
            type: 'loop',
            over: '{{ row }}',
            as: 'cell',
            do: work('cellwork', { value: '{{ cell }}' }),
          },
          {
            id: 'both',
            type: 'parallel',
            branches: [
              work('left', { value: '{{ index }}' }),
              {
                id: 'p',
                type: 'pipe',
                steps: [work('pa', { value: 'x' }), work('pb', { value: '{{ input.value }}y' })],
              },
            ],
          },
          {
            id: 'all',
            type: 'collect',
            steps: [
              work('sum', { value: '{{ steps.inner[].value }}' }),
              work('seen', { value: '{{ steps.both[1].value }}{{ steps.pa.value }}' }),
            ],
            select: '{{ output.{sum: sum.value, seen: seen.value} }}',
          },
        ],
      },
    ],
    output: [
      { sum: [1, 2], seen: 'xyx' },
      { sum: [3], seen: 'xyx' },
    ],
  },
  {
    name: 'the same as states',
    steps: [
      {
        id: 'each',
        type: 'loop',
        mode: 'map',
        over: [[1, 2], [3]],
        as: 'row',
        do: [
          {
            id: 'inner',
            type: 'loop',
            over: '{{ row }}',
            as: 'cell',
            do: work('cellwork', { value: '{{ cell }}' }),
          },
          {
            id: 'both',
            type: 'parallel',
            branches: [
              work('left', { value: '{{ index }}' }),
              {
                id: 'p',
                type: 'pipe',
                steps: [work('pa', { value: 'x' }), work('pb', { value: '{{ input.value }}y' })],
              },
            ],
          },
          {
            id: 'all',
            type: 'collect',
            steps: [
              work('sum', { value: '{{ steps.inner[].value }}' }),
              work('seen', { value: '{{ steps.both[1].value }}{{ steps.pa.value }}' }),
            ],
            select: '{{ output.{sum: sum.value, seen: seen.value} }}',
          },
        ],
      },
    ],
    output: [
      { sum: [1, 2], seen: 'xyx' },
      { sum: [3], seen: 'xyx' },
    ],
  },
  {
    name: 'retries',
    steps: [
      {
        id: 'a',
        type: 'call',
        tool: 'counting/flaky',
        params: { key: '{{ run.id }}', times: 2 },
        errorStrategy: { onStepFailure: 'retry', retryDelayMs: 5 },
      },
    ],
    output: { made: 3 },
  },
  {
    name: 'a null argument is left out, a nested null stays',
    steps: [work('a', { n: '{{ params.none }}', value: { inner: '{{ params.none }}' } })],
    more: { params: { none: { type: 'string', default: null } } },
    output: { value: { inner: null } },
  },
  {
    name: 'text of a tool',
    steps: [{ id: 'a', type: 'call', tool: 'counting/text', params: { text: '{{ `"{{ x }}"` }}' } }],
    output: '{{ x }}',
  },
];

test.each(cases)('$name', async ({ steps, more, params, output, errors, steps_ }) => {
  const ended = await harness.run(blueprint(steps, more), params);
  expect({
    status: ended.execution,
    error: ended.error,
    cause: ended.cause,
    errors: ended.errors,
  }).toMatchObject({ status: 'SUCCEEDED' });
  expect(ended.run.status).toBe('SUCCEEDED');
  expect(ended.output).toEqual(output);
  expect((ended.errors as Json[]).length).toBe(errors ?? 0);
  expect(ended.run.errorCount).toBe(errors ?? 0);
  for (const [at, status] of Object.entries(steps_ ?? {})) expect(ended.steps.get(at)?.status).toBe(status);
});

interface Failure {
  name: string;
  steps: Step[];
  more?: Partial<Blueprint>;
  params?: JsonObject;
  kind: string;
  message: RegExp;
  path?: string;
}

const failures: Failure[] = [
  { name: 'a tool error', steps: [fail('a')], kind: 'ToolError', message: /it broke/, path: 'a' },
  {
    name: 'a tool that nobody has',
    steps: [{ id: 'a', type: 'call', tool: 'counting/nothing' }],
    kind: 'UnknownTool',
    message: /nothing/,
    path: 'a',
  },
  {
    name: 'a required argument that came out null',
    steps: [{ id: 'a', type: 'call', tool: 'counting/needs', params: { must: '{{ params.none }}' } }],
    more: { params: { none: { type: 'string', default: null } } },
    kind: 'InvalidArguments',
    message: /step "a": the argument "must".*params\.none/,
    path: 'a',
  },
  {
    name: 'over is null',
    steps: [
      work('list', { value: { rows: [], total: 0 } }),
      { id: 'each', type: 'loop', over: '{{ steps.list.value.items }}', do: work('b', {}) },
    ],
    kind: 'TemplateError',
    message: /is null.*"steps\.list\.value" has the keys "rows", "total"/,
    path: 'each',
  },
  {
    name: 'more items than maxItems',
    steps: [{ id: 'each', type: 'loop', over: [1, 2, 3], maxItems: 2, do: work('b', {}) }],
    kind: 'LimitExceeded',
    message: /3 items, more than maxItems \(2\)/,
  },
  {
    name: 'a while that reaches max',
    steps: [{ id: 'w', type: 'loop', while: '{{ `true` }}', max: 3, do: work('b', {}) }],
    kind: 'LimitExceeded',
    message: /3 passes/,
  },
  {
    name: 'failWhen',
    steps: [work('a', { n: 1 }, { failWhen: '{{ output.did == `1` }}' })],
    kind: 'FailedCondition',
    message: /failWhen/,
  },
  {
    name: 'an item of a batch loop',
    steps: [{ id: 'each', type: 'loop', over: [1, 2], do: fail('b') }],
    kind: 'ToolError',
    message: /it broke/,
    path: 'each/00000/b',
  },
  {
    name: 'an item of a map loop',
    steps: [{ id: 'each', type: 'loop', mode: 'map', over: [1, 2], do: fail('b') }],
    kind: 'ToolError',
    message: /it broke/,
    path: 'each/00000/b',
  },
  {
    name: 'an item of a loop in lanes',
    steps: [
      {
        id: 'each',
        type: 'loop',
        over: Array.from({ length: 40 }, (_, i) => i),
        concurrency: 20,
        do: fail('b'),
      },
    ],
    kind: 'ToolError',
    message: /it broke/,
  },
  {
    name: 'a branch',
    steps: [{ id: 'both', type: 'parallel', branches: [work('a', {}), fail('b')] }],
    kind: 'ToolError',
    message: /it broke/,
    path: 'b',
  },
  {
    name: 'a step of a pipe',
    steps: [{ id: 'p', type: 'pipe', steps: [fail('a'), work('b', {})] }],
    kind: 'ToolError',
    message: /it broke/,
    path: 'a',
  },
  {
    name: 'a missing parameter',
    steps: [work('a', {})],
    more: { params: { x: { type: 'string' } } },
    kind: 'InvalidArguments',
    message: /params\/x: required/,
  },
  {
    name: 'an output that cannot be evaluated',
    steps: [work('a', {})],
    more: { output: '{{ to_number(steps.a.did) && length(`1`) }}{{ length(`1`) }}' },
    kind: 'TemplateError',
    message: /./,
  },
];

test.each(failures)('fails: $name', async ({ steps, more, params, kind, message, path }) => {
  const ended = await harness.run(blueprint(steps, more), params);
  expect(ended.execution).toBe('FAILED');
  expect(ended.error).toBe(kind);
  expect(ended.run.status).toBe('FAILED');
  const [error] = ended.errors as unknown as { kind: string; message: string; path: string }[];
  expect(error?.kind).toBe(kind);
  expect(error?.message).toMatch(message);
  if (path !== undefined) expect(error?.path).toBe(path);
  // What leaves call-tool holds our own words only, and no stack.
  expect(ended.cause).not.toMatch(/it broke|node_modules|\.ts:/);
});

test('an abort sends no item after the one that failed', async () => {
  harness.clearCalls();
  const items = Array.from({ length: 50 }, (_, i) => i);
  const ended = await harness.run(
    blueprint([
      {
        id: 'each',
        type: 'loop',
        over: items,
        do: work('b', { n: '{{ item }}' }, { failWhen: '{{ output.did == `3` }}' }),
      },
    ]),
  );
  expect(ended.run.status).toBe('FAILED');
  expect(harness.calls().map(({ args }) => args.n)).toEqual([0, 1, 2, 3]);
});

test('a loop in lanes behind a skipped step of its pipe is skipped with it', async () => {
  const ended = await harness.run(
    blueprint(
      [
        fail('a', GO_ON),
        {
          id: 'q',
          type: 'pipe',
          steps: [
            work('b', { n: '{{ steps.a }}' }),
            { id: 'l', type: 'loop', over: [1, 2], concurrency: 11, do: work('c', { n: '{{ item }}' }) },
          ],
        },
      ],
      { output: '{{ results.[q, l][].status }}' },
    ),
  );
  expect(ended).toMatchObject({ execution: 'SUCCEEDED', output: ['skipped', 'skipped'] });
  expect(ended.steps.get('l')).toMatchObject({ status: 'skipped', reason: 'failed:a' });
});
