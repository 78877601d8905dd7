/**
 * Parallel and inline Map: order, concurrency, and what the history says where one of them fails. The traces are those
 * that AWS was seen to record for the same machines.
 */
import { describe, expect, test } from 'vitest';
import type { MapState, ParallelState, State } from '../../../../lib/asl/types.ts';
import { call, execute, functionError, machine, traceOf } from './execute.ts';
import { virtualClock } from './virtual-clock.ts';

const pass: State = { Type: 'Pass', End: true };

function map(states: Record<string, State>, extra: Partial<MapState> = {}): MapState {
  return {
    Type: 'Map',
    ItemProcessor: { StartAt: Object.keys(states)[0] ?? '', States: states },
    End: true,
    ...extra,
  };
}

function parallel(branches: Record<string, State>[], extra: Partial<ParallelState> = {}): ParallelState {
  return {
    Type: 'Parallel',
    Branches: branches.map((states) => ({ StartAt: Object.keys(states)[0] ?? '', States: states })),
    End: true,
    ...extra,
  };
}

const boom = () => {
  throw functionError('Boom', 'why');
};

describe('Parallel', () => {
  test('each branch has a chain of its own; the end points at the last event of the last', async () => {
    const { outcome, events } = await execute(
      machine({
        P: parallel(
          [
            { A1: { Type: 'Pass', Next: 'A2' }, A2: { Type: 'Pass', Output: 'a', End: true } },
            { B1: { Type: 'Pass', Output: 'b', End: true } },
          ],
          { Next: 'After', End: false },
        ),
        After: pass,
      }),
      { input: { x: 1 } },
    );
    expect(outcome).toEqual({ status: 'SUCCEEDED', output: ['a', 'b'] });
    const previous = new Map(events.map((event) => [event.id, event.previousEventId]));
    const byName = (type: string, name: string) =>
      events.find((event) => event.type === type && JSON.stringify(event).includes(`"name":"${name}"`))?.id ??
      0;
    const started = events.find(({ type }) => type === 'ParallelStateStarted')?.id;
    expect(previous.get(byName('PassStateEntered', 'A1'))).toBe(started);
    expect(previous.get(byName('PassStateEntered', 'B1'))).toBe(started);
    expect(previous.get(byName('PassStateEntered', 'A2'))).toBe(byName('PassStateExited', 'A1'));
    expect(traceOf(events).slice(-5)).toEqual([
      '10 ParallelStateSucceeded <9',
      '11 ParallelStateExited P <9',
      '12 PassStateEntered After <11',
      '13 PassStateExited After <12',
      '14 ExecutionSucceeded <13',
    ]);
  });

  test('a failed call is a failed and an aborted state', async () => {
    const { events } = await execute(
      machine({
        P: parallel([{ Work: call('work', {}) }], {
          Catch: [{ ErrorEquals: ['States.ALL'], Next: 'Handled' }],
        }),
        Handled: pass,
      }),
      { functions: { work: boom } },
    );
    expect(traceOf(events)).toEqual([
      '1 ExecutionStarted <0',
      '2 ParallelStateEntered P <0',
      '3 ParallelStateStarted <2',
      '4 TaskStateEntered Work <3',
      '5 TaskScheduled <4',
      '6 TaskStarted <5',
      '7 TaskFailed <6',
      '8 TaskStateAborted <7',
      '9 ParallelStateFailed <7',
      '10 ParallelStateExited P <9',
      '11 PassStateEntered Handled <10',
      '12 PassStateExited Handled <11',
      '13 ExecutionSucceeded <12',
    ]);
  });

  test('the first failure stops the other branches, also within them', async () => {
    const clock = virtualClock();
    const signals: boolean[] = [];
    const { outcome, events } = await execute(
      machine({
        P: parallel([
          { Slow: call('slow', {}) },
          { Inner: map({ Wait: { Type: 'Wait', Seconds: 100, End: true } }, { Items: [1] }) },
          { Work: call('work', {}) },
        ]),
      }),
      {
        clock,
        functions: {
          slow: async (_, { signal }) => {
            await clock.sleep(1000_000, signal).catch(() => signals.push(signal.aborted));
            return null;
          },
          work: async () => {
            await clock.sleep(5000);
            return boom();
          },
        },
      },
    );
    expect(outcome).toMatchObject({ status: 'FAILED', error: 'Boom' });
    expect(signals).toEqual([true]);
    const failed = events.find(({ type }) => type === 'TaskFailed')?.id ?? 0;
    expect(traceOf(events).slice(failed)).toEqual([
      `${failed + 1} TaskStateAborted <${failed}`,
      `${failed + 2} MapStateAborted <${failed}`,
      `${failed + 3} MapIterationAborted Inner[0] <${failed}`,
      `${failed + 4} WaitStateAborted <${failed}`,
      `${failed + 5} TaskStateAborted <${failed}`,
      `${failed + 6} ParallelStateFailed <${failed}`,
      `${failed + 7} ExecutionFailed <${failed + 6}`,
    ]);
  });

  test('starts again on Retry, and says that it failed only at the last', async () => {
    const { events } = await execute(
      machine({
        P: parallel([{ Boom: { Type: 'Fail', Error: 'MyError' } }], {
          Retry: [{ ErrorEquals: ['States.ALL'], MaxAttempts: 1 }],
        }),
      }),
    );
    expect(traceOf(events).slice(2)).toEqual([
      '3 ParallelStateStarted <2',
      '4 FailStateEntered Boom <3',
      '5 ParallelStateStarted <4',
      '6 FailStateEntered Boom <5',
      '7 ParallelStateFailed <6',
      '8 ExecutionFailed <7',
    ]);
  });

  test('an error of the machine itself ends everything at once', async () => {
    const { outcome, events } = await execute(
      machine({
        P: parallel(
          [{ C: { Type: 'Choice', Choices: [{ Condition: '{% false %}', Next: 'D' }] }, D: pass }],
          {
            Catch: [{ ErrorEquals: ['States.ALL'], Next: 'After' }],
          },
        ),
        After: pass,
      }),
    );
    expect(traceOf(events).slice(3)).toEqual(['4 ChoiceStateEntered C <3', '5 ExecutionFailed <4']);
    expect(outcome).toMatchObject({
      error: 'States.Runtime',
      cause:
        "An error occurred while executing the state 'C' (entered at the event id #4). Failed to transition out of the state. The state does not point to a next state.",
    });
  });

  test('Arguments is what the branches get, result what Output sees', async () => {
    const { outcome } = await execute(
      machine({
        P: parallel([{ A: pass }, { B: pass }], {
          Arguments: { half: '{% $states.input.n / 2 %}' },
          Output: '{% $sum($states.result.half) + $states.input.n %}',
        }),
      }),
      { input: { n: 8 } },
    );
    expect(outcome).toEqual({ status: 'SUCCEEDED', output: 16 });
  });
});

