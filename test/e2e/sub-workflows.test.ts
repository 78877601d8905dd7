/** Sub-workflows: value, revision, failure, limits, in every place. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../lib/blueprint/json.ts';
import { CONTINUE, call, expectRun, fails, type Lab, type RunCase, startLab, value } from './lab.ts';

let lab: Lab;
beforeAll(async () => {
  lab = await startLab();
  await lab.save({
    id: 'child',
    params: { n: { type: 'integer', default: 1 }, mark: { type: 'string', default: 'none' } },
    steps: [call('echo', 'echo', { n: '{{ params.n }}', mark: '{{ params.mark }}' })],
    output: { n: '{{ steps.echo.args.n }}', trigger: '{{ run.trigger }}' },
  });
  await lab.save({ id: 'broken', steps: [value('fine', 1), fails('bad')] });
  await lab.save({ id: 'goes-on', ...CONTINUE, steps: [fails('bad')], output: 'went on' });
});
afterAll(() => lab.end());

const sub = (id: string, workflow: string, params: JsonObject = {}, more: JsonObject = {}): JsonObject => ({
  id,
  type: 'call',
  workflow,
  params,
  ...more,
});

const cases: RunCase[] = [
  {
    name: "its value is the child's output, shaped by select; null arguments are left out",
    blueprint: {
      steps: [
        sub('a', 'child', { n: 5 }),
        sub('b', 'child', { n: '{{ `null` }}' }, { select: '{{ output.n }}' }),
        sub('c', 'child', {}, { when: false }),
      ],
      output: [
        '{{ steps.a }}',
        '{{ steps.b }}',
        '{{ steps.c }}',
        '{{ results.a.status }}',
        '{{ results.c.status }}',
      ],
    },
    output: [{ n: 5, trigger: 'workflow' }, 1, null, 'succeeded', 'skipped'],
  },
  {
    name: 'in a loop, a parallel, a pipe, a collect and a while',
    blueprint: {
      steps: [
        {
          id: 'l',
          type: 'loop',
          over: [1, 2, 3],
          concurrency: 3,
          do: [sub('in-l', 'child', { n: '{{ item }}' }), value('then', '{{ steps.in-l.n }}')],
        },
        { id: 'p', type: 'parallel', branches: [sub('in-p', 'child', { n: 4 }), value('side', 0)] },
        { id: 'q', type: 'pipe', steps: [value('five', 5), sub('in-q', 'child', { n: '{{ input }}' })] },
        { id: 'c', type: 'collect', steps: [sub('in-c', 'child', { n: 6 })], select: '{{ output.in-c.n }}' },
        {
          id: 'w',
          type: 'loop',
          while: '{{ output.n < `9` }}',
          max: 5,
          do: [
            {
              id: 'in-w',
              type: 'pipe',
              steps: [
                value('next', '{{ index }}', { select: '{{ index == `0` && `8` || `9` }}' }),
                sub('in-w2', 'child', { n: '{{ input }}' }),
              ],
            },
          ],
        },
      ],
      output: ['{{ steps.l }}', '{{ steps.p[].n }}', '{{ steps.q.n }}', '{{ steps.c }}', '{{ steps.w[].n }}'],
    },
    output: [[1, 2, 3], [4], 5, 6, [8, 9]],
  },
  {
    name: 'a child that failed is SubWorkflowFailed; its run is named',
    blueprint: { steps: [sub('a', 'broken')] },
    status: 'FAILED',
    errors: [
      {
        step: 'a',
        path: 'a',
        kind: 'SubWorkflowFailed',
        message: expect.stringMatching(/[0-9a-f]{32}/) as string,
      },
    ],
  },
  {
    name: 'a child that failed under continue is null, and its readers are skipped; not retried',
    blueprint: {
      errorStrategy: { onStepFailure: 'continue', maxRetries: 2, retryDelayMs: 0 },
      steps: [
        sub('a', 'broken'),
        call('b', 'echo', { x: '{{ steps.a }}' }),
        { id: 'l', type: 'loop', over: [1, 2], do: sub('c', 'broken') },
      ],
      output: ['{{ steps.a }}', '{{ results.b.status }}', '{{ steps.l }}', '{{ results.a.attempts }}'],
    },
    output: [null, 'skipped', [null, null], 1],
    errors: [
      { step: 'a', kind: 'SubWorkflowFailed' },
      { step: 'c', path: 'l/00000/c', index: 0, kind: 'SubWorkflowFailed' },
      { step: 'c', path: 'l/00001/c', index: 1, kind: 'SubWorkflowFailed' },
    ],
  },
  {
    name: 'a child that went on past its failures has succeeded',
    blueprint: { steps: [sub('a', 'goes-on')] },
    output: 'went on',
  },
  {
    name: 'failWhen of a sub-workflow',
    blueprint: {
      ...CONTINUE,
      steps: [sub('a', 'child', { n: 3 }, { failWhen: '{{ output.n == `3` }}' })],
      output: '{{ results.a.error.kind }}',
    },
    output: 'FailedCondition',
    errors: [{ step: 'a', kind: 'FailedCondition' }],
  },
  {
    name: 'arguments that the child does not take: it fails before its first step',
    blueprint: {
      ...CONTINUE,
      params: { n: { type: 'string', default: 'text' } },
      steps: [sub('a', 'child', { n: '{{ params.n }}', mark: 'never' })],
      output: 1,
    },
    output: 1,
    errors: [
      { step: 'a', kind: 'SubWorkflowFailed', message: expect.stringContaining('params/n') as string },
    ],
    calls: [[{ mark: 'never' }, 0]],
  },
];

describe('a sub-workflow', () => {
  it.concurrent.each(cases)('$name', async (given) => {
    await expectRun(lab, given);
  });
});

describe('revisions', () => {
  const version = (text: string) => lab.save({ id: 'versioned', steps: [value('v', text)] });
  it('a child is pinned at saving; @latest floats', async () => {
    await version('old');
    const pinned = { id: 'pinned', steps: [sub('a', 'versioned')] };
    const floating = { id: 'floating', steps: [sub('a', 'versioned@latest')] };
    await lab.save(pinned);
    await lab.save(floating);
    await version('new');
    const outputs = async () =>
      Promise.all(
        ['pinned', 'floating'].map(async (id) => (await lab.call('run_workflow', { id, wait: 50 })).output),
      );
    expect(await outputs()).toEqual(['old', 'new']);
    // Saved again, it is pinned anew: the hash covers what was resolved.
    expect(await lab.call('create_workflow', { blueprint: pinned })).toMatchObject({ revision: 2 });
    expect(await outputs()).toEqual(['new', 'new']);
  });
});

describe('limits', () => {
  it('cycles are refused, also through another', async () => {
    await lab.save({ id: 'cycle-a', steps: [value('v', 1)] });
    await lab.save({ id: 'cycle-b', steps: [sub('a', 'cycle-a@latest')] });
    await expect(lab.save({ id: 'cycle-a', steps: [sub('b', 'cycle-b')] })).rejects.toThrow(/BP502/);
    await expect(lab.save({ id: 'self', steps: [sub('b', 'self')] })).rejects.toThrow(/BP50/);
  });

  it('a depth of ten is allowed, eleven refused', async () => {
    await lab.save({ id: 'depth-0', steps: [value('v', 'bottom')] });
    for (let depth = 1; depth <= 9; depth += 1) {
      await lab.save({ id: `depth-${depth}`, steps: [sub('down', `depth-${depth - 1}`)] });
    }
    const run = await lab.run({ id: 'depth-10', steps: [sub('down', 'depth-9')] });
    expect(run).toMatchObject({ status: 'SUCCEEDED', output: 'bottom' });
    await expect(lab.save({ id: 'depth-11', steps: [sub('down', 'depth-10')] })).rejects.toThrow(/BP503/);
  });

  it("the children's runs can be read, and say whose they are", async () => {
    const run = await lab.run({ steps: [sub('a', 'child', { n: 7 })] });
    const { runs } = await lab.call('list_runs', { workflow: 'child', status: 'SUCCEEDED' });
    const triggers = (runs as JsonObject[]).map(({ trigger }) => trigger);
    expect(new Set(triggers)).toEqual(new Set<Json>(['workflow']));
    expect((await lab.steps(run.runId)).get('a')).toMatchObject({ status: 'succeeded' });
  });
});
