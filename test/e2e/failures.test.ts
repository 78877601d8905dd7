/** What a failure does: strategies and their inheritance, retries, skipped readers, the errors that an agent hears of. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../lib/blueprint/json.ts';
import { CONTINUE, call, expectRun, fails, type Lab, type RunCase, startLab, until, value } from './lab.ts';

let lab: Lab;
beforeAll(async () => {
  lab = await startLab();
});
afterAll(() => lab.end());

const strategy = (onStepFailure: string, more: JsonObject = {}): JsonObject => ({
  errorStrategy: { onStepFailure, retryDelayMs: 0, ...more },
});
const ABORT = strategy('abort');
const mark = (name: string) => call(`after-${name.replaceAll(' ', '-')}`, 'echo', { mark: `after ${name}` });

/** Where a strategy stands, and whether a failing call in a container lets the run go on. */
const strategies: RunCase[] = [
  {
    name: 'none: abort',
    blueprint: { steps: [fails('a'), mark('none')] },
    status: 'FAILED',
    errors: [
      {
        step: 'a',
        path: 'a',
        kind: 'ToolError',
        message: 'a broke',
        attempts: 1,
        server: 'lab',
        tool: 'fail',
      },
    ],
    calls: [[{ mark: 'after none' }, 0]],
    steps: { a: 'failed', 'after-none': 'absent' },
  },
  {
    name: "the blueprint's, for each step",
    blueprint: { ...CONTINUE, steps: [fails('a'), fails('b'), value('c', 1)] },
    output: 1,
    errors: [{ step: 'a' }, { step: 'b' }],
  },
  {
    name: "the step's own before the blueprint's",
    blueprint: { ...CONTINUE, steps: [fails('a'), fails('b', ABORT), mark('own')] },
    status: 'FAILED',
    errors: [{ step: 'a' }, { step: 'b' }],
    calls: [[{ mark: 'after own' }, 0]],
  },
  {
    name: 'the nearest outward one, whole: nothing of one further out is merged into it',
    blueprint: {
      ...strategy('continue', { maxRetries: 3 }),
      steps: [
        {
          id: 'c',
          type: 'collect',
          errorStrategy: { collectErrors: true },
          steps: [value('a', 1), call('b', 'fail', { mark: 'whole' }), value('d', 1)],
        },
        mark('whole'),
      ],
    },
    // The collect's own says neither continue nor maxRetries, so it is abort without retries.
    status: 'FAILED',
    errors: [{ step: 'b', path: 'b', kind: 'ToolError', attempts: 1 }],
    calls: [
      [{ mark: 'whole' }, 1],
      [{ mark: 'after whole' }, 0],
    ],
  },
  {
    name: 'through two containers from the blueprint',
    blueprint: {
      ...CONTINUE,
      steps: [
        {
          id: 'p',
          type: 'parallel',
          branches: [{ id: 'c', type: 'collect', steps: [fails('a'), value('b', 2)] }, value('d', 3)],
        },
      ],
    },
    output: [{ a: null, b: 2 }, 3],
    errors: [{ step: 'a' }],
  },
  {
    name: 'retry: abort with two retries',
    blueprint: { ...strategy('retry'), steps: [call('a', 'fail', { mark: 'retry' }), mark('retry')] },
    status: 'FAILED',
    errors: [{ step: 'a', attempts: 3 }],
    calls: [
      [{ mark: 'retry' }, 3],
      [{ mark: 'after retry' }, 0],
    ],
  },
  {
    name: 'maxRetries under abort, continue and retry; a success afterwards is a success',
    blueprint: {
      steps: [
        call('a', 'fail', { key: 'r-a', times: 1 }, strategy('abort', { maxRetries: 1 })),
        call('b', 'fail', { key: 'r-b', times: 3 }, strategy('continue', { maxRetries: 3 })),
        call('c', 'fail', { key: 'r-c', times: 2 }, strategy('retry')),
        call('d', 'fail', { key: 'r-d', times: 5 }, strategy('retry', { maxRetries: 5 })),
        call('e', 'fail', { key: 'r-e', times: 9 }, strategy('continue', { maxRetries: 4 })),
        call('f', 'fail', { key: 'r-f', times: 9 }, strategy('continue', { maxRetries: 0 })),
      ],
      output: [
        '{{ [results.a.attempts, results.b.attempts, results.c.attempts, results.d.attempts, results.e.attempts, results.f.attempts] }}',
        '{{ steps.d.made }}',
      ],
    },
    output: [[2, 4, 3, 6, 5, 1], 6],
    errors: [
      { step: 'e', attempts: 5 },
      { step: 'f', attempts: 1 },
    ],
    calls: [
      [{ key: 'r-b' }, 4],
      [{ key: 'r-e' }, 5],
      [{ key: 'r-f' }, 1],
    ],
  },
  {
    name: 'retries in items of a loop, each its own',
    blueprint: {
      ...strategy('continue', { maxRetries: 2 }),
      steps: ['batch', 'map'].map((mode) => ({
        id: mode,
        type: 'loop',
        mode,
        over: [0, 1, 2, 3],
        do: call(
          `in-${mode}`,
          'fail',
          { key: `${mode}-{{ item }}`, times: '{{ item }}' },
          { select: '{{ output.made }}' },
        ),
      })),
      output: { batch: '{{ steps.batch }}', map: '{{ steps.map }}' },
    },
    output: { batch: [1, 2, 3, null], map: [1, 2, 3, null] },
    errors: [
      { step: 'in-batch', path: 'batch/00003/in-batch', index: 3, attempts: 3 },
      { step: 'in-map', path: 'map/00003/in-map', index: 3, attempts: 3 },
    ],
  },
  {
    name: 'only calls are retried, and only for what may pass',
    blueprint: {
      ...strategy('continue', { maxRetries: 3 }),
      steps: [
        { id: 'q', type: 'pipe', steps: [value('a', 1)], failWhen: true },
        call('b', 'echo', { mark: 'no condition retry' }, { failWhen: true }),
        call('c', 'text', { text: '{', mark: 'no parse retry' }, { parse: 'json' }),
        call('d', 'needs', { must: '{{ `null` }}' }),
        call('f', 'echo', { mark: 'no template retry', x: 'a{{ `null` }}' }),
        { id: 'g', type: 'call', tool: 'lab/no-such-tool' },
      ],
      output: [
        '{{ results.b.attempts }}',
        '{{ results.c.attempts }}',
        '{{ results.d.attempts }}',
        '{{ results.f.attempts }}',
      ],
    },
    output: [1, 1, 0, 0],
    errors: [
      { step: 'q', kind: 'FailedCondition' },
      { step: 'b', kind: 'FailedCondition' },
      { step: 'c', kind: 'ParseError' },
      { step: 'd', kind: 'InvalidArguments' },
      { step: 'f', kind: 'TemplateError', message: expect.stringContaining('{{ `null` }}') as string },
      { step: 'g', kind: 'UnknownTool' },
    ],
    calls: [
      [{ mark: 'no condition retry' }, 1],
      [{ mark: 'no parse retry' }, 1],
      [{ mark: 'no template retry' }, 0],
    ],
  },
];

