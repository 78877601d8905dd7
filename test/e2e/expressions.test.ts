/** Templates as a tool receives them: types, text, one pass, what is left out, what is data. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../lib/blueprint/json.ts';
import { CONTINUE, call, expectRun, type Lab, type RunCase, startLab, value } from './lab.ts';

let lab: Lab;
beforeAll(async () => {
  lab = await startLab();
});
afterAll(() => lab.end());

const DATA = {
  'a-b': {
    items: [
      { n: 'x', ns: 'one', on: true },
      { n: 'y', ns: 'two', on: false },
      { n: 'z', ns: 'two', on: true },
    ],
  },
  text: 'plain "quoted" é 日本 \u{1f600}',
  number: 1.5,
  yes: true,
  none: null,
  list: [1, 'two', null],
  object: { b: 1, a: [true] },
  empty: '',
};

/** Argument → what the tool gets for it; `undefined`: nothing. */
const sent: [template: Json, got: Json | undefined][] = [
  // A whole template keeps the type.
  ['{{ steps.data.number }}', 1.5],
  ['{{ steps.data.yes }}', true],
  ['{{ steps.data.list }}', [1, 'two', null]],
  ['{{ steps.data.object }}', { b: 1, a: [true] }],
  ['{{steps.data.text}}', DATA.text],
  ['{{ steps.data.none }}', undefined],
  ['{{ steps.data.missing.deeper }}', undefined],
  // In text: strings as they are, numbers and booleans as JSON, the rest as compact JSON.
  ['n={{ steps.data.number }}', 'n=1.5'],
  ['{{ steps.data.yes }}!', 'true!'],
  ['<{{ steps.data.text }}>', `<${DATA.text}>`],
  ['{{ steps.data.list }} and {{ steps.data.object }}', '[1,"two",null] and {"b":1,"a":[true]}'],
  ['[{{ steps.data.empty }}]', '[]'],
  [' {{ steps.data.number }}', ' 1.5'],
  ['{{ steps.data.number }}{{ steps.data.number }}', '1.51.5'],
  // Nested values, and nulls in them.
  [{ deep: ['{{ steps.data.none }}', { x: '{{ steps.data.number }}' }] }, { deep: [null, { x: 1.5 }] }],
  // Where a template ends, and what is none.
  ["{{ '}}' }}", '}}'],
  ['{{ {a: {b: steps.data.number}} }}', { a: { b: 1.5 } }],
  ['\\{{ not }}', '{{ not }}'],
  ['a } b { c }} d', 'a } b { c }} d'],
  ['{% raw %} {# c #} $ {x} <%= y %>', '{% raw %} {# c #} $ {x} <%= y %>'],
  // Hyphens, `.0`, `$`.
  ['{{ steps.data.a-b.items.0.n }}', 'x'],
  ['{{ steps.data.a-b.items[?ns == $.params.ns].n }}', ['y', 'z']],
  ['{{ steps.data.a-b.items[?on && ns == $.params.ns] | [0].n }}', 'z'],
  [
    '{{ steps.data.a-b.items[].{n: n, of: $.params.ns, first: $.steps.data.a-b.items.0.n} | [1] }}',
    { n: 'y', of: 'two', first: 'x' },
  ],
  ["{{ starts_with('/a/b', '/') }}", true],
  ["{{ join(',', steps.data.a-b.items[].n) }}", 'x,y,z'],
  ['{{ sort_by(steps.data.a-b.items, &n)[-1].n }}', 'z'],
  ['{{ $.params.ns }}', 'two'],
  ['{{ run.workflow }}', expect.stringMatching(/^lab-/) as unknown as Json],
];

