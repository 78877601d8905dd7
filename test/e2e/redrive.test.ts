/** Redriving a failed execution: what succeeded is replayed, what failed runs anew, nothing is made twice. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../lib/blueprint/json.ts';
import { call, type Lab, type Outcome, startLab, until, value } from './lab.ts';

let lab: Lab;
beforeAll(async () => {
  lab = await startLab();
});
afterAll(() => lab.end());

/** Redrives, and waits until the execution has ended again. */
async function redriven(runId: string): Promise<Outcome> {
  await lab.redrive(runId);
  return lab.executed(runId);
}

/** A call that is recorded; made once, whatever happens around it. */
const once = (id: string, mark: string, more: JsonObject = {}) =>
  call(id, 'record', { mark, key: id, ...more }, { select: id.includes('_') ? '{{ item }}' : id });
/** A call that fails the first time it is made for its key. */
const flaky = (id: string, mark: string, key: string = id) =>
  call(id, 'fail', { mark, key: `${mark} ${key}`, times: 1 }, { select: '{{ output.made }}' });

interface Case {
  name: string;
  steps(mark: string): JsonObject[];
  output?: Json;
  /** Calls of `record` in both executions together. */
  records: number;
  /** Calls of `fail`. */
  failing: number;
}

const items = (mark: string, fields: JsonObject): JsonObject[] => [
  once('before', mark),
  value('list', [0, 1, 2, 3]),
  {
    id: 'l',
    type: 'loop',
    over: '{{ steps.list }}',
    ...fields,
    do: [
      once('in_item', mark),
      call(
        'f',
        'fail',
        { mark, key: `${mark} {{ item }}`, times: 1, only: [`${mark} 2`] },
        { select: '{{ item }}' },
      ),
      once('last_item', mark),
    ],
  },
  once('after', mark),
];

const cases: Case[] = [
  {
    name: 'a call in a list',
    steps: (m) => [once('a', m), flaky('f', m), once('b', m)],
    records: 2,
    failing: 2,
    output: 'b',
  },
  {
    name: 'a branch: the parallel is entered again, its other branches replay',
    steps: (m) => [
      {
        id: 'p',
        type: 'parallel',
        branches: [once('a', m), [once('b', m), flaky('f', m), once('c', m)], [flaky('g', m), once('d', m)]],
      },
    ],
    records: 4,
    failing: 4,
    output: ['a', 'c', 'd'],
  },
  {
    name: 'a pipe and a collect',
    steps: (m): JsonObject[] => [
      { id: 'q', type: 'pipe', timeoutSeconds: 60, steps: [once('a', m), flaky('f', m), once('b', m)] },
      { id: 'c', type: 'collect', steps: [once('d', m), flaky('g', m)] },
    ],
    records: 3,
    failing: 4,
    output: { d: 'd', g: 2 },
  },
  { name: 'an item of a batch', steps: (m) => items(m, {}), records: 10, failing: 5, output: 'after' },
  {
    name: 'an item of a batch, 3 at once',
    steps: (m) => items(m, { concurrency: 3 }),
    records: 10,
    failing: 5,
    output: 'after',
  },
  {
    name: 'an item in a lane',
    steps: (m) => items(m, { concurrency: 12 }),
    records: 10,
    failing: 5,
    output: 'after',
  },
  {
    name: 'an item of an inline map',
    steps: (m) => items(m, { mode: 'map', maxItems: 4 }),
    records: 10,
    failing: 5,
    output: 'after',
  },
  {
    name: 'an item of an inline map, 3 at once',
    steps: (m) => items(m, { mode: 'map', maxItems: 4, concurrency: 3 }),
    records: 10,
    failing: 5,
    output: 'after',
  },
  {
    name: 'an item of a distributed map',
    steps: (m) => items(m, { mode: 'map', concurrency: 2 }),
    records: 10,
    failing: 5,
    output: 'after',
  },
  ...['batch', 'map'].map(
    (mode): Case => ({
      name: `a pass (${mode})`,
      steps: (m) => [
        {
          id: 'w',
          type: 'loop',
          mode,
          while: '{{ index < `2` }}',
          max: 5,
          do: [
            once('a', m),
            call('f', 'fail', { mark: m, key: `${m} {{ index }}`, times: 1, only: [`${m} 1`] }),
            value('v', '{{ [index, input] }}'),
          ],
        },
      ],
      records: 3,
      failing: 4,
      output: [
        [0, null],
        [1, [0, null]],
        [2, [1, [0, null]]],
      ],
    }),
  ),
  {
    name: 'a branch in a map in a branch',
    steps: (m) => [
      {
        id: 'p',
        type: 'parallel',
        branches: [
          once('side', m),
          {
            id: 'l',
            type: 'loop',
            mode: 'map',
            over: [0, 1],
            do: { id: 'inner', type: 'parallel', branches: [once('a', m), flaky('f', m, 'f{{ item }}')] },
          },
        ],
      },
    ],
    records: 3,
    failing: 4,
    output: [
      'side',
      [
        ['a', 2],
        ['a', 2],
      ],
    ],
  },
  ...([{}, { concurrency: 11 }] as JsonObject[]).map(
    (fields): Case => ({
      name: `an item of a loop inside an item of a loop, ${JSON.stringify(fields)}`,
      steps: (m) => [
        {
          id: 'l',
          type: 'loop',
          over: ['x'],
          as: 'outer',
          ...fields,
          do: {
            id: 'inner',
            type: 'loop',
            over: [0, 1, 2, 3],
            do: call('f', 'fail', { mark: m, key: `${m} {{ item }}`, times: 1 }, { select: '{{ item }}' }),
          },
        },
      ],
      // Each once more than it has to, and no other for it.
      records: 0,
      failing: 8,
      output: [[0, 1, 2, 3]],
    }),
  ),
  {
    name: 'after a step whose failure the run went past, which stays as it is',
    steps: (m) => [
      call('past', 'fail', { mark: `${m} past`, key: 'x' }, { errorStrategy: { onStepFailure: 'continue' } }),
      flaky('f', m),
      value('s', 1, { select: '{{ results.past.status }}' }),
    ],
    records: 0,
    failing: 2,
    output: 'failed',
  },
];

