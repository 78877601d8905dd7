/** Time limits of steps, containers and runs; budgets; what the state machine waits for and sends again. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../lib/blueprint/json.ts';
import { CONTINUE, call, expectRun, type Lab, type RunCase, startLab, until, value } from './lab.ts';

const hold = (id: string, more: JsonObject = {}) => call(id, 'hold', { key: `never ${id}` }, more);

describe('time', () => {
  let lab: Lab;
  beforeAll(async () => {
    lab = await startLab({ twin: { timeoutMs: 300 } });
    await lab.save({ id: 'holding', steps: [hold('a')] });
  });
  afterAll(() => lab.end());

  const LIMIT = { timeoutSeconds: 1 };
  /** Each type of container, that ends at its limit because of the call in it. */
  const limited = (prefix: string): JsonObject[] => {
    const body = (n: number) => [
      hold(`${prefix}-a${n}`),
      call(`${prefix}-z${n}`, 'echo', { mark: `too late ${prefix}` }),
    ];
    const id = (name: string) => `${prefix}-${name}`;
    return [
      { id: id('pipe'), type: 'pipe', ...LIMIT, steps: body(1) },
      { id: id('collect'), type: 'collect', ...LIMIT, steps: body(2) },
      { id: id('parallel'), type: 'parallel', ...LIMIT, branches: [body(3)] },
      { id: id('batch'), type: 'loop', ...LIMIT, over: [1, 2], as: 'x', do: body(4) },
      { id: id('lanes'), type: 'loop', ...LIMIT, over: [1, 2], as: 'y', concurrency: 11, do: body(5) },
      { id: id('while'), type: 'loop', ...LIMIT, while: true, max: 3, do: body(6) },
      ...(prefix === 'walked'
        ? []
        : [
            { id: id('map'), type: 'loop', ...LIMIT, mode: 'map', over: [1, 2], do: body(7) },
            { id: id('passes'), type: 'loop', ...LIMIT, mode: 'map', while: true, max: 3, do: body(8) },
          ]),
    ];
  };
  const toldOf = (steps: readonly JsonObject[]) =>
    Object.fromEntries(
      steps.map(({ id }) => [
        String(id),
        [`{{ results.${String(id)}.status }}`, `{{ results.${String(id)}.error.kind }}`],
      ]),
    );
  const failedOf = (steps: readonly JsonObject[]) =>
    Object.fromEntries(steps.map(({ id }) => [String(id), ['failed', 'LimitExceeded']]));

  it.concurrent('a container past its limit fails with LimitExceeded, whatever its type and strategy, and starts nothing more', async () => {
    const steps = limited('state');
    const run = await lab.run({
      ...CONTINUE,
      steps: [{ id: 'all', type: 'parallel', branches: steps }, value('after', 1)],
      output: toldOf(steps),
    });
    expect(run).toMatchObject({ status: 'SUCCEEDED', output: failedOf(steps) });
    expect(lab.calls({ mark: 'too late state' })).toEqual([]);
  });

  it.concurrent('and so does one that is walked as a part of an item', async () => {
    const steps = limited('walked');
    const run = await lab.run({
      ...CONTINUE,
      steps: [
        {
          id: 'l',
          type: 'loop',
          over: [0],
          do: [
            { id: 'all', type: 'parallel', branches: steps.map((step) => step) },
            value('told', 1, { select: toldOf(steps) }),
          ],
        },
      ],
      output: '{{ steps.l[0] }}',
    });
    expect(run).toMatchObject({ status: 'SUCCEEDED', output: failedOf(steps) });
    expect(lab.calls({ mark: 'too late walked' })).toEqual([]);
  });

  const cases: RunCase[] = [
    {
      name: 'a call that may be repeated is ToolTimeout, one that may not OutcomeUnknown, and with retryUnknown ToolTimeout',
      blueprint: {
        ...CONTINUE,
        steps: [
          {
            id: 'p',
            type: 'parallel',
            branches: [
              hold('a', LIMIT),
              call('b', 'hang', {}, LIMIT),
              call('c', 'hang', {}, { ...LIMIT, retryUnknown: true }),
            ],
          },
        ],
        output: 'went on',
      },
      output: 'went on',
      errors: [
        { step: 'a', kind: 'ToolTimeout', attempts: 1 },
        { step: 'b', kind: 'OutcomeUnknown', attempts: 1 },
        { step: 'c', kind: 'ToolTimeout', attempts: 1 },
      ],
    },
    {
      name: 'a ToolTimeout is retried where the blueprint says so; an OutcomeUnknown never',
      blueprint: {
        errorStrategy: { onStepFailure: 'continue', maxRetries: 1, retryDelayMs: 0 },
        steps: [
          {
            id: 'p',
            type: 'parallel',
            branches: [
              { id: 'a', type: 'call', tool: 'twin/hold', params: { key: 'k', mark: 'held' } },
              { id: 'b', type: 'call', tool: 'twin/hang', params: { mark: 'hung' } },
              // Its own limit is over all its attempts.
              call('c', 'hold', { key: 'c', mark: 'limited' }, LIMIT),
            ],
          },
        ],
        output: 1,
      },
      output: 1,
      errors: [
        { step: 'a', kind: 'ToolTimeout', attempts: 2 },
        { step: 'b', kind: 'OutcomeUnknown', attempts: 1 },
        { step: 'c', kind: 'ToolTimeout', attempts: 1 },
      ],
      calls: [
        [{ mark: 'held' }, 2],
        [{ mark: 'limited' }, 1],
        [{ mark: 'hung' }, 1],
      ],
    },
    {
      name: 'a run past its limit is TIMED_OUT',
      blueprint: { ...LIMIT, steps: [hold('a'), call('b', 'echo', { mark: 'after the run' })] },
      status: 'TIMED_OUT',
      errors: [{ step: 'a' }],
      calls: [[{ mark: 'after the run' }, 0]],
    },
  ];
  it.concurrent.each(cases)('$name', async (given) => {
    await expectRun(lab, given);
  });

  it.concurrent('a run past its limit ends with its sub-workflow', async () => {
    const child = { id: 'c', type: 'call', workflow: 'holding' };
    const run = await lab.run({ ...LIMIT, steps: [{ id: 'l', type: 'loop', over: [1], do: child }] });
    expect(run.status).toBe('TIMED_OUT');
    await until(async () => {
      const { runs } = await lab.call('list_runs', { workflow: 'holding' });
      return (runs as JsonObject[]).every(({ status }) => status !== 'RUNNING');
    });
  });
});

