/** The machine's own flow, by step type: which tasks are sent for which answers and failures, and with what `at`. */
import { describe, expect, it } from 'vitest';
import type { Blueprint, ErrorStrategy, Step } from '../../../lib/blueprint/types.ts';
import { FAILING, type RunOptions, runBlueprint } from '../run-blueprint.ts';

const call = (id: string, more: Partial<Step> = {}): Step =>
  ({ id, type: 'call', tool: 't', ...more }) as Step;
const CONTINUE: ErrorStrategy = { onStepFailure: 'continue' };
const blueprint = (...steps: Step[]): Blueprint => ({ id: 'flow', steps });

interface Case {
  name: string;
  steps: Step[];
  options?: RunOptions;
  told: string[];
  status?: 'SUCCEEDED' | 'FAILED';
}

/** Fails these occurrences, as `op occurrence`. */
const fail =
  (...which: string[]): RunOptions['answer'] =>
  (task, occurrence) =>
    which.includes(`${task.op} ${occurrence}`) ? 'ToolError' : undefined;

/** Answers these occurrences once with something else than success. */
function once(answers: Record<string, object>): RunOptions['answer'] {
  const left = { ...answers };
  return (task, occurrence) => {
    const key = `${task.op} ${occurrence}`;
    const answer = left[key];
    delete left[key];
    return answer;
  };
}

const mapOf = (id: string, body: Step | Step[], more: Partial<Step> = {}): Step =>
  ({ id, type: 'loop', mode: 'map', over: [1, 2], do: body, ...more }) as Step;
const whileOf = (id: string, body: Step | Step[], more: Partial<Step> = {}): Step =>
  ({ id, type: 'loop', mode: 'map', while: '{{ output }}', max: 9, do: body, ...more }) as Step;