const placed: RunCase[] = [
  {
    name: 'a pipe ends at a step that failed, whatever its strategy, and fails',
    blueprint: {
      ...CONTINUE,
      steps: [
        { id: 'q', type: 'pipe', steps: [value('a', 1), fails('b'), call('c', 'echo', { mark: 'pipe' })] },
        value('after', 1),
      ],
      output: ['{{ results.q.status }}', '{{ steps.q }}', '{{ steps.after }}'],
    },
    output: ['failed', null, 1],
    errors: [{ step: 'b', path: 'b', kind: 'ToolError' }],
    calls: [[{ mark: 'pipe' }, 0]],
  },
  {
    name: "a pipe's own abort ends the run although what is around would go on",
    blueprint: {
      ...CONTINUE,
      steps: [{ id: 'q', type: 'pipe', ...ABORT, steps: [fails('b', CONTINUE)] }, mark('pipe abort')],
    },
    status: 'FAILED',
    errors: [{ step: 'b' }],
    calls: [[{ mark: 'after pipe abort' }, 0]],
  },
  {
    name: 'a collect under continue has null there, under abort fails',
    blueprint: {
      steps: [
        { id: 'c', type: 'collect', ...CONTINUE, steps: [value('a', 1), fails('b'), value('d', 3)] },
        {
          id: 'e',
          type: 'collect',
          ...CONTINUE,
          steps: [value('f', 1), fails('g', ABORT), call('h', 'echo', { mark: 'collect' })],
        },
      ],
      output: ['{{ steps.c }}', '{{ steps.e }}', '{{ results.e.status }}', '{{ results.e.error.step }}'],
    },
    output: [{ a: 1, b: null, d: 3 }, null, 'failed', 'g'],
    errors: [{ step: 'b' }, { step: 'g' }],
    calls: [[{ mark: 'collect' }, 0]],
  },
  {
    name: 'a parallel settles all branches; under continue null for failed ones',
    blueprint: {
      steps: [
        {
          id: 'p',
          type: 'parallel',
          ...CONTINUE,
          branches: [
            [fails('a', ABORT), call('b', 'echo', { mark: 'branch' })],
            [fails('c'), value('d', 4)],
            value('e', 5),
            [value('f', 6), fails('g')],
          ],
        },
      ],
      output: ['{{ steps.p }}', '{{ results.p.status }}', '{{ steps.f }}'],
    },
    output: [[null, 4, 5, null], 'succeeded', 6],
    errors: [{ step: 'a' }, { step: 'c' }, { step: 'g' }],
    calls: [[{ mark: 'branch' }, 0]],
  },
  {
    name: "a parallel under abort settles all branches, then fails with the first failed branch's error",
    blueprint: {
      steps: [
        {
          id: 'p',
          type: 'parallel',
          branches: [
            value('a', 1),
            [value('b', 1), fails('c')],
            fails('d'),
            [value('e', 1), call('f', 'echo', { mark: 'settles' })],
          ],
        },
        mark('parallel'),
      ],
    },
    status: 'FAILED',
    errors: [{ step: 'c' }, { step: 'd' }],
    calls: [
      [{ mark: 'settles' }, 1],
      [{ mark: 'after parallel' }, 0],
    ],
    steps: { p: 'failed', f: 'succeeded' },
  },
  ...['batch', 'map'].map(
    (mode): RunCase => ({
      name: `an item ends at a step that failed, whatever its strategy; others go on as the loop says (${mode})`,
      blueprint: {
        steps: [
          {
            id: 'l',
            type: 'loop',
            mode,
            ...CONTINUE,
            over: ['x', 'bad', 'y'],
            do: [
              call('a', 'fail', { key: '{{ item }}', only: ['bad'] }, ABORT),
              call(
                'b',
                'echo',
                { mark: `item ${mode}`, item: '{{ item }}' },
                { select: '{{ output.args.item }}' },
              ),
            ],
          },
        ],
        output: '{{ steps.l }}',
      },
      output: ['x', null, 'y'],
      errors: [{ step: 'a', path: 'l/00001/a', index: 1 }],
      calls: [[{ mark: `item ${mode}` }, 2]],
    }),
  ),
];

