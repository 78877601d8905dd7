/** Loops over items and while a condition holds, in a batch, in lanes and as a map, inline and distributed. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../lib/blueprint/json.ts';
import { call, expectRun, type Lab, type RunCase, startLab, value } from './lab.ts';

let lab: Lab;
beforeAll(async () => {
  lab = await startLab();
});
afterAll(() => lab.end());

/** Every way that a loop over items runs. */
const WAYS: [name: string, fields: JsonObject][] = [
  ['a batch', {}],
  ['a batch, 8 at once', { concurrency: 8 }],
  ['lanes', { concurrency: 25 }],
  ['an inline map', { mode: 'map', maxItems: 40 }],
  ['a distributed map', { mode: 'map', concurrency: 4 }],
];

const over = (fields: JsonObject, more: JsonObject): JsonObject => ({
  id: 'l',
  type: 'loop',
  over: '{{ params.list }}',
  ...fields,
  ...more,
});
const PARAMS = { list: { type: 'array', default: [] }, mark: { type: 'string', default: '' } };

describe.each(WAYS)('a loop over items as %s', (name, fields) => {
  const cases: RunCase[] = [
    {
      name: 'has one value an item, in order',
      blueprint: {
        params: PARAMS,
        steps: [
          over(fields, {
            do: [
              value('a', '{{ item }}'),
              call(
                'b',
                'echo',
                { of: '{{ steps.a }}', at: '{{ index }}', mark: '{{ params.mark }}' },
                { select: '{{ [output.args.of, output.args.at] }}' },
              ),
            ],
          }),
          value('after', '{{ steps.l[] }}'),
        ],
        output: '{{ steps.l }}',
      },
      params: { list: Array.from({ length: 13 }, (_, i) => `i${i}`), mark: `order ${name}` },
      output: Array.from({ length: 13 }, (_, i) => [`i${i}`, i]),
      calls: [[{ mark: `order ${name}` }, 13]],
    },
    {
      name: 'is [] for none',
      blueprint: {
        params: PARAMS,
        steps: [over(fields, { do: value('a', 1) })],
        output: ['{{ steps.l }}', '{{ results.l.count }}', '{{ results.l.status }}', '{{ results.l.items }}'],
      },
      output: [[], 0, 'succeeded', []],
    },
    {
      name: 'takes null and nested items as they are',
      blueprint: { params: PARAMS, steps: [over(fields, { as: 'x', do: value('a', ['{{ x }}']) })] },
      params: { list: [null, [1, [2]], { a: null }, 'text', 0, false] },
      output: [[null], [[1, [2]]], [{ a: null }], ['text'], [0], [false]],
    },
    {
      name: 'runs no item where there are more than maxItems',
      blueprint: {
        params: PARAMS,
        steps: [over({ ...fields, maxItems: 3 }, { do: call('a', 'echo', { mark: '{{ params.mark }}' }) })],
      },
      params: { list: [1, 2, 3, 4], mark: `too many ${name}` },
      status: 'FAILED',
      errors: [{ step: 'l', path: 'l', kind: 'LimitExceeded' }],
      calls: [[{ mark: `too many ${name}` }, 0]],
    },
    {
      name: 'says which keys exist where `over` is null, and what came where it is no list',
      blueprint: {
        errorStrategy: { onStepFailure: 'continue' },
        params: PARAMS,
        steps: [
          value('data', { itemz: [1], other: 2 }),
          { id: 'n', type: 'loop', over: '{{ steps.data.items }}', do: value('a', 1), ...fields },
          { id: 'o', type: 'loop', over: '{{ steps.data }}', do: value('b', 1), ...fields },
        ],
        output: null,
      },
      output: null,
      errors: [
        {
          step: 'n',
          kind: 'TemplateError',
          message: expect.stringMatching(/steps\.data\.items.*itemz.*other/) as string,
        },
        { step: 'o', kind: 'TemplateError', message: expect.stringMatching(/object/) as string },
      ],
    },
    {
      name: 'under abort starts no item after one failed, and fails with its error',
      blueprint: {
        params: PARAMS,
        steps: [
          over(
            { ...fields, concurrency: 1 },
            {
              do: call('a', 'fail', { key: '{{ item }}', only: ['bad'], mark: '{{ params.mark }}' }),
            },
          ),
        ],
      },
      params: { list: ['a', 'b', 'bad', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k'], mark: `abort ${name}` },
      status: 'FAILED',
      errors: [{ step: 'a', path: 'l/00002/a', index: 2, kind: 'ToolError' }],
      calls: [[{ mark: `abort ${name}` }, 3]],
    },
  ];
  it.concurrent.each(cases)('$name', async (given) => {
    await expectRun(lab, given);
  });
});

describe('concurrency', () => {
  it.concurrent.each<[number, JsonObject]>([
    [2, {}],
    [10, {}],
    [25, {}],
    [20, { mode: 'map', maxItems: 40 }],
    [20, { mode: 'map' }],
  ])('%i at once, %j: as many meet, and never more', async (concurrency, fields) => {
    const party = `${concurrency} ${JSON.stringify(fields)}`;
    const list = Array.from({ length: concurrency }, (_, i) => i);
    const run = await lab.run({
      steps: [
        {
          id: 'meet',
          type: 'loop',
          over: list,
          concurrency,
          ...fields,
          do: call('m', 'meet', { party, size: concurrency }),
        },
        {
          id: 'crowd',
          type: 'loop',
          over: [...list, ...list],
          as: 'x',
          concurrency,
          ...fields,
          do: call('c', 'crowd', { party }),
        },
      ],
      output: { met: '{{ results.meet.count }}', most: '{{ max(steps.crowd[].most) }}' },
    });
    expect(run).toMatchObject({ status: 'SUCCEEDED', output: { met: concurrency } });
    expect(Number((run.output as JsonObject).most)).toBeLessThanOrEqual(concurrency);
  });
});

describe.each(['batch', 'map'])('a loop while a condition holds, %s', (mode) => {
  const pages = (more: JsonObject = {}): JsonObject => ({
    id: 'l',
    type: 'loop',
    while: '{{ output.next }}',
    max: 5,
    mode,
    do: [
      call('page', 'paged', {
        cursor: '{{ input.next }}',
        size: 2,
        total: '{{ params.total }}',
        mark: '{{ params.mark }}',
      }),
    ],
    ...more,
  });
  const TOTAL = { total: { type: 'integer' }, mark: { type: 'string', default: '' } };
  const cases: RunCase[] = [
    {
      name: 'reads pages; `input` is the pass before, null at first',
      blueprint: {
        params: TOTAL,
        steps: [pages()],
        output: {
          all: '{{ steps.l[].items[] }}',
          count: '{{ results.l.count }}',
          items: '{{ results.l.items[].[index, item, status] }}',
        },
      },
      params: { total: 5, mark: `pages ${mode}` },
      output: {
        all: [0, 1, 2, 3, 4],
        count: 3,
        items: [
          [0, null, 'succeeded'],
          [1, null, 'succeeded'],
          [2, null, 'succeeded'],
        ],
      },
      calls: [
        [{ mark: `pages ${mode}` }, 3],
        [{ mark: `pages ${mode}`, cursor: 2 }, 1],
      ],
    },
    {
      name: 'looks after each pass, so there is always one',
      blueprint: { params: TOTAL, steps: [pages()], output: '{{ steps.l[].items[] }}' },
      params: { total: 0 },
      output: [],
    },
    {
      name: 'may need exactly `max` passes',
      blueprint: { params: TOTAL, steps: [pages()], output: '{{ length(steps.l) }}' },
      params: { total: 10 },
      output: 5,
    },
    {
      name: 'fails where `max` is reached, and cuts nothing',
      blueprint: { params: TOTAL, steps: [pages()] },
      params: { total: 11, mark: `max ${mode}` },
      status: 'FAILED',
      errors: [{ step: 'l', path: 'l', kind: 'LimitExceeded' }],
      calls: [[{ mark: `max ${mode}` }, 5]],
    },
    {
      name: 'has `index`, in the body and in the condition',
      blueprint: {
        steps: [
          { id: 'l', type: 'loop', while: '{{ index < `2` }}', max: 9, mode, do: value('a', '{{ index }}') },
        ],
      },
      output: [0, 1, 2],
    },
    {
      name: 'goes on over a skipped pass',
      blueprint: {
        steps: [
          {
            id: 'l',
            type: 'loop',
            while: '{{ index < `2` }}',
            max: 9,
            mode,
            do: value('a', ['{{ index }}', '{{ input }}'], { when: '{{ index != `1` }}' }),
          },
        ],
        output: ['{{ steps.l }}', '{{ results.l.skipped }}'],
      },
      output: [[[0, null], null, [2, null]], 1],
    },
    {
      name: 'ends at a pass that failed and, under continue, goes on behind the loop',
      blueprint: {
        params: { mark: { type: 'string', default: `failed pass ${mode}` } },
        steps: [
          {
            id: 'l',
            type: 'loop',
            while: '{{ index < `5` }}',
            max: 9,
            mode,
            errorStrategy: { onStepFailure: 'continue' },
            do: call(
              'a',
              'fail',
              { key: "{{ index == `2` && 'bad' || 'ok' }}", only: ['bad'], mark: '{{ params.mark }}' },
              { select: '{{ index }}' },
            ),
          },
        ],
        output: ['{{ steps.l }}', '{{ results.l.status }}', '{{ [results.l.count, results.l.failed] }}'],
      },
      output: [[0, 1, null], 'succeeded', [3, 1]],
      errors: [{ step: 'a', path: 'l/00002/a', index: 2, kind: 'ToolError' }],
      calls: [[{ mark: `failed pass ${mode}` }, 3]],
    },
    {
      name: 'ends at a pass that failed and, under abort, ends the run',
      blueprint: {
        steps: [
          {
            id: 'l',
            type: 'loop',
            while: true,
            max: 9,
            mode,
            do: call('a', 'fail', {
              key: "{{ index == `2` && 'bad' || 'ok' }}",
              only: ['bad'],
              mark: `aborted pass ${mode}`,
            }),
          },
        ],
      },
      status: 'FAILED',
      errors: [{ step: 'a', path: 'l/00002/a', index: 2, kind: 'ToolError' }],
      calls: [[{ mark: `aborted pass ${mode}` }, 3]],
    },
  ];
  it.concurrent.each(cases)('$name', async (given) => {
    await expectRun(lab, given);
  });
});

it.each([
  ['batch', {}],
  ['map', { mode: 'map', maxItems: 5 }],
  ['lanes', { concurrency: 11 }],
])('`index` is the innermost, names of outer loops stay (%s)', async (_, fields) => {
  const run = await lab.run({
    steps: [
      {
        id: 'outer',
        type: 'loop',
        over: ['a', 'b'],
        as: 'letter',
        ...fields,
        do: [
          value('first', ['{{ letter }}', '{{ index }}']),
          {
            id: 'inner',
            type: 'loop',
            over: [7, 8],
            as: 'digit',
            ...fields,
            do: value('v', ['{{ letter }}', '{{ digit }}', '{{ index }}', '{{ steps.first[1] }}']),
          },
        ],
      },
    ],
  });
  expect(run.output).toEqual([
    [
      ['a', 7, 0, 0],
      ['a', 8, 1, 0],
    ],
    [
      ['b', 7, 0, 1],
      ['b', 8, 1, 1],
    ],
  ]);
});

it('many items come out whole, and get_run shows them in pages', async () => {
  const run = await lab.run({
    steps: [
      call('list', 'list', { n: 700, pad: 200 }),
      {
        id: 'l',
        type: 'loop',
        over: '{{ steps.list.items }}',
        concurrency: 40,
        do: call('a', 'echo', { i: '{{ item.i }}' }, { select: '{{ output.args.i }}' }),
      },
    ],
    output: { value: '{{ steps.l }}', items: '{{ length(results.l.items[?item.i == index]) }}' },
  });
  const all = Array.from({ length: 700 }, (_, i) => i);
  expect(run.output).toEqual({ value: all, items: 700 });
  // Hundreds of calls cost a handful of transitions.
  const entered = (await lab.history(run.runId)).filter(({ type }) => type?.endsWith('StateEntered'));
  expect(entered.length).toBeLessThan(40);
  const items = (await lab.list(run.runId, 'l', 'items')) as JsonObject[];
  expect(items.map((item) => [item.index, item.status, item.value])).toEqual(
    all.map((i) => [i, 'succeeded', i]),
  );
});