const CASES: Case[] = [
  { name: 'calls follow one another', steps: [call('a'), call('b')], told: ['call a', 'call b'] },
  {
    name: 'a failure under abort ends the run at its own state',
    steps: [call('a'), call('b')],
    options: { answer: fail('call a') },
    told: ['call a'],
    status: 'FAILED',
  },
  {
    name: 'a failure under continue is caught',
    steps: [call('a', { errorStrategy: CONTINUE }), call('b')],
    options: { answer: fail('call a') },
    told: ['call a', 'call b'],
  },
  {
    name: 'a call that waits is sent again',
    steps: [call('a', { errorStrategy: { maxRetries: 2 } }), call('b')],
    options: { answer: once({ 'call a': { status: 'wait', seconds: 40 } }) },
    told: ['call a', 'call a', 'call b'],
  },
  {
    name: 'a batch loop is sent again for more and after a wait',
    steps: [{ id: 'l', type: 'loop', over: [1], do: call('x') }, call('b')],
    options: {
      answer: (
        (n) => () =>
          [{ status: 'more' as const }, { status: 'wait' as const, seconds: 5 }][n++]
      )(0),
    },
    told: ['loop l', 'loop l', 'loop l', 'call b'],
  },
  {
    name: 'lanes: each is sent again by itself, with its number',
    steps: [{ id: 'l', type: 'loop', over: [1, 2, 3], concurrency: 20, do: call('x') }, call('b')],
    options: { answer: once({ 'lane l': { status: 'more' } }) },
    told: ['items l', 'lane l#0', 'lane l#1', 'lane l#0', 'settle l', 'call b'],
  },
  {
    name: 'a map loop runs its body for each item, one level down',
    steps: [mapOf('l', [call('x'), call('y')]), call('b')],
    told: [
      'items l',
      'call l/00000/x',
      'call l/00000/y',
      'call l/00001/x',
      'call l/00001/y',
      'settle l',
      'call b',
    ],
  },
  {
    name: 'nested map loops',
    steps: [mapOf('l', mapOf('m', call('x'), { as: 'inner', over: [1] } as Partial<Step>))],
    told: [
      'items l',
      'items l/00000/m',
      'call l/00000/m/00000/x',
      'settle l/00000/m',
      'items l/00001/m',
      'call l/00001/m/00000/x',
      'settle l/00001/m',
      'settle l',
    ],
  },
  {
    name: 'a failed step ends its item alone, even under continue; settle judges',
    steps: [mapOf('l', [call('x', { errorStrategy: CONTINUE }), call('y')])],
    options: { answer: fail('call l/00000/x') },
    told: ['items l', 'call l/00000/x', 'call l/00001/x', 'call l/00001/y', 'settle l'],
  },
  {
    name: 'a skipped map loop is passed over',
    steps: [mapOf('l', call('x'), { when: false }), call('b')],
    options: { answer: once({ 'items l': { status: 'skipped' } }) },
    told: ['items l', 'call b'],
  },
  {
    name: 'an empty map loop settles',
    steps: [mapOf('l', call('x'), { over: '{{ params.none }}' } as Partial<Step>), call('b')],
    options: { sizes: { l: 0 } },
    told: ['items l', 'settle l', 'call b'],
  },
  {
    name: 'a failed settle under continue goes on after the loop',
    steps: [mapOf('l', call('x'), { errorStrategy: CONTINUE }), call('b')],
    options: { answer: fail('settle l') },
    told: ['items l', 'call l/00000/x', 'call l/00001/x', 'settle l', 'call b'],
  },
  {
    name: 'a while of states goes round until its task says done',
    steps: [whileOf('w', call('x')), call('b')],
    options: { sizes: { w: 2 } },
    told: ['pass w', 'call w/00000/x', 'pass w/00000/w', 'call w/00001/x', 'pass w/00001/w', 'call b'],
  },
  {
    name: 'a failed pass under abort ends the run where it failed',
    steps: [whileOf('w', [call('x'), call('y')]), call('b')],
    options: { sizes: { w: 2 }, answer: fail('call w/00000/x') },
    told: ['pass w', 'call w/00000/x'],
    status: 'FAILED',
  },
  {
    name: 'a failed pass under continue is for the loop to judge',
    steps: [whileOf('w', [call('x'), call('y')], { errorStrategy: CONTINUE }), call('b')],
    options: { sizes: { w: 1 }, answer: fail('call w/00000/x') },
    told: ['pass w', 'call w/00000/x', 'pass w/00000/w', 'call b'],
  },
  {
    name: 'a while that fails inside a pass leaves it: the next step is outside',
    steps: [whileOf('w', call('x'), { errorStrategy: CONTINUE }), call('b')],
    options: { sizes: { w: 2 }, answer: fail('pass w/00000/w') },
    told: ['pass w', 'call w/00000/x', 'pass w/00000/w', 'call b'],
  },
  {
    name: 'a while whose loop around has a name that ends like its own: only its own pass is left',
    steps: [
      mapOf('ab', {
        id: 'c',
        type: 'collect',
        steps: [whileOf('b', call('x'), { errorStrategy: CONTINUE }), call('y')],
      }),
    ],
    options: { sizes: { ab: 2, b: 1 }, answer: fail('pass ab/00000/b', 'pass ab/00001/b/00000/b') },
    told: [
      'items ab',
      'pass ab/00000/b',
      'call ab/00000/y',
      'settle ab/00000/c',
      'pass ab/00001/b',
      'call ab/00001/b/00000/x',
      'pass ab/00001/b/00000/b',
      'call ab/00001/y',
      'settle ab/00001/c',
      'settle ab',
    ],
  },
  {
    name: 'a pipe: a failed step fails it, whatever the step says',
    steps: [
      {
        id: 'p',
        type: 'pipe',
        errorStrategy: CONTINUE,
        steps: [call('x', { errorStrategy: CONTINUE }), call('y')],
      },
      call('b'),
    ],
    options: { answer: fail('call x', 'settle p') },
    told: ['call x', 'settle p', 'call b'],
  },
  {
    name: 'a collect goes on past a step under continue',
    steps: [
      { id: 'c', type: 'collect', steps: [call('x', { errorStrategy: CONTINUE }), call('y')] },
      call('b'),
    ],
    options: { answer: fail('call x') },
    told: ['call x', 'call y', 'settle c', 'call b'],
  },
  {
    name: 'a container under abort at the top: the run ends at the failed step, to be redriven there',
    steps: [{ id: 'c', type: 'collect', steps: [call('x'), call('y')] }],
    options: { answer: fail('call x') },
    told: ['call x'],
    status: 'FAILED',
  },
  {
    name: 'a skipped container is passed over',
    steps: [{ id: 'c', type: 'pipe', when: false, steps: [call('x')] }, call('b')],
    options: { answer: once({ 'enter c': { status: 'skipped' } }) },
    told: ['enter c', 'call b'],
  },
  {
    name: 'a container with a time limit is entered',
    steps: [{ id: 'c', type: 'parallel', timeoutSeconds: 9, branches: [call('x')] }],
    told: ['enter c', 'call x', 'settle c'],
  },
  {
    name: 'a failed branch ends alone; settle judges',
    steps: [{ id: 'p', type: 'parallel', branches: [[call('x'), call('y')], call('z')] }],
    options: { answer: fail('call x', 'settle p') },
    told: ['call x', 'call z', 'settle p'],
    status: 'FAILED',
  },
  {
    name: 'a sub-workflow is prepared, run and adopted',
    steps: [{ id: 's', type: 'call', workflow: 'child' }, call('b')],
    told: ['prepare s', 'adopt s', 'call b'],
  },
  {
    name: 'a sub-workflow that failed is adopted too',
    steps: [{ id: 's', type: 'call', workflow: 'child' }, call('b')],
    options: { child: FAILING, answer: fail('adopt s') },
    told: ['prepare s', 'adopt s'],
    status: 'FAILED',
  },
  {
    name: 'a sub-workflow that has ended before is adopted without being started',
    steps: [{ id: 's', type: 'call', workflow: 'child' }],
    options: { child: FAILING, answer: once({ 'prepare s': { child: undefined } }) },
    told: ['prepare s', 'adopt s'],
  },
  {
    name: 'a skipped sub-workflow is passed over',
    steps: [{ id: 's', type: 'call', workflow: 'child', when: false }, call('b')],
    options: { answer: once({ 'prepare s': { status: 'skipped', child: undefined } }) },
    told: ['prepare s', 'call b'],
  },
  {
    name: 'a redriven child that still runs is waited for',
    steps: [{ id: 's', type: 'call', workflow: 'child' }],
    options: { answer: once({ 'adopt s': { status: 'wait', seconds: 5 } }) },
    told: ['prepare s', 'adopt s', 'adopt s'],
  },
];