const readers: RunCase[] = [
  {
    name: 'a reader of a failed value is skipped, and so are its readers; `results` never skips',
    blueprint: {
      ...CONTINUE,
      steps: [
        fails('a'),
        call('in-params', 'echo', { x: '{{ steps.a }}', mark: 'reader' }),
        call('in-text', 'echo', { x: 'text {{ steps.a || `1` }}', mark: 'reader' }),
        call('in-when', 'echo', { mark: 'reader' }, { when: '{{ !(steps.a) }}' }),
        {
          id: 'in-over',
          type: 'loop',
          over: '{{ steps.a || `[1]` }}',
          do: call('o', 'echo', { mark: 'reader' }),
        },
        {
          id: 'in-map',
          type: 'loop',
          mode: 'map',
          over: '{{ steps.a || `[1]` }}',
          do: call('m', 'echo', { mark: 'reader' }),
        },
        call('reader-of-reader', 'echo', { x: '{{ steps.in-params }}', mark: 'reader' }),
        call(
          'by-results',
          'echo',
          { s: '{{ results.a.status }}', k: '{{ results.a.error.kind }}' },
          { select: '{{ output.args }}' },
        ),
        call('by-select', 'echo', {}, { select: { a: '{{ steps.a }}' } }),
      ],
      output: {
        a: '{{ steps.a }}',
        skipped: '{{ [results.in-params.status, results.in-over.status, results.reader-of-reader.status] }}',
        results: '{{ steps.by-results }}',
        select: '{{ steps.by-select }}',
      },
    },
    output: {
      a: null,
      skipped: ['skipped', 'skipped', 'skipped'],
      results: { s: 'failed', k: 'ToolError' },
      select: { a: null },
    },
    errors: [{ step: 'a' }],
    calls: [[{ mark: 'reader' }, 0]],
    steps: {
      a: 'failed',
      'in-params': 'skipped failed:a',
      'in-text': 'skipped failed:a',
      'in-when': 'skipped failed:a',
      'in-over': 'skipped failed:a',
      'in-map': 'skipped failed:a',
      'reader-of-reader': 'skipped failed:a',
      'by-results': 'succeeded',
    },
  },
  {
    name: 'inside items a reader of a failed step around is skipped in each item',
    blueprint: {
      ...CONTINUE,
      steps: [
        fails('a'),
        {
          id: 'l',
          type: 'loop',
          over: [1, 2],
          do: [call('b', 'echo', { x: '{{ steps.a }}' }), value('c', '{{ item }}')],
        },
        {
          id: 'm',
          type: 'loop',
          over: [1, 2],
          do: [value('d', '{{ item }}'), call('e', 'echo', { x: '{{ steps.a }}' })],
        },
        {
          id: 'n',
          type: 'loop',
          mode: 'map',
          over: [1, 2],
          do: [value('f', '{{ item }}'), call('g', 'echo', { x: '{{ steps.a }}' })],
        },
      ],
      output: {
        l: '{{ steps.l }}',
        m: ['{{ steps.m }}', '{{ results.m.skipped }}', '{{ results.m.items[].status }}'],
        n: ['{{ steps.n }}', '{{ results.n.skipped }}'],
      },
    },
    output: { l: [1, 2], m: [[null, null], 2, ['skipped', 'skipped']], n: [[null, null], 2] },
    errors: [{ step: 'a' }],
  },
  {
    name: 'a loop that went on past failed items has not failed: its readers run',
    blueprint: {
      ...CONTINUE,
      steps: [
        { id: 'l', type: 'loop', over: [1], do: fails('a') },
        call('b', 'echo', { x: '{{ steps.l }}' }, { select: '{{ output.args.x }}' }),
      ],
    },
    output: [null],
    errors: [{ step: 'a', path: 'l/00000/a', index: 0 }],
  },
];

