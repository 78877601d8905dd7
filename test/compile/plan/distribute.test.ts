/** Which maps are distributed, and what no distribution can make fit. */
import { describe, expect, it } from 'vitest';
import type { Blueprint, Step } from '../../../lib/blueprint/types.ts';
import { innerLists, type PlannedStep } from '../../../lib/compile/plan/plan.ts';
import { compileBlueprint, planBlueprint } from '../compile-blueprint.ts';

const call = (id: string, more: Partial<Step> = {}): Step =>
  ({ id, type: 'call', tool: 't', ...more }) as Step;
const loop = (id: string, more: Partial<Step>, body: Step | Step[] = call(`${id}-x`)): Step =>
  ({ id, type: 'loop', mode: 'map', over: '{{ params.list }}', as: `item-${id}`, do: body, ...more }) as Step;
const blueprint = (steps: Step[], timeoutSeconds = 3600): Blueprint => ({
  id: 'wide',
  params: { list: { type: 'array' } },
  timeoutSeconds,
  steps,
});

function distributedIn(steps: readonly PlannedStep[]): string[] {
  return steps.flatMap((step) => [
    ...('distributed' in step && step.distributed ? [step.id] : []),
    ...innerLists(step).flatMap((list) => distributedIn(list)),
  ]);
}

const twoLoops = (outer: number, inner: number) => [
  loop('outer', { maxItems: outer }, loop('inner', { maxItems: inner })),
];

describe('which maps are distributed', () => {
  it.each<[string, Step[], string[]]>([
    ['a loop without a bound', [loop('l', {})], ['l']],
    ['a bound that fits', [loop('l', { maxItems: 2000 })], []],
    ['a bound that does not', [loop('l', { maxItems: 3000 })], ['l']],
    ['a literal list', [loop('l', { over: [1, 2, 3] } as Partial<Step>)], []],
    ['more than 40 at once', [loop('l', { over: [1, 2], concurrency: 41 } as Partial<Step>)], ['l']],
    [
      'two that do not fit together: the larger',
      [loop('a', { maxItems: 1000 }), loop('b', { maxItems: 2000 })],
      ['b'],
    ],
    ['the outer of two: the inner fits into each child', twoLoops(200, 500), ['outer']],
    ['both, where the inner does not fit into a child', twoLoops(200, 50_000), ['outer', 'inner']],
    ['neither, where the product fits', twoLoops(20, 50), []],
    [
      'a loop in a branch and one in a while count too',
      [
        { id: 'p', type: 'parallel', branches: [loop('in-p', { maxItems: 1500 }), call('y')] },
        {
          id: 'w',
          type: 'loop',
          while: '{{ output }}',
          max: 100,
          mode: 'map',
          do: loop('in-w', { maxItems: 20 }),
        },
      ],
      ['in-w'],
    ],
  ])('%s', (_, steps, expected) => {
    const plan = planBlueprint(blueprint(steps));
    expect(distributedIn(plan.steps)).toEqual(expected);
    expect(plan.diagnostics).toEqual([]);
  });

  it('keeps lanes inline in a run of an hour, and distributes them where a day of `more` would fill the history', () => {
    const lanes: Step = { id: 'l', type: 'loop', over: '{{ params.list }}', concurrency: 100, do: call('x') };
    expect(distributedIn(planBlueprint(blueprint([lanes])).steps)).toEqual([]);
    const day = blueprint([{ ...lanes, concurrency: 400 }], 86_400);
    expect(distributedIn(planBlueprint(day).steps)).toEqual(['l']);
  });
});

describe('limits that no plan keeps', () => {
  it('a while of states with too many passes', () => {
    const { diagnostics } = compileBlueprint(
      blueprint([
        call('a'),
        { id: 'w', type: 'loop', while: '{{ output }}', max: 5000, mode: 'map', do: call('x') },
      ]),
    );
    expect(diagnostics).toMatchObject([{ code: 'BP901', severity: 'error', pointer: '/steps/1' }]);
    expect(diagnostics[0]?.message).toContain('the loop "w" alone can take 60007 of them in its 5000 passes');
  });

  it('a while inside the items of a distributed map counts against each child by itself', () => {
    const inner: Step = {
      id: 'w',
      type: 'loop',
      while: '{{ output }}',
      max: 300,
      mode: 'map',
      do: call('x'),
    };
    expect(compileBlueprint(blueprint([loop('l', {}, inner)])).diagnostics).toEqual([]);
    const tooMany = compileBlueprint(blueprint([loop('l', {}, { ...inner, max: 3000 } as Step)])).diagnostics;
    expect(tooMany).toMatchObject([{ code: 'BP901', pointer: '/steps/0/do' }]);
  });

  it('a map of more items than a payload holds', () => {
    const { diagnostics } = compileBlueprint(blueprint([loop('l', { maxItems: 200_000 })]));
    expect(diagnostics).toMatchObject([{ code: 'BP903', pointer: '/steps/0/maxItems' }]);
  });

  it('a definition of more than 1 MiB', () => {
    const steps = Array.from({ length: 1500 }, (_, i) => call(`step-${i}`));
    const { diagnostics, text } = compileBlueprint(blueprint(steps));
    expect(Buffer.byteLength(text)).toBeGreaterThan(1024 * 1024);
    expect(diagnostics).toMatchObject([{ code: 'BP902', severity: 'error', pointer: '' }]);
  });

  it('ids of 64 characters still name their states', () => {
    const id = (prefix: string) => prefix.padEnd(64, 'x');
    const { definition, diagnostics } = compileBlueprint(
      blueprint([
        { id: id('s'), type: 'call', workflow: 'child' },
        loop(id('l'), { concurrency: 20, mode: 'batch' }, call('x')),
        { id: id('p'), type: 'parallel', branches: [call('y', { errorStrategy: { maxRetries: 1 } })] },
      ]),
    );
    expect(diagnostics).toEqual([]);
    expect(Object.keys(definition.States)).toContain(`${id('s')} prepare next`);
  });
});