describe('a redrive', () => {
  it.concurrent.each(cases)('goes on with $name', async ({ name, steps, output, records, failing }) => {
    const mark = `redrive ${name}`;
    const first = await lab.run({ steps: steps(mark) });
    expect(first).toMatchObject({ status: 'FAILED', output: undefined });
    // One redrive is enough for all that failed side by side; a list has its failures one after the other.
    let last = await redriven(first.runId);
    for (let i = 0; i < 4 && last.status === 'FAILED'; i += 1) last = await redriven(first.runId);
    expect(last).toMatchObject({ runId: first.runId, status: 'SUCCEEDED', output });
    const calls = lab.calls({ mark });
    expect({
      records: calls.filter(({ tool }) => tool === 'record').length,
      failing: calls.filter(({ tool }) => tool === 'fail').length,
    }).toEqual({ records, failing });
    const { status, redriveCount } = await lab.describe(first.runId);
    expect({ status, again: (redriveCount ?? 0) > 0 }).toEqual({ status: 'SUCCEEDED', again: true });
  });

  it.concurrent('shows the run as running, then with what it came to; its old errors are gone', async () => {
    const mark = 'reopened';
    const first = await lab.run({ steps: [flaky('f', mark), call('h', 'hold', { key: mark })] });
    expect(first.errors).toMatchObject([{ step: 'f' }]);
    await lab.redrive(first.runId);
    await until(async () => {
      const { value } = await lab.call('call_tool', { tool: 'lab/release', params: { key: mark } });
      return (value as JsonObject).released === true;
    });
    expect(await lab.executed(first.runId)).toMatchObject({
      status: 'SUCCEEDED',
      errors: [],
      output: { held: mark },
    });
    expect((await lab.steps(first.runId)).get('f')).toMatchObject({ status: 'succeeded' });
  });

  it.concurrent('of a failed child redrives it, and starts no other', async () => {
    const mark = 'child redriven';
    const child = await lab.save({
      id: 'flaky-child',
      steps: [once('a', mark), flaky('f', mark), once('b', mark)],
    });
    const first = await lab.run({ steps: [{ id: 'c', type: 'call', workflow: child }] });
    expect(first).toMatchObject({ status: 'FAILED', errors: [{ step: 'c', kind: 'SubWorkflowFailed' }] });
    expect(await redriven(first.runId)).toMatchObject({ status: 'SUCCEEDED', output: 'b' });
    expect(lab.calls({ mark }).map(({ tool }) => tool)).toEqual(['record', 'fail', 'fail', 'record']);
    const { runs } = await lab.call('list_runs', { workflow: child });
    expect(runs).toMatchObject([{ status: 'SUCCEEDED' }]);
  });

  it.concurrent.each<[string, JsonObject, number]>([
    ['stays where the call may not be repeated', {}, 1],
    ['is made again with retryUnknown', { retryUnknown: true }, 2],
  ])('of an unknown outcome: it %s', async (name, fields, times) => {
    const mark = `unknown ${name}`;
    const first = await lab.run({ steps: [call('a', 'hang', { mark }, { timeoutSeconds: 1, ...fields })] });
    expect(first.status).toBe('FAILED');
    const last = await redriven(first.runId);
    expect(last.errors).toMatchObject([
      { step: 'a', kind: fields.retryUnknown === true ? 'ToolTimeout' : 'OutcomeUnknown' },
    ]);
    expect(lab.calls({ mark }).length).toBe(times);
  });
});