describe('a run that is cancelled', () => {
  let lab: Lab;
  beforeAll(async () => {
    lab = await startLab();
    await lab.save({
      id: 'held-child',
      steps: [call('c', 'hold', { key: 'c', mark: 'cancelled' }), call('z', 'echo', { mark: 'after' })],
    });
  });
  afterAll(() => lab.end());

  it('ends in every loop, branch and sub-workflow, and starts nothing more', async () => {
    const held = (id: string) => [
      call(id, 'hold', { key: id, mark: 'cancelled' }),
      call(`${id}-z`, 'echo', { mark: 'after' }),
    ];
    const runId = await lab.start({
      ...CONTINUE,
      steps: [
        {
          id: 'p',
          type: 'parallel',
          branches: [
            held('a'),
            { id: 'batch', type: 'loop', over: [1, 2], do: held('b') },
            { id: 'map', type: 'loop', mode: 'map', over: [1, 2], do: held('m') },
            { id: 'child', type: 'call', workflow: 'held-child' },
          ],
        },
        call('after', 'echo', { mark: 'after' }),
      ],
    });
    await until(async () => lab.calls({ mark: 'cancelled' }).length === 4);
    expect(await lab.call('cancel_run', { runId })).toMatchObject({ status: 'CANCELLED' });
    await until(async () => (await lab.describe(runId)).status === 'ABORTED');
    await until(async () => {
      const { runs } = await lab.call('list_runs', { workflow: 'held-child' });
      return (runs as JsonObject[]).every(({ status }) => status === 'CANCELLED');
    });
    expect(await lab.ended(runId)).toMatchObject({ status: 'CANCELLED', output: undefined });
    expect(lab.calls({ mark: 'after' })).toEqual([]);
    expect((await lab.steps(runId)).get('after')).toBeUndefined();
  });
});