describe('inline Map', () => {
  test('iterations that run at once all start first; a failure ends them in order', async () => {
    const clock = virtualClock();
    const { events } = await execute(
      machine({
        M: map({ Invoke: call('slow', {}, { TimeoutSeconds: 5, End: true }) }, { Items: [1, 2, 3, 4] }),
      }),
      {
        clock,
        functions: {
          slow: async () => {
            await clock.sleep(60_000);
            return null;
          },
        },
      },
    );
    const trace = traceOf(events);
    expect(trace.slice(0, 9)).toEqual([
      '1 ExecutionStarted <0',
      '2 MapStateEntered M <0',
      '3 MapStateStarted <2',
      '4 MapIterationStarted M[0] <3',
      '5 MapIterationStarted M[1] <3',
      '6 MapIterationStarted M[2] <3',
      '7 MapIterationStarted M[3] <3',
      '8 TaskStateEntered Invoke <4',
      expect.stringContaining('<'),
    ]);
    const timedOut = events.find(({ type }) => type === 'TaskTimedOut')?.id ?? 0;
    const from = (offset: number, what: string) => `${timedOut + offset} ${what} <${timedOut}`;
    expect(trace.slice(timedOut)).toEqual([
      from(1, 'MapIterationFailed M[0]'),
      from(2, 'TaskStateAborted'),
      from(3, 'MapIterationAborted M[1]'),
      from(4, 'TaskStateAborted'),
      from(5, 'MapIterationAborted M[2]'),
      from(6, 'TaskStateAborted'),
      from(7, 'MapIterationAborted M[3]'),
      from(8, 'TaskStateAborted'),
      from(9, 'MapStateFailed'),
      `${timedOut + 10} ExecutionFailed <${timedOut + 9}`,
    ]);
  });

  test.each([
    [3, 3],
    [0, 40],
    [1000, 40],
  ])(
    'MaxConcurrency %d: at most %d at once, and the order of the outputs is that of the items',
    async (concurrency, limit) => {
      const clock = virtualClock();
      let running = 0;
      let most = 0;
      const { outcome } = await execute(
        machine({ M: map({ Work: call('work', '{% $states.input %}') }, { MaxConcurrency: concurrency }) }),
        {
          clock,
          input: Array.from({ length: 100 }, (_, index) => index),
          functions: {
            work: async (payload) => {
              running += 1;
              most = Math.max(most, running);
              await clock.sleep(1000 + ((Number(payload) * 7919) % 13) * 100);
              running -= 1;
              return payload;
            },
          },
        },
      );
      expect(most).toBe(limit);
      expect(outcome).toEqual({
        status: 'SUCCEEDED',
        output: Array.from({ length: 100 }, (_, index) => index),
      });
    },
  );

  test('ItemSelector sees the item, its index and the input of the Map', async () => {
    const { outcome } = await execute(
      machine({
        M: map(
          { Item: pass },
          {
            Items: '{% $states.input.list %}',
            ItemSelector: {
              at: '{% $states.context.Map.Item.Index %}',
              item: '{% $states.context.Map.Item.Value %}',
              of: '{% $count($states.input.list) %}',
            },
          },
        ),
      }),
      { input: { list: ['a', 'b'] } },
    );
    expect(outcome).toMatchObject({
      output: [
        { at: 0, item: 'a', of: 2 },
        { at: 1, item: 'b', of: 2 },
      ],
    });
  });

  test('a number of failures that would be tolerated belongs to distributed Maps', async () => {
    const { outcome } = await execute(
      machine({ M: map({ Work: call('work', {}) }, { Items: [1, 2], ToleratedFailureCount: 2 }) }),
      { functions: { work: boom } },
    );
    expect(outcome).toMatchObject({ status: 'FAILED', error: 'Boom' });
  });

  test.each(['ItemReader', 'ItemBatcher', 'ResultWriter'])('%s is refused in words', async (field) => {
    const { outcome } = await execute(
      machine({ M: { ...map({ Item: pass }, { Items: [1] }), [field]: {} } }),
    );
    expect(outcome).toMatchObject({
      status: 'FAILED',
      error: 'States.Runtime',
      cause: `The Map state 'M' uses ${field}, which the local Step Functions does not run.`,
    });
  });
});
