import { describe, expect, test } from 'vitest';
import type { Blueprint, ErrorStrategy, Step } from '../../lib/blueprint/types.ts';
import { parseProgram } from '../../lib/compile/parse.ts';
import type { LoopNode, StepNode } from '../../lib/compile/program.ts';

const call = (id: string, more: Partial<Step> = {}): Step =>
  ({ id, type: 'call', tool: 'list', ...more }) as Step;
const program = (steps: Step[], more: Partial<Blueprint> = {}) =>
  parseProgram({ id: 'parsed', steps, ...more });
const node = (steps: Step[], id: string, more: Partial<Blueprint> = {}): StepNode => {
  const found = program(steps, more).byId.get(id);
  if (found === undefined) throw new Error(`no step "${id}"`);
  return found;
};

const DEFAULTS = {
  onStepFailure: 'abort',
  maxRetries: 0,
  retryDelayMs: 1000,
  backoffRate: 2,
  maxDelayMs: 30_000,
  jitter: true,
  collectErrors: true,
};

describe('strategies', () => {
  test.each<[string, ErrorStrategy | undefined, object]>([
    ['none', undefined, {}],
    ['an empty one', {}, {}],
    ['retry is abort with two retries', { onStepFailure: 'retry' }, { maxRetries: 2 }],
    ['retry that says how many', { onStepFailure: 'retry', maxRetries: 0 }, { maxRetries: 0 }],
    [
      'continue with retries',
      { onStepFailure: 'continue', maxRetries: 2 },
      { onStepFailure: 'continue', maxRetries: 2 },
    ],
    [
      'every field',
      { retryDelayMs: 0, backoffRate: 1, maxDelayMs: 5, jitter: false, collectErrors: false },
      { retryDelayMs: 0, backoffRate: 1, maxDelayMs: 5, jitter: false, collectErrors: false },
    ],
  ])('%s', (_, errorStrategy, expected) => {
    const blueprint = errorStrategy === undefined ? {} : { errorStrategy };
    expect(node([call('a')], 'a', blueprint).strategy).toEqual({ ...DEFAULTS, ...expected });
  });

  test('the nearest one outward is taken whole', () => {
    const steps: Step[] = [
      {
        id: 'p',
        type: 'pipe',
        errorStrategy: { onStepFailure: 'continue' },
        steps: [call('a'), call('b', { errorStrategy: { maxRetries: 3 } })],
      },
      call('c'),
    ];
    const { byId } = program(steps, { errorStrategy: { onStepFailure: 'retry', jitter: false } });
    expect(byId.get('a')?.strategy).toEqual({ ...DEFAULTS, onStepFailure: 'continue' });
    expect(byId.get('b')?.strategy).toEqual({ ...DEFAULTS, maxRetries: 3 });
    expect(byId.get('c')?.strategy).toEqual({ ...DEFAULTS, maxRetries: 2, jitter: false });
  });
});

describe('calls', () => {
  test.each([
    ['list_pods', { tool: 'list_pods' }],
    ['k8s/list_pods', { server: 'k8s', tool: 'list_pods' }],
    ['k8s/pods/list', { server: 'k8s', tool: 'pods/list' }],
    ['K8S/list', { tool: 'K8S/list' }],
    ['/list', { tool: '/list' }],
    ['k8s/', { tool: 'k8s/' }],
  ])('tool %s', (tool, expected) => {
    const parsed = node([{ id: 'a', type: 'call', tool }], 'a');
    expect(parsed).toMatchObject({ call: 'tool', params: {}, retryUnknown: false, ...expected });
    expect('server' in parsed).toBe('server' in expected);
    expect('timeoutMs' in parsed || 'when' in parsed || 'parse' in parsed).toBe(false);
  });

  test.each([
    ['other', { workflow: 'other', floating: false }],
    ['other@latest', { workflow: 'other', floating: true }],
  ])('workflow %s', (workflow, expected) => {
    expect(node([{ id: 'a', type: 'call', workflow }], 'a')).toMatchObject({ call: 'workflow', ...expected });
  });
});