const cases: RunCase[] = [
  {
    name: 'null in text is an error that names step, place and expression',
    blueprint: {
      ...CONTINUE,
      steps: [
        value('data', DATA),
        call('a', 'echo', { x: 'text {{ steps.data.none }}' }),
        call('b', 'echo', { x: [{ y: 'text {{ params.p }}' }] }),
      ],
      params: { p: { type: 'string', default: null } },
      output: 1,
    },
    output: 1,
    errors: [
      {
        step: 'a',
        kind: 'TemplateError',
        message: expect.stringMatching(/"a".*params\.x.*steps\.data\.none/) as string,
      },
      {
        step: 'b',
        kind: 'TemplateError',
        message: expect.stringMatching(/"b".*params\.x.*params\.p/) as string,
      },
    ],
  },
  {
    name: 'an argument that comes out null is left out; a required one fails naming step, argument and expression',
    blueprint: {
      ...CONTINUE,
      steps: [
        value('data', DATA),
        call('a', 'needs', { must: 'm', may: '{{ steps.data.none }}' }, { select: '{{ output.args }}' }),
        call('b', 'needs', { must: '{{ steps.data.none }}', mark: 'required' }),
      ],
      output: '{{ steps.a }}',
    },
    output: { must: 'm' },
    errors: [
      {
        step: 'b',
        kind: 'InvalidArguments',
        message: expect.stringMatching(/"b".*"must".*steps\.data\.none/) as string,
      },
    ],
    calls: [[{ mark: 'required' }, 0]],
  },
  {
    name: 'one pass: what a tool returned, or a parameter holds, is data',
    blueprint: {
      params: { p: { type: 'string' } },
      steps: [
        call('tool', 'text', { text: '\\{{ params.p }} {% if x %}' }, { parse: 'text' }),
        call('a', 'echo', {
          tool: '{{ steps.tool }}',
          text: 'in {{ steps.tool }}',
          param: '{{ params.p }}',
          both: '{{ params.p }}{{ params.p }}',
        }),
        {
          id: 'l',
          type: 'loop',
          over: ['{{ params.p }}'],
          do: call('b', 'echo', { item: '{{ item }}', text: '<{{ item }}>' }),
        },
      ],
      output: ['{{ steps.a.args }}', '{{ steps.l[0].args }}', '{{ params.p }}'],
    },
    params: { p: '{{ run.id }} {% endraw %}' },
    output: [
      {
        tool: '{{ params.p }} {% if x %}',
        text: 'in {{ params.p }} {% if x %}',
        param: '{{ run.id }} {% endraw %}',
        both: '{{ run.id }} {% endraw %}{{ run.id }} {% endraw %}',
      },
      { item: '{{ run.id }} {% endraw %}', text: '<{{ run.id }} {% endraw %}>' },
      '{{ run.id }} {% endraw %}',
    ],
  },
  {
    name: 'an evaluation that would build too much fails with ResultTooLarge',
    blueprint: {
      ...CONTINUE,
      steps: [
        call('big', 'list', { n: 400, pad: 2500 }, { select: '{{ output.items }}' }),
        call('a', 'size', { value: `{{ [${Array(30).fill('to_string(steps.big)').join(', ')}] }}` }),
        call('b', 'echo', {}, { select: `{{ [${Array(30).fill('to_string($.steps.big)').join(', ')}] }}` }),
      ],
      output: ['{{ results.a.status }}', '{{ results.b.status }}', '{{ length(steps.big) }}'],
    },
    output: ['failed', 'failed', 400],
    errors: [
      { step: 'a', kind: 'ResultTooLarge' },
      { step: 'b', kind: 'ResultTooLarge' },
    ],
  },
  {
    name: 'a function that refuses a type is an error that names the expression',
    blueprint: {
      ...CONTINUE,
      steps: [
        value('data', DATA),
        call('a', 'echo', { x: '{{ length(steps.data.number) }}' }),
        value('b', 1, { when: '{{ length(steps.data.none) }}' }),
      ],
      output: 1,
    },
    output: 1,
    errors: [
      {
        step: 'a',
        kind: 'TemplateError',
        message: expect.stringMatching(/length\(steps\.data\.number\)/) as string,
      },
      {
        step: 'b',
        kind: 'TemplateError',
        message: expect.stringMatching(/"b".*when.*length\(steps\.data\.none\)/) as string,
      },
    ],
  },
];

describe('what a tool gets', () => {
  it('for each kind of template', async () => {
    const args = Object.fromEntries(sent.map(([template], i) => [`a${i}`, template]));
    const run = await lab.run({
      params: { ns: { type: 'string', default: 'two' } },
      steps: [value('data', DATA), call('echo', 'echo', args)],
      output: '{{ steps.echo.args }}',
    });
    const got = run.output as JsonObject;
    expect(sent.map(([template], i) => [template, got[`a${i}`]])).toEqual(sent);
  });

  it.concurrent.each(cases)('$name', async (given) => {
    await expectRun(lab, given);
  });
});

/** Keys that mean something to JavaScript objects. */
const AWKWARD = JSON.parse(
  '{"__proto__":{"polluted":1},"constructor":{"prototype":2},"toString":"t","hasOwnProperty":null,"a.b":1,"":"empty","$":"dollar","日本":"jp"}',
) as JsonObject;