describe('budgets of a root run', () => {
  let lab: Lab;
  beforeAll(async () => {
    lab = await startLab({ limits: { maxAttempts: 25, maxSubRuns: 2, maxDepth: 2 } });
    await lab.save({
      id: 'child',
      params: { mark: { type: 'string' } },
      steps: [call('a', 'record', { mark: '{{ params.mark }}' })],
    });
    await lab.save({
      id: 'parent',
      params: { mark: { type: 'string' } },
      steps: [{ id: 'a', type: 'call', workflow: 'child', params: { mark: '{{ params.mark }}' } }],
    });
    await lab.save({
      id: 'grandparent',
      params: { mark: { type: 'string' } },
      steps: [{ id: 'a', type: 'call', workflow: 'parent', params: { mark: '{{ params.mark }}' } }],
    });
  });
  afterAll(() => lab.end());

  it.concurrent.each<[string, JsonObject]>([
    ['one at a time', {}],
    ['8 at once', { concurrency: 8 }],
    ['lanes', { concurrency: 20 }],
    ['map', { mode: 'map' }],
  ])('no call beyond it is made: %s', async (name, fields) => {
    const run = await lab.run({
      steps: [
        {
          id: 'l',
          type: 'loop',
          over: Array.from({ length: 40 }, (_, i) => i),
          ...fields,
          do: call('a', 'record', { mark: `budget ${name}` }),
        },
      ],
    });
    expect(run).toMatchObject({ status: 'FAILED' });
    expect(run.errors.map(({ kind }) => kind)).toContain('LimitExceeded');
    const made = lab.calls({ mark: `budget ${name}` }).length;
    expect(made).toBeLessThanOrEqual(25);
    // Calls are counted a window at a time before any of it is made, so the last window may not be made at all.
    expect(made).toBeGreaterThan(0);
  });

  it.concurrent('retries count', async () => {
    const run = await lab.run({
      errorStrategy: { onStepFailure: 'continue', maxRetries: 9, retryDelayMs: 0 },
      steps: [
        { id: 'l', type: 'loop', over: [0, 1, 2, 3], do: call('a', 'fail', { mark: 'budget of retries' }) },
      ],
    });
    expect(run.errors.map(({ kind }) => kind)).toContain('LimitExceeded');
    expect(lab.calls({ mark: 'budget of retries' }).length).toBe(25);
  });

  it.concurrent('sub-workflows count, and their calls count too', async () => {
    const child = { id: 'c', type: 'call', workflow: 'child', params: { mark: 'sub-runs' } };
    const run = await lab.run({ steps: [{ id: 'l', type: 'loop', over: [1, 2, 3, 4], do: child }] });
    expect(run).toMatchObject({ status: 'FAILED', errors: [{ step: 'c', index: 2, kind: 'LimitExceeded' }] });
    expect(lab.calls({ mark: 'sub-runs' }).length).toBe(2);
  });

  it.concurrent('depth', async () => {
    const run = await lab.run({
      steps: [{ id: 'a', type: 'call', workflow: 'grandparent', params: { mark: 'depth' } }],
    });
    expect(run.status).toBe('FAILED');
    expect(JSON.stringify(run.errors)).toMatch(/LimitExceeded/);
    expect(lab.calls({ mark: 'depth' }).length).toBe(0);
  });
});

