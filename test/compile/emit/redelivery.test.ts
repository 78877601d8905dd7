/** Redeliveries and redrives: what the machine sends again, and under which epoch. */
import { describe, expect, it } from 'vitest';
import type { Blueprint } from '../../../lib/blueprint/types.ts';
import { runBlueprint } from '../run-blueprint.ts';

const ONE: Blueprint = { id: 'one', steps: [{ id: 'a', type: 'call', tool: 't' }] };

describe('a redelivery', () => {
  it('waits for an earlier delivery that works as long as its function may', async () => {
    let times = 0;
    const run = await runBlueprint(ONE, {
      answer: () => {
        times += 1;
        return times <= 36 ? 'Busy' : undefined;
      },
    });
    expect(run.outcome.status).toBe('SUCCEEDED');
    const at = (index: number) => run.events.at(index)?.timestamp ?? 0;
    expect(at(-1) - at(0)).toBeGreaterThan(930);
  });

  it.each(['Lambda.Unknown', 'Sandbox.Timedout', 'Runtime.ExitError', 'Runtime.OutOfMemory'])(
    'repeats what the platform lost, a few times: %s',
    async (error) => {
      let times = 0;
      const run = await runBlueprint(ONE, {
        answer: () => {
          times += 1;
          return error;
        },
      });
      expect(run.outcome).toMatchObject({ status: 'FAILED', error });
      expect(times).toBe(7);
    },
  );

  it.each([
    'Lambda.TooManyRequestsException',
    'Lambda.ResourceNotReadyException',
    'Lambda.ResourceConflictException',
  ])('waits until there is a free execution, as long as others may hold them: %s', async (error) => {
    let times = 0;
    const run = await runBlueprint(ONE, {
      answer: () => {
        times += 1;
        return times <= 36 ? error : undefined;
      },
    });
    expect(run.outcome.status).toBe('SUCCEEDED');
  });
});

describe('a redrive', () => {
  it('goes on at the failed call, in a newer epoch', async () => {
    const blueprint: Blueprint = {
      id: 'two',
      steps: [
        { id: 'a', type: 'call', tool: 't' },
        { id: 'b', type: 'call', tool: 't' },
      ],
    };
    const failed = await runBlueprint(blueprint, {
      answer: ({ step }) => (step === 'b' ? 'ToolError' : undefined),
    });
    const run = await runBlueprint(blueprint, { redriven: failed });
    expect(run.outcome.status).toBe('SUCCEEDED');
    expect(run.told).toMatchObject([
      { op: 'call', occurrence: 'b', epoch: 1 },
      { op: 'finish', epoch: 1 },
    ]);
  });

  it.each([
    [
      'parallel',
      { id: 'p', type: 'parallel', branches: [{ id: 'x', type: 'call', tool: 't' }] },
      ['settle p', 'call x', 'settle p'],
    ],
    [
      'map',
      { id: 'p', type: 'loop', mode: 'map', over: [1], do: { id: 'x', type: 'call', tool: 't' } },
      ['settle p', 'call p/00000/x', 'settle p'],
    ],
    [
      'lanes',
      { id: 'p', type: 'loop', concurrency: 11, over: [1], do: { id: 'x', type: 'call', tool: 't' } },
      ['settle p', 'lane p#0', 'lane p#1', 'settle p'],
    ],
  ] as const)('of a failed %s runs it anew where settle says again', async (_, step, told) => {
    const blueprint = { id: 'again', steps: [structuredClone(step)] } as unknown as Blueprint;
    const failed = await runBlueprint(blueprint, {
      answer: ({ op }) => (op === 'settle' ? 'ToolError' : undefined),
    });
    expect(failed.outcome).toMatchObject({ status: 'FAILED', error: 'ToolError' });
    let settled = 0;
    const run = await runBlueprint(blueprint, {
      redriven: failed,
      answer: ({ op }) => (op === 'settle' && settled++ === 0 ? { status: 'again' } : undefined),
    });
    expect(run.outcome.status).toBe('SUCCEEDED');
    expect(run.steps).toEqual(told);
    expect(new Set(run.told.map(({ epoch }) => epoch))).toEqual(new Set([1]));
  });

  it('of a distributed map redrives the failed children in the next epoch', async () => {
    const blueprint: Blueprint = {
      id: 'wide',
      steps: [
        {
          id: 'l',
          type: 'loop',
          mode: 'map',
          concurrency: 41,
          over: [1, 2],
          do: { id: 'x', type: 'call', tool: 't' },
        },
      ],
    };
    const failed = await runBlueprint(blueprint, {
      answer: (_, occurrence) => (occurrence === 'l/00001/x' ? 'Sandbox.Crashed' : undefined),
    });
    expect(failed.outcome).toMatchObject({ status: 'FAILED' });
    const run = await runBlueprint(blueprint, { redriven: failed });
    expect(run.outcome.status).toBe('SUCCEEDED');
    expect(run.told.filter(({ op }) => op === 'call')).toContainEqual({
      op: 'call',
      occurrence: 'l/00001/x',
      epoch: 1,
    });
  });
});