describe('data with awkward keys', () => {
  it('goes through steps, loops, parameters and outputs as it is', async () => {
    const run = await lab.run(
      {
        params: { p: { type: 'object' } },
        steps: [
          call('text', 'text', { text: JSON.stringify(AWKWARD) }, { parse: 'json' }),
          call('echo', 'echo', { x: '{{ steps.text }}', p: '{{ params.p }}' }),
          {
            id: 'l',
            type: 'loop',
            over: '{{ [steps.text, params.p] }}',
            do: call('in', 'echo', { x: '{{ item }}' }, { select: '{{ output.args.x }}' }),
          },
          {
            id: 'm',
            type: 'loop',
            mode: 'map',
            over: '{{ steps.l }}',
            do: call('in2', 'echo', { x: '{{ item }}' }, { select: '{{ output.args.x }}' }),
          },
        ],
        output: {
          echo: '{{ steps.echo.args }}',
          m: '{{ steps.m }}',
          own: '{{ steps.text.__proto__.polluted }}',
          inherited: '{{ [steps.echo.constructor, steps.echo.__proto__, steps.echo.toString] }}',
          keys: '{{ length(keys(steps.text)) }}',
        },
      },
      { p: AWKWARD },
    );
    const text = JSON.stringify(AWKWARD);
    const output = run.output as JsonObject;
    const { x, p } = output.echo as JsonObject;
    expect([x, p, ...(output.m as Json[])].map((each) => JSON.stringify(each))).toEqual([
      text,
      text,
      text,
      text,
    ]);
    expect(output).toMatchObject({ own: 1, inherited: [null, null, null], keys: 8 });
    expect(({} as JsonObject).polluted).toBeUndefined();
  });

  it('may be arguments and output keys, but for __proto__, which is refused there', async () => {
    const run = await lab.run({
      params: { n: { type: 'integer', default: 1 } },
      steps: [call('a', 'echo', { toString: 1, constructor: '{{ params.n }}' })],
      output: { made: '{{ steps.a.args }}', constructor: ['{{ params.n }}'] },
    });
    // Keys stand in the order that the author gave them.
    expect(JSON.stringify(run.output)).toBe('{"made":{"toString":1,"constructor":1},"constructor":[1]}');
    const proto = JSON.parse('{"__proto__":1}') as JsonObject;
    await expect(lab.save({ steps: [call('a', 'echo', { x: proto })] })).rejects.toThrow(/BP104/);
  });
});

describe('large values', () => {
  // Over 8 KiB a value is kept in S3; over 256 KiB no state machine could carry it.
  it.concurrent.each([9_000, 300_000, 3_000_000])(
    'of %i bytes go through steps, items and output',
    async (bytes) => {
      const n = Math.ceil(bytes / 1000);
      const run = await lab.run({
        steps: [
          call('list', 'list', { n, pad: 970 }),
          call('whole', 'size', { value: '{{ steps.list }}' }),
          {
            id: 'p',
            type: 'pipe',
            steps: [
              call('again', 'echo', { value: '{{ steps.list }}' }),
              call('piped', 'size', { value: '{{ input.args.value }}' }),
            ],
          },
          { id: 'l', type: 'loop', over: ['x'], do: call('in', 'size', { value: '{{ steps.again }}' }) },
          {
            id: 'm',
            type: 'loop',
            mode: 'map',
            over: ['x'],
            do: [
              call('in2', 'echo', { value: '{{ steps.list }}' }),
              call('in3', 'size', { value: '{{ steps.in2.args.value }}' }),
            ],
          },
        ],
        output: {
          sizes: '{{ [steps.whole.bytes, steps.piped.bytes, steps.m[0].bytes] }}',
          items: '{{ length(steps.again.args.value.items) }}',
          whole: '{{ steps.list }}',
        },
      });
      expect(run.errors).toEqual([]);
      const { sizes, items, whole } = run.output as { sizes: number[]; items: number; whole: JsonObject };
      const size = JSON.stringify(whole).length;
      expect(size).toBeGreaterThan(bytes);
      expect({ sizes, items }).toEqual({ sizes: [size, size, size], items: n });
      // Nothing of it travels through the machine.
      const events = await lab.history(run.runId);
      expect(Math.max(...events.map((event) => JSON.stringify(event).length))).toBeLessThan(4000);
    },
  );

  it.concurrent('are parameters, too', async () => {
    const rows = Array.from({ length: 3000 }, (_, i) => ({ i, pad: 'y'.repeat(100) }));
    const run = await lab.run(
      {
        params: { rows: { type: 'array' } },
        steps: [call('a', 'size', { value: '{{ params.rows }}' })],
        output: '{{ steps.a.bytes }}',
      },
      { rows },
    );
    expect(run.output).toBe(JSON.stringify(rows).length);
  });
});