describe('a function whose time is short', () => {
  let lab: Lab;
  beforeAll(async () => {
    // Of its 900 seconds all but two are kept for answering.
    lab = await startLab({ limits: { marginMs: 898_000 } });
  });
  afterAll(() => lab.end());

  const entered = async (runId: string) =>
    (await lab.history(runId)).flatMap((event) => event.stateEnteredEventDetails?.name ?? []);

  it.concurrent('a retry whose delay does not fit is waited for by the machine, also in items', async () => {
    const strategy = { onStepFailure: 'retry', maxRetries: 1, retryDelayMs: 1500, jitter: false };
    const flaky = (id: string, key = id) =>
      call(id, 'fail', { key, times: 1 }, { select: '{{ output.made }}' });
    const run = await lab.run({
      errorStrategy: strategy,
      steps: [
        {
          id: 'p',
          type: 'parallel',
          branches: [
            flaky('call'),
            {
              id: 'batch',
              type: 'loop',
              over: [1, 2],
              concurrency: 2,
              do: flaky('in-batch', 'in-batch-{{ item }}'),
            },
            {
              id: 'map',
              type: 'loop',
              over: [1, 2],
              concurrency: 2,
              mode: 'map',
              do: flaky('in-map', 'in-map-{{ item }}'),
            },
            {
              id: 'lanes',
              type: 'loop',
              over: [1, 2],
              concurrency: 11,
              do: flaky('in-lanes', 'in-lanes-{{ item }}'),
            },
            { id: 'while', type: 'loop', while: '{{ index < `0` }}', max: 2, do: flaky('in-while') },
          ],
        },
      ],
      output: { p: '{{ steps.p }}', attempts: '{{ results.call.attempts }}' },
    });
    expect(run).toMatchObject({
      status: 'SUCCEEDED',
      errors: [],
      output: { p: [2, [2, 2], [2, 2], [2, 2], [2]], attempts: 2 },
    });
    const names = await entered(run.runId);
    for (const id of ['call', 'batch', 'in-map', 'lanes lane', 'while'])
      expect(names).toContain(`${id} wait`);
  });

  it.concurrent('a loop that does not end in its time is sent again, and makes no call twice', async () => {
    const run = await lab.run({
      steps: [
        {
          id: 'l',
          type: 'loop',
          over: [0, 1, 2, 3, 4],
          do: call(
            'a',
            'record',
            { key: '{{ item }}', mark: 'sent again' },
            { select: '{{ output.recorded }}' },
          ),
        },
        {
          id: 'w',
          type: 'loop',
          while: '{{ index < `3` }}',
          max: 9,
          do: call(
            'b',
            'record',
            { key: '{{ index }}', mark: 'passed again' },
            { select: '{{ output.recorded }}' },
          ),
        },
        {
          id: 'k',
          type: 'loop',
          over: [0, 1, 2],
          concurrency: 12,
          do: [
            call('c', 'record', { mark: 'lane again' }),
            call('d', 'record', { mark: 'lane again' }, { select: '{{ item }}' }),
          ],
        },
      ],
      output: ['{{ steps.l }}', '{{ steps.w }}', '{{ steps.k }}'],
    });
    expect(run).toMatchObject({
      status: 'SUCCEEDED',
      output: [
        [0, 1, 2, 3, 4],
        [0, 1, 2, 3],
        [0, 1, 2],
      ],
    });
    expect([
      lab.calls({ mark: 'sent again' }).length,
      lab.calls({ mark: 'passed again' }).length,
      lab.calls({ mark: 'lane again' }).length,
    ]).toEqual([5, 4, 6]);
    const names = await entered(run.runId);
    expect(names.filter((name) => name === 'l').length).toBeGreaterThan(1);
    expect(names.filter((name) => name === 'w').length).toBeGreaterThan(1);
  });
});