/** Types of steps behind a step that was skipped because it reads a failed one: they have no input, so no reason to run. */
const behind = (more: JsonObject): JsonObject[] => {
  const name = Object.keys(more).length === 0 ? 'plain' : 'limited';
  const seen = (id: string) => call(`${name}-${id}`, 'echo', { mark: 'behind a skipped step' });
  return [
    { id: `${name}-collect`, type: 'collect', ...more, steps: [seen('c1'), seen('c2')] },
    { id: `${name}-parallel`, type: 'parallel', ...more, branches: [seen('p1'), [seen('p2'), seen('p3')]] },
    { id: `${name}-pipe`, type: 'pipe', ...more, steps: [seen('q1'), seen('q2')] },
    { id: `${name}-batch`, type: 'loop', ...more, over: [1], do: seen('b1') },
    { id: `${name}-lanes`, type: 'loop', ...more, over: [1], concurrency: 11, do: seen('l1') },
    { id: `${name}-map`, type: 'loop', ...more, over: [1], mode: 'map', do: seen('m1') },
    { id: `${name}-while`, type: 'loop', ...more, while: false, max: 1, do: seen('w1') },
    { id: `${name}-passes`, type: 'loop', ...more, while: false, max: 1, mode: 'map', do: seen('x1') },
    seen('call'),
  ];
};

readers.push(
  ...([{}, { timeoutSeconds: 60 }] as JsonObject[]).map((more): RunCase => {
    const steps = behind(more);
    return {
      name: `in a pipe, what is behind a skipped reader is skipped with it, and so is the pipe: ${JSON.stringify(more)}`,
      blueprint: {
        ...CONTINUE,
        steps: [
          fails('a'),
          { id: 'q', type: 'pipe', steps: [value('first', 1), value('reader', '{{ steps.a }}'), ...steps] },
        ],
        output: ['{{ results.q.status }}', '{{ steps.q }}'],
      },
      output: ['skipped', null],
      errors: [{ step: 'a' }],
      calls: [[{ mark: 'behind a skipped step' }, 0]],
      steps: {
        first: 'succeeded',
        ...Object.fromEntries(
          ['reader', 'q', ...steps.map(({ id }) => String(id))].map((id) => [id, 'skipped failed:a']),
        ),
      },
    };
  }),
);

const collected: RunCase[] = [
  {
    name: 'collectErrors false keeps errors out of the answer, not out of the results',
    blueprint: {
      errorStrategy: { onStepFailure: 'continue', collectErrors: false },
      steps: [fails('a'), fails('b', CONTINUE)],
      output: { a: '{{ results.a.error.kind }}', run: '{{ run.errors[].step }}' },
    },
    output: { a: 'ToolError', run: ['b'] },
    errors: [{ step: 'b' }],
    steps: { a: 'failed' },
  },
  {
    name: 'collectErrors false of items',
    blueprint: {
      steps: [
        {
          id: 'l',
          type: 'loop',
          over: [1, 2],
          errorStrategy: { onStepFailure: 'continue', collectErrors: false },
          do: fails('a'),
        },
      ],
      output: '{{ results.l.failed }}',
    },
    output: 2,
  },
];

