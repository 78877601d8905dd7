/** The five step types: their values, what may be read where, `when`, `failWhen`, `select`, `output`. */
import { afterAll, beforeAll, describe, it } from 'vitest';
import { CONTINUE, call, expectRun, fails, type Lab, type RunCase, startLab, value } from './lab.ts';

let lab: Lab;
beforeAll(async () => {
  lab = await startLab();
});
afterAll(() => lab.end());

const lists: RunCase[] = [
  {
    name: 'the output is the last step by default',
    blueprint: { steps: [value('a', 1), value('b', { x: [2] })] },
    output: { x: [2] },
  },
  {
    name: 'the output is null where the last step was skipped',
    blueprint: { steps: [value('a', 1), value('b', 2, { when: false })] },
    output: null,
    steps: { a: 'succeeded', b: 'skipped when' },
  },
  {
    name: 'the output is null where the last step failed and the run went on',
    blueprint: { ...CONTINUE, steps: [value('a', 1), fails('b')] },
    output: null,
    errors: [{ step: 'b', kind: 'ToolError' }],
  },
  {
    name: 'the output is any JSON with templates',
    blueprint: {
      params: { n: { type: 'integer', default: 3 } },
      steps: [value('a', [1, 2])],
      output: {
        list: '{{ steps.a }}',
        deep: [{ n: '{{ params.n }}', text: 'n={{ params.n }}' }],
        fixed: [null, true, 1.5],
      },
    },
    output: { list: [1, 2], deep: [{ n: 3, text: 'n=3' }], fixed: [null, true, 1.5] },
  },
  {
    name: 'an id may have hyphens and underscores',
    blueprint: { steps: [value('a-b_c', 1)], output: '{{ steps.a-b_c }}' },
    output: 1,
  },
];

const conditions: RunCase[] = [
  {
    name: '`when` false gives null, and its readers run',
    blueprint: {
      steps: [value('a', 1, { when: '{{ `false` }}' }), call('b', 'echo', { x: '{{ steps.a }}', y: 2 })],
      output: { a: '{{ steps.a }}', b: '{{ steps.b.args }}', status: '{{ results.a.status }}' },
    },
    output: { a: null, b: { y: 2 }, status: 'skipped' },
  },
  {
    name: "truth is JMESPath's",
    blueprint: {
      steps: [
        value('v', {
          nil: null,
          no: false,
          text: '',
          list: [],
          object: {},
          zero: 0,
          yes: true,
          space: ' ',
          nulls: [null],
        }),
        ...['nil', 'no', 'text', 'list', 'object', 'zero', 'yes', 'space', 'nulls', 'missing'].map((key) =>
          value(key, 1, { when: `{{ steps.v.${key} }}` }),
        ),
      ],
      output: {
        false: [
          '{{ steps.nil }}',
          '{{ steps.no }}',
          '{{ steps.text }}',
          '{{ steps.list }}',
          '{{ steps.object }}',
          '{{ steps.missing }}',
        ],
        true: ['{{ steps.zero }}', '{{ steps.yes }}', '{{ steps.space }}', '{{ steps.nulls }}'],
      },
    },
    output: { false: [null, null, null, null, null, null], true: [1, 1, 1, 1] },
  },
  {
    name: '`when` on each type of step keeps everything in it from running',
    blueprint: {
      steps: [
        { id: 'l', type: 'loop', when: false, over: [1], do: call('in-l', 'echo', { mark: 'unseen' }) },
        {
          id: 'm',
          type: 'loop',
          when: false,
          mode: 'map',
          over: [1],
          do: call('in-m', 'echo', { mark: 'unseen' }),
        },
        {
          id: 'w',
          type: 'loop',
          when: false,
          while: false,
          max: 3,
          do: call('in-w', 'echo', { mark: 'unseen' }),
        },
        {
          id: 'x',
          type: 'loop',
          when: false,
          while: false,
          max: 3,
          mode: 'map',
          do: call('in-x', 'echo', { mark: 'unseen' }),
        },
        {
          id: 'n',
          type: 'loop',
          when: false,
          over: [1],
          concurrency: 25,
          do: call('in-n', 'echo', { mark: 'unseen' }),
        },
        { id: 'p', type: 'parallel', when: false, branches: [call('in-p', 'echo', { mark: 'unseen' })] },
        { id: 'q', type: 'pipe', when: false, steps: [call('in-q', 'echo', { mark: 'unseen' })] },
        { id: 'c', type: 'collect', when: false, steps: [call('in-c', 'echo', { mark: 'unseen' })] },
      ],
      output: {
        values: [
          '{{ steps.l }}',
          '{{ steps.m }}',
          '{{ steps.w }}',
          '{{ steps.x }}',
          '{{ steps.n }}',
          '{{ steps.p }}',
          '{{ steps.q }}',
          '{{ steps.c }}',
        ],
        inner: ['{{ results.in-p.status }}', '{{ results.in-q.status }}', '{{ steps.in-c }}'],
      },
    },
    output: { values: [null, null, null, null, null, null, null, null], inner: ['skipped', 'skipped', null] },
    calls: [[{ mark: 'unseen' }, 0]],
  },
  {
    name: '`failWhen` sees the value after `select`, and makes any type of step fail',
    blueprint: {
      ...CONTINUE,
      steps: [
        value('a', { n: 5 }, { select: '{{ output.n }}', failWhen: '{{ output == `5` }}' }),
        value('b', { n: 5 }, { failWhen: '{{ output == `5` }}' }),
        {
          id: 'l',
          type: 'loop',
          over: [1, 2],
          do: value('in-l', '{{ item }}'),
          failWhen: '{{ output[1] == `2` }}',
        },
        {
          id: 'm',
          type: 'loop',
          mode: 'map',
          over: [1, 2],
          do: value('in-m', '{{ item }}'),
          failWhen: '{{ output[1] == `2` }}',
        },
        { id: 'p', type: 'parallel', branches: [value('in-p', 1)], failWhen: '{{ output[0] == `1` }}' },
        { id: 'q', type: 'pipe', steps: [value('in-q', 1)], failWhen: '{{ output == `1` }}' },
        { id: 'c', type: 'collect', steps: [value('in-c', 1)], failWhen: '{{ output.in-c == `1` }}' },
        value('d', 1, { failWhen: '{{ `[]` }}' }),
      ],
      output: [
        '{{ results.a.status }}',
        '{{ results.b.status }}',
        '{{ results.l.status }}',
        '{{ results.m.status }}',
        '{{ results.p.status }}',
        '{{ results.q.status }}',
        '{{ results.c.status }}',
        '{{ results.d.status }}',
      ],
    },
    output: ['failed', 'succeeded', 'failed', 'failed', 'failed', 'failed', 'failed', 'succeeded'],
    errors: [
      { step: 'a', kind: 'FailedCondition', server: 'lab', tool: 'value' },
      { step: 'l', kind: 'FailedCondition' },
      { step: 'm', kind: 'FailedCondition' },
      { step: 'p', kind: 'FailedCondition' },
      { step: 'q', kind: 'FailedCondition' },
      { step: 'c', kind: 'FailedCondition' },
    ],
  },
  {
    name: '`select` shapes with the value and everything that the step may read',
    blueprint: {
      params: { p: { type: 'string', default: 'P' } },
      steps: [
        value('before', 'B'),
        value(
          'a',
          { n: 1 },
          {
            select: {
              n: '{{ output.n }}',
              p: '{{ params.p }}',
              b: '{{ steps.before }}',
              t: 'x{{ output.n }}',
            },
          },
        ),
        {
          id: 'l',
          type: 'loop',
          over: ['i', 'j'],
          as: 'it',
          do: value('in', 7, { select: ['{{ it }}', '{{ index }}', '{{ output }}'] }),
        },
        {
          id: 'c',
          type: 'collect',
          steps: [value('c1', 1), value('c2', 2)],
          select: '{{ [output.c2, output.c1, steps.c1] }}',
        },
      ],
      output: ['{{ steps.a }}', '{{ steps.l }}', '{{ steps.c }}'],
    },
    output: [
      { n: 1, p: 'P', b: 'B', t: 'x1' },
      [
        ['i', 0, 7],
        ['j', 1, 7],
      ],
      [2, 1, 1],
    ],
  },
];

