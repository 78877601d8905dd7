/** What a tool's result becomes: `steps.ID` by every `parse`, `results.ID`, `run`, binary parts. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../lib/blueprint/json.ts';
import { PUBLISHED } from '../running-engine.ts';
import { CONTINUE, call, expectRun, fails, type Lab, type RunCase, startLab, value } from './lab.ts';

let lab: Lab;
beforeAll(async () => {
  lab = await startLab({
    servers: { everything: { ...PUBLISHED.everything, args: [...PUBLISHED.everything.args] } },
  });
});
afterAll(() => lab.end());

/** tool, arguments, parse → the step's value; `undefined`: it fails with ParseError. */
type Reading = [tool: string, args: JsonObject, parse: string | undefined, value: Json | undefined];

const text = (given: string, parse: string | undefined, becomes: Json | undefined): Reading => [
  'text',
  { text: given },
  parse,
  becomes,
];

const readings: Reading[] = [
  // Without parse, the first that applies.
  ['both', { text: 'not this', structured: { s: 1 } }, undefined, { s: 1 }],
  ['both', { text: '{"not":"this"}', structured: null }, undefined, null],
  ['both', { text: '[1]', structured: [] }, undefined, []],
  ['both', { text: 'x', structured: false }, undefined, false],
  text('  {"a": [1, null]}\n', undefined, { a: [1, null] }),
  text('[1, 2]', undefined, [1, 2]),
  text('{not json', undefined, '{not json'),
  text('00713', undefined, '00713'),
  text('true', undefined, 'true'),
  text('12', undefined, '12'),
  text('null', undefined, 'null'),
  text('', undefined, ''),
  [
    'blocks',
    { texts: ['a', 'b'] },
    undefined,
    [
      { type: 'text', text: 'a' },
      { type: 'text', text: 'b' },
    ],
  ],
  ['blocks', { texts: [] }, undefined, []],
  // With it, what it says.
  ['both', { text: '{"t":1}', structured: { s: 1 } }, 'structured', { s: 1 }],
  ['both', { text: '{"t":1}', structured: { s: 1 } }, 'json', { t: 1 }],
  ['both', { text: 't: 1', structured: { s: 1 } }, 'yaml', { t: 1 }],
  ['both', { text: 'l1\nl2', structured: { s: 1 } }, 'lines', ['l1', 'l2']],
  ['both', { text: 'plain', structured: { s: 1 } }, 'text', 'plain'],
  ['both', { text: 'plain', structured: { s: 1 } }, 'raw', [{ type: 'text', text: 'plain' }]],
  text('no structure', 'structured', undefined),
  text('12', 'json', 12),
  text('"s"', 'json', 's'),
  text('null', 'json', null),
  text('{bad', 'json', undefined),
  text('', 'json', undefined),
  text('a: 1\nb: [x, y]', 'yaml', { a: 1, b: ['x', 'y'] }),
  text('- 1\n- 2', 'yaml', [1, 2]),
  text('', 'yaml', null),
  text('just words', 'yaml', undefined),
  text('a: [', 'yaml', undefined),
  text(
    [
      'a: &a [x,x,x,x,x,x,x,x,x]',
      ...'bcdefghi'.split('').map((k, i) => `${k}: &${k} [${Array(9).fill(`*${'abcdefgh'[i]}`).join(',')}]`),
    ].join('\n'),
    'yaml',
    undefined,
  ),
  text('one\ntwo\r\nthree\n', 'lines', ['one', 'two', 'three']),
  text('one\n\ntwo', 'lines', ['one', '', 'two']),
  text('', 'lines', []),
  text('{"a":1}', 'text', '{"a":1}'),
  text('{"a":1}', 'raw', [{ type: 'text', text: '{"a":1}' }]),
];

describe('the value of a call', () => {
  const chunks = [readings.slice(0, 20), readings.slice(20)];
  it.concurrent.each(chunks)('is read as `parse` says, readings %#', async (...chunk) => {
    const steps = chunk.map(([tool, args, parse], i) =>
      call(`s${i}`, tool, args, { ...CONTINUE, ...(parse === undefined ? {} : { parse }) }),
    );
    const run = await lab.run({
      steps,
      output: chunk.map((_, i) => ({
        value: `{{ steps.s${i} }}`,
        kind: `{{ results.s${i}.error.kind }}`,
        status: `{{ results.s${i}.status }}`,
      })),
    });
    expect((run.output as Json[]).map((seen, i) => [chunk[i]?.slice(0, 3), seen])).toEqual(
      chunk.map(([tool, args, parse, becomes]) => [
        [tool, args, parse],
        becomes === undefined
          ? { value: null, kind: 'ParseError', status: 'failed' }
          : { value: becomes, kind: null, status: 'succeeded' },
      ]),
    );
  });
});