describe.each([
  ['strategies', strategies],
  ['containers', placed],
  ['readers', readers],
  ['collected errors', collected],
])('%s', (_, cases) => {
  it.concurrent.each(cases)('$name', async (given) => {
    await expectRun(lab, given);
  });
});

describe('calls that are not answered', () => {
  it.concurrent.each<[string, JsonObject, string]>([
    ['lab/crash-read', {}, 'TransportError'],
    ['lab/crash', {}, 'OutcomeUnknown'],
    ['lab/crash', { retryUnknown: true }, 'TransportError'],
  ])('%s %j is %s', async (tool, fields, kind) => {
    const run = await lab.run({ steps: [{ id: 'a', type: 'call', tool, ...fields }] });
    expect(run).toMatchObject({ status: 'FAILED', errors: [{ step: 'a', kind, attempts: 1 }] });
  });
});

it('all messages are cleaned, and end at 1 KiB', async () => {
  const run = await lab.run({
    ...CONTINUE,
    steps: [
      call('a', 'fail', { message: `red \u001b[31m bidi \u202e tag \u{e0041} end` }),
      call('b', 'fail', { message: 'long '.repeat(1000) }),
    ],
  });
  const [a, b] = run.errors;
  expect(a?.message).toMatch(/^red .*bidi .*tag .*end$/);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what is looked for
  expect(a?.message).not.toMatch(/[\u0000-\u001f\u202e\u{e0041}]/u);
  expect(Buffer.byteLength(b?.message ?? '')).toBeLessThanOrEqual(1024);
});

it('delays grow by the backoff rate up to the longest', async () => {
  const strategy = {
    onStepFailure: 'continue',
    maxRetries: 3,
    retryDelayMs: 60,
    backoffRate: 3,
    maxDelayMs: 150,
    jitter: false,
  };
  await lab.run({ steps: [call('a', 'fail', { mark: 'delays' }, { errorStrategy: strategy })] });
  const times = lab.calls({ mark: 'delays' }).map(({ at }) => at);
  const gaps = times.slice(1).map((at, i) => at - (times[i] ?? 0));
  expect(gaps.length).toBe(3);
  // A timer may be a millisecond early by this clock; how late it is depends on the machine.
  for (const [i, least] of [60, 150, 150].entries()) expect(gaps[i]).toBeGreaterThanOrEqual(least - 2);
});

describe('an item that fails under abort', () => {
  it.concurrent.each<[string, JsonObject]>([
    ['a batch', {}],
    ['an inline map', { mode: 'map', maxItems: 4 }],
    ['a distributed map', { mode: 'map' }],
  ])('lets those in flight settle and starts no other: %s', async (name, fields) => {
    const key = `in flight, ${name}`;
    const branches = [
      call('held', 'hold', { key, mark: key }, { when: '{{ item == `0` }}' }),
      call('bad', 'fail', { mark: key }, { when: '{{ item != `0` }}' }),
    ];
    const runId = await lab.start({
      params: { list: { type: 'array', default: [0, 1, 2, 3] } },
      steps: [
        {
          id: 'l',
          type: 'loop',
          over: '{{ params.list }}',
          concurrency: 2,
          ...fields,
          do: [{ id: 'p', type: 'parallel', branches }, call('then', 'echo', { mark: key })],
        },
      ],
    });
    // Item 1 has failed, or is about to; item 0 is held until then.
    await until(async () => lab.calls({ mark: key }).length === 2);
    await until(async () => {
      const { value: told } = await lab.call('call_tool', { tool: 'lab/release', params: { key } });
      return (told as JsonObject).released === true;
    });
    const run = await lab.executed(runId);
    expect(run).toMatchObject({ status: 'FAILED', errors: [{ step: 'bad', path: 'l/00001/bad' }] });
    const items = (await lab.list(runId, 'l', 'items')) as JsonObject[];
    expect(
      items.filter(({ status }) => status !== 'skipped').map(({ index, status }) => [index, status]),
    ).toEqual([
      [0, 'succeeded'],
      [1, 'failed'],
    ]);
    expect(
      lab
        .calls({ mark: key })
        .map(({ tool }) => tool)
        .sort(),
    ).toEqual(['echo', 'fail', 'hold']);
  });
});