describe('what a step reads', () => {
  const steps: Step[] = [
    call('a'),
    call('b'),
    call('c'),
    {
      id: 'd',
      type: 'call',
      tool: 't',
      when: '{{ steps.a }}',
      params: { x: ['{{ steps.b.items[?n == $.results.c.ms] }}'], y: '{{ steps.a }}' },
      select: '{{ steps.c }}',
      failWhen: '{{ results.b.error || output }}',
    },
    {
      id: 'l',
      type: 'loop',
      over: '{{ steps.d }}',
      do: call('e', { params: { x: '{{ steps.a }}' } } as Partial<Step>),
    },
  ];

  test('before it runs, and at all, its inner steps not included', () => {
    expect(node(steps, 'd')).toMatchObject({
      reads: ['a', 'b'],
      uses: { values: ['a', 'b', 'c'], results: ['c', 'b'] },
    });
    expect(node(steps, 'l')).toMatchObject({ reads: ['d'], uses: { values: ['d'], results: [] } });
    expect(program(steps, { output: '{{ [steps.l, results.a.ms] }}' }).outputUses).toEqual({
      values: ['l'],
      results: ['a'],
    });
  });
});

describe('loops', () => {
  const loop = (body: Step | Step[], more: Partial<Step> = {}) =>
    ({ id: 'l', type: 'loop', over: [1], do: body, ...more }) as Step;

  test.each<[string, Step, Partial<LoopNode>]>([
    [
      'defaults',
      loop(call('a')),
      { kind: 'over', as: 'item', concurrency: 1, limit: 100_000, mode: 'batch' },
    ],
    [
      'written',
      loop([call('a')], { as: 'x', concurrency: 5, maxItems: 7, mode: 'map' } as Partial<Step>),
      { as: 'x', concurrency: 5, limit: 7, mode: 'map' },
    ],
    [
      'while',
      { id: 'l', type: 'loop', while: '{{ output }}', max: 9, do: call('a') },
      { kind: 'while', limit: 9 },
    ],
    [
      'a sub-workflow deep in the body',
      loop({ id: 'p', type: 'parallel', branches: [{ id: 'w', type: 'call', workflow: 'other' }] }),
      { mode: 'map' },
    ],
    [
      'a map loop in the body',
      loop({ id: 'm', type: 'loop', as: 'y', over: [1], mode: 'map', do: call('a') }, {
        mode: 'batch',
      } as Partial<Step>),
      { mode: 'map' },
    ],
  ])('%s', (_, step, expected) => {
    expect(node([step], 'l')).toMatchObject(expected);
  });

  test('one step and a list of one step differ in their pointers only', () => {
    expect((node([loop(call('a'))], 'l') as LoopNode).body.map(({ pointer }) => pointer)).toEqual([
      '/steps/0/do',
    ]);
    expect((node([loop([call('a')])], 'l') as LoopNode).body.map(({ pointer }) => pointer)).toEqual([
      '/steps/0/do/0',
    ]);
  });
});

test('every step by id in the order of the document, with what is around it', () => {
  const { byId, ancestors } = program([
    call('z'),
    { id: 'p', type: 'parallel', branches: [call('b'), [{ id: 'c', type: 'collect', steps: [call('a')] }]] },
  ]);
  expect([...byId.keys()]).toEqual(['z', 'p', 'b', 'c', 'a']);
  expect(ancestors.get('a')).toEqual(['p', 'c']);
  expect(byId.get('a')?.pointer).toBe('/steps/1/branches/1/0/steps/0');
  expect(ancestors.get('z')).toEqual([]);
});

test('a run has an hour unless the blueprint says otherwise, and times are milliseconds inside', () => {
  expect(program([call('a')]).timeoutSeconds).toBe(3600);
  expect(node([call('a', { timeoutSeconds: 5 })], 'a').timeoutMs).toBe(5000);
});