const containers: RunCase[] = [
  {
    name: 'parallel: one value a branch, and what is in it is read afterwards',
    blueprint: {
      steps: [
        {
          id: 'p',
          type: 'parallel',
          branches: [
            value('a', 1),
            [value('b', 2), value('c', '{{ [steps.b] }}')],
            { id: 'q', type: 'pipe', steps: [value('d', 3)] },
          ],
        },
      ],
      output: {
        p: '{{ steps.p }}',
        inner: ['{{ steps.a }}', '{{ steps.b }}', '{{ steps.c }}', '{{ steps.q }}', '{{ steps.d }}'],
      },
    },
    output: { p: [1, [2], 3], inner: [1, 2, [2], 3, 3] },
  },
  {
    name: 'parallel: branches run at the same time',
    blueprint: {
      steps: [
        {
          id: 'p',
          type: 'parallel',
          branches: Array.from({ length: 12 }, (_, i) =>
            call(`b${i}`, 'meet', { party: 'branches', size: 12 }),
          ),
        },
      ],
      output: '{{ length(steps.p) }}',
    },
    output: 12,
  },
  {
    name: 'pipe: `input` is the value before, of whatever type of step',
    blueprint: {
      steps: [
        {
          id: 'q',
          type: 'pipe',
          steps: [
            value('a', [3, 1, 2]),
            value('b', '{{ sort(input) }}'),
            { id: 'c', type: 'loop', over: '{{ input }}', do: value('in-c', '{{ [item] }}') },
            { id: 'd', type: 'collect', steps: [value('e', '{{ input }}')] },
            {
              id: 'f',
              type: 'parallel',
              branches: [value('g', '{{ input.e }}'), value('h', '{{ input.e[0] }}')],
            },
          ],
        },
      ],
      output: '{{ steps.q }}',
    },
    output: [[[1], [2], [3]], [1]],
  },
  {
    name: 'collect: each value by its id, skipped ones null',
    blueprint: {
      steps: [
        {
          id: 'c',
          type: 'collect',
          steps: [
            value('a', 1),
            value('b', 2, { when: false }),
            { id: 'q', type: 'pipe', steps: [value('d', 3)] },
          ],
        },
      ],
      output: { c: '{{ steps.c }}', d: '{{ steps.d }}' },
    },
    output: { c: { a: 1, b: null, q: 3 }, d: 3 },
  },
];

describe.each([
  ['lists and output', lists],
  ['conditions', conditions],
  ['containers', containers],
])('%s', (_, cases) => {
  it.concurrent.each(cases)('$name', async (given) => {
    await expectRun(lab, given);
  });
});