describe('the flow of a machine', () => {
  it.each(CASES)('$name', async ({ steps, options, told, status = 'SUCCEEDED' }) => {
    const run = await runBlueprint(blueprint(...steps), options);
    expect(run.steps).toEqual(told);
    expect(run.outcome.status).toBe(status);
    expect(run.told.at(-1)?.op).toBe(status === 'SUCCEEDED' ? 'finish' : run.told.at(-1)?.op);
  });

  it('passes the name, the start and the input of the execution to begin', async () => {
    const { begin, definition } = await runBlueprint(blueprint(call('a')), {
      input: { params: { x: '{% 1 %}' } },
    });
    expect(begin).toMatchObject({
      abi: 1,
      op: 'begin',
      workflow: 'flow',
      input: { params: { x: '{% 1 %}' } },
      execution: 'arn:aws:states:us-east-1:000000000000:execution:machine:run',
      name: 'run',
      startedAt: '2026-01-01T00:00:00.000Z',
      epoch: 0,
      machine: 'arn:aws:states:us-east-1:000000000000:stateMachine:machine',
    });
    expect(definition.Comment).toContain(begin?.hash);
  });

  it('ends a second delivery of a scheduled occurrence as a success without a run', async () => {
    const run = await runBlueprint(blueprint(call('a')), { beginError: 'Duplicate' });
    expect(run.outcome).toEqual({ status: 'SUCCEEDED', output: {} });
    expect(run.steps).toEqual([]);
  });

  it('fails a map whose items task answers no count, instead of running over nothing', async () => {
    const run = await runBlueprint(blueprint(mapOf('l', call('x'))), {
      answer: ({ op }) => (op === 'items' ? { count: undefined } : undefined),
    });
    expect(run.outcome).toMatchObject({ status: 'FAILED', error: 'States.QueryEvaluationError' });
  });

  it('passes an error that is no kind of ours on, under continue too', async () => {
    const run = await runBlueprint(blueprint(call('a', { errorStrategy: CONTINUE }), call('b')), {
      answer: () => 'TypeError',
    });
    expect(run.outcome).toMatchObject({ status: 'FAILED', error: 'TypeError' });
  });
});