const results: RunCase[] = [
  {
    name: 'results of a call: how it went, what came, and from where',
    blueprint: {
      steps: [call('a', 'both', { text: 't', structured: { s: 1 } }, { select: '{{ output.s }}' })],
      output: '{{ merge(results.a, {ms: type(results.a.ms)}) }}',
    },
    output: {
      status: 'succeeded',
      error: null,
      attempts: 1,
      ms: 'number',
      content: [{ type: 'text', text: 't' }],
      structured: { s: 1 },
      isError: false,
      server: 'lab',
      tool: 'both',
    },
  },
  {
    name: 'results of a call that failed',
    blueprint: {
      ...CONTINUE,
      steps: [fails('a')],
      output: {
        status: '{{ results.a.status }}',
        isError: '{{ results.a.isError }}',
        content: '{{ results.a.content }}',
        structured: '{{ results.a.structured }}',
        attempts: '{{ results.a.attempts }}',
        error: '{{ results.a.error }}',
      },
    },
    output: {
      status: 'failed',
      isError: true,
      content: [{ type: 'text', text: 'a broke' }],
      structured: null,
      attempts: 1,
      error: {
        step: 'a',
        path: 'a',
        kind: 'ToolError',
        message: 'a broke',
        attempts: 1,
        server: 'lab',
        tool: 'fail',
      },
    },
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
  },
  {
    name: 'results of a call that was skipped',
    blueprint: {
      steps: [value('a', 1, { when: false }), value('end', 1)],
      output: '{{ [results.a.status, results.a.error, results.a.attempts, results.a.content] }}',
    },
    output: ['skipped', null, 0, null],
  },
  {
    name: 'results of a parallel, a pipe and a collect: status, error, attempts, ms',
    blueprint: {
      steps: [
        { id: 'p', type: 'parallel', branches: [value('a', 1)] },
        { id: 'q', type: 'pipe', steps: [value('b', 1)] },
        { id: 'c', type: 'collect', steps: [value('d', 1)] },
      ],
      output: [
        '{{ results.p.status }}',
        '{{ type(results.q.ms) }}',
        '{{ results.c.error }}',
        '{{ type(results.c.attempts) }}',
      ],
    },
    output: ['succeeded', 'number', null, 'number'],
  },
  ...(
    [
      ['a batch', {}],
      ['lanes', { concurrency: 12 }],
      ['a map', { mode: 'map' }],
    ] as const
  ).map(
    ([name, fields]): RunCase => ({
      name: `results of a loop (${name}): counts and every item`,
      blueprint: {
        steps: [
          {
            id: 'l',
            type: 'loop',
            over: ['ok', 'bad', 'none'],
            as: 'key',
            errorStrategy: { onStepFailure: 'continue' },
            do: call(
              'in',
              'fail',
              { key: '{{ key }}', only: ['bad'], times: 99 },
              { when: "{{ key != 'none' }}", select: '{{ output.key }}' },
            ),
            ...fields,
          },
        ],
        output: {
          value: '{{ steps.l }}',
          counts: '{{ [results.l.count, results.l.failed, results.l.skipped] }}',
          status: '{{ results.l.status }}',
          items:
            '{{ results.l.items[].{index: index, item: item, status: status, value: value, error: error.kind} }}',
          error: '{{ results.l.items[1].error }}',
        },
      },
      output: {
        value: ['ok', null, null],
        counts: [3, 1, 1],
        status: 'succeeded',
        items: [
          { index: 0, item: 'ok', status: 'succeeded', value: 'ok', error: null },
          { index: 1, item: 'bad', status: 'failed', value: null, error: 'ToolError' },
          { index: 2, item: 'none', status: 'skipped', value: null, error: null },
        ],
        error: {
          step: 'in',
          path: 'l/00001/in',
          index: 1,
          kind: 'ToolError',
          message: 'it broke',
          attempts: 1,
          server: 'lab',
          tool: 'fail',
        },
      },
      errors: [{ step: 'in', path: 'l/00001/in', index: 1, kind: 'ToolError' }],
    }),
  ),
];

describe('results', () => {
  it.concurrent.each(results)('$name', async (given) => {
    await expectRun(lab, given);
  });

  it.concurrent('`run` tells of the run', async () => {
    const before = Date.now();
    const run = await lab.run({
      ...CONTINUE,
      steps: [fails('a'), call('b', 'echo', { run: '{{ run }}' })],
      output: '{{ steps.b.args.run }}',
    });
    const { id, workflow, revision, trigger, startedAt, date, errors } = run.output as JsonObject;
    expect({ id, revision, trigger }).toEqual({ id: run.runId, revision: 1, trigger: 'call' });
    expect(String(workflow)).toMatch(/^lab-\d+$/);
    expect(Date.parse(String(startedAt))).toBeGreaterThanOrEqual(before - 1);
    expect(date).toBe(String(startedAt).slice(0, 10));
    expect(errors).toEqual(run.errors);
    expect(Object.keys(run.output as JsonObject).sort()).toEqual(
      ['date', 'errors', 'id', 'revision', 'startedAt', 'trigger', 'workflow'].sort(),
    );
  });

  it.concurrent('an image is kept beside the value, which has a reference to it', async () => {
    const run = await lab.run({
      steps: [
        call('a', 'image', {}, { parse: 'raw' }),
        { id: 'b', type: 'call', tool: 'everything/get-tiny-image', parse: 'raw' },
      ],
      output: { a: '{{ steps.a }}', types: '{{ steps.b[].type }}', data: '{{ steps.b[].data }}' },
    });
    const output = run.output as { a: JsonObject[]; types: string[]; data: Json[] };
    expect(output.a[0]).toEqual({ type: 'text', text: 'a pixel' });
    expect(output.a[1]).toMatchObject({ type: 'image', mimeType: 'image/png' });
    expect(JSON.stringify(output)).not.toContain('iVBOR');
    expect(output.types).toEqual(['text', 'image', 'text']);
    expect(output.data).toEqual([]);
  });
});
