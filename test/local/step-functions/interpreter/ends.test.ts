/** How executions end: limits of history and payload, the machine's time limit, StopExecution, and what is not JSONata. */
import { describe, expect, test } from 'vitest';
import type { StateMachine } from '../../../../lib/asl/types.ts';
import { call, detailsOf, execute, machine, traceOf } from './execute.ts';
import { virtualClock } from './virtual-clock.ts';

describe('history', () => {
  test('the last of 25,000 events is the failure', async () => {
    const loop = machine({
      Init: { Type: 'Pass', Output: { n: 0 }, Next: 'Increment' },
      Increment: { Type: 'Pass', Output: { n: '{% $states.input.n + 1 %}' }, Next: 'Check' },
      Check: {
        Type: 'Choice',
        Choices: [{ Condition: '{% $states.input.n < 7000 %}', Next: 'Increment' }],
        Default: 'Done',
      },
      Done: { Type: 'Succeed' },
    });
    const { outcome, events } = await execute(loop);
    expect(outcome).toMatchObject({
      status: 'FAILED',
      error: 'States.Runtime',
      cause: 'The execution reached the maximum number of history events (25000).',
    });
    expect(traceOf(events.slice(-3))).toEqual([
      '24998 ChoiceStateEntered Check <24997',
      '24999 ChoiceStateExited Check <24998',
      '25000 ExecutionFailed <24999',
    ]);
    expect(detailsOf(events[24_998] ?? events[0] ?? never()).output).toBe('{"n":6249}');
  });

  test('neither Catch nor a sibling stops it', async () => {
    const { outcome, events } = await execute(
      machine({
        M: {
          Type: 'Map',
          Items: Array.from({ length: 9000 }, () => 0),
          MaxConcurrency: 40,
          ItemProcessor: { StartAt: 'Item', States: { Item: { Type: 'Pass', End: true } } },
          Catch: [{ ErrorEquals: ['States.ALL'], Next: 'After' }],
          End: true,
        },
        After: { Type: 'Succeed' },
      }),
    );
    expect(events).toHaveLength(25_000);
    expect(outcome).toMatchObject({ status: 'FAILED', error: 'States.Runtime' });
  });

  test('an express execution has no such limit', async () => {
    const { outcome } = await execute(
      machine({
        M: {
          Type: 'Map',
          Items: Array.from({ length: 7000 }, () => 0),
          ItemProcessor: { StartAt: 'Item', States: { Item: { Type: 'Pass', End: true } } },
          Output: '{% $count($states.result) %}',
          End: true,
        },
      }),
      { start: { type: 'EXPRESS' } },
    );
    expect(outcome).toEqual({ status: 'SUCCEEDED', output: 7000 });
  });
});

test.each([
  ['a state', { P: { Type: 'Pass', Output: '{% $pad("", 262143, "x") %}', End: true } }, 'P'],
  [
    'a Map',
    {
      M: {
        Type: 'Map',
        Items: [1, 2],
        ItemProcessor: {
          StartAt: 'I',
          States: { I: { Type: 'Pass', Output: '{% $pad("", 140000, "x") %}', End: true } },
        },
        End: true,
      },
    },
    'M',
  ],
] as const)('an output over 256 KiB fails %s', async (_, states, name) => {
  const { outcome } = await execute(machine(states as unknown as StateMachine['States']));
  expect(outcome).toMatchObject({
    status: 'FAILED',
    error: 'States.DataLimitExceeded',
    cause: `The state/task '${name}' returned a result with a size exceeding the maximum number of bytes service limit.`,
  });
});

describe('cut off', () => {
  const waiting = machine({ Work: call('slow', {}) }, { TimeoutSeconds: 60 });

  function slow(clock: ReturnType<typeof virtualClock>, seen: boolean[]) {
    return async (_: unknown, { signal }: { signal: AbortSignal }) => {
      await clock.sleep(3600_000, signal).catch(() => seen.push(signal.aborted));
      return null;
    };
  }

  test("the machine's TimeoutSeconds", async () => {
    const clock = virtualClock();
    const seen: boolean[] = [];
    const { outcome, events } = await execute(waiting, { clock, functions: { slow: slow(clock, seen) } });
    expect(outcome).toEqual({ status: 'TIMED_OUT', checkpoint: expect.objectContaining({ state: 'Work' }) });
    expect(events.at(-1)).toMatchObject({
      type: 'ExecutionTimedOut',
      previousEventId: 0,
      executionTimedOutEventDetails: { error: 'States.Timeout' },
    });
    expect(clock.now()).toBe(Date.UTC(2026, 0, 1, 0, 1));
    expect(seen).toEqual([true]);
  });

  test('a redrive has the whole time again', async () => {
    const clock = virtualClock();
    const { outcome } = await execute(waiting, { clock, functions: { slow: slow(clock, []) } });
    const before = clock.now();
    const again = await execute(waiting, {
      clock,
      functions: { slow: slow(clock, []) },
      start: { redriveCount: 1, resume: 'checkpoint' in outcome ? outcome.checkpoint : {}, lastEventId: 5 },
    });
    expect(again.outcome.status).toBe('TIMED_OUT');
    expect(clock.now() - before).toBe(60_000);
  });

  test('StopExecution with its error and cause', async () => {
    const clock = virtualClock();
    const seen: boolean[] = [];
    const controller = new AbortController();
    const { outcome, events } = await execute(waiting, {
      clock,
      functions: { slow: slow(clock, seen) },
      signal: controller.signal,
      onEvent: (event) => {
        if (event.type === 'TaskStarted')
          queueMicrotask(() => controller.abort({ error: 'Mine', cause: 'enough' }));
      },
    });
    expect(outcome).toMatchObject({
      status: 'ABORTED',
      error: 'Mine',
      cause: 'enough',
      checkpoint: { state: 'Work' },
    });
    expect(events.at(-1)).toMatchObject({
      type: 'ExecutionAborted',
      previousEventId: 0,
      executionAbortedEventDetails: { error: 'Mine', cause: 'enough' },
    });
    expect(seen).toEqual([true]);
  });

  test('before it began', async () => {
    const { outcome, events } = await execute(waiting, { signal: AbortSignal.abort({}) });
    expect(outcome).toMatchObject({ status: 'ABORTED' });
    expect(events.map(({ type }) => type)).toEqual(['ExecutionStarted', 'ExecutionAborted']);
  });

  test('in the wait before a retry', async () => {
    const controller = new AbortController();
    const { outcome } = await execute(
      machine({
        Work: call('work', {}, { Retry: [{ ErrorEquals: ['States.ALL'], IntervalSeconds: 600 }], End: true }),
      }),
      {
        functions: {
          work: () => {
            setImmediate(() => controller.abort());
            throw new Error('no');
          },
        },
        clock: { ...virtualClock(), drive: (promise) => promise },
        signal: controller.signal,
      },
    );
    expect(outcome.status).toBe('ABORTED');
  });

  test('children of a distributed Map are stopped and known for a redrive', async () => {
    const clock = virtualClock();
    const { outcome, children } = await execute(
      machine(
        {
          M: {
            Type: 'Map',
            Items: [1, 2, 3],
            MaxConcurrency: 2,
            ItemProcessor: {
              ProcessorConfig: { Mode: 'DISTRIBUTED', ExecutionType: 'STANDARD' },
              StartAt: 'W',
              States: { W: { Type: 'Wait', Seconds: 100, End: true } },
            },
            End: true,
          },
        },
        { TimeoutSeconds: 5 },
      ),
      { clock },
    );
    expect(children.map((child) => child.outcome?.status)).toEqual(['ABORTED', 'ABORTED']);
    expect(outcome).toMatchObject({
      status: 'TIMED_OUT',
      checkpoint: { inner: { children: [{ arn: expect.any(String) }, { arn: expect.any(String) }, null] } },
    });
  });
});

describe('distributed Map', () => {
  const definition = (extra: object) =>
    machine({
      M: {
        Type: 'Map',
        Label: 'Each',
        Items: '{% $states.input %}',
        ItemSelector: {
          item: '{% $states.context.Map.Item.Value %}',
          at: '{% $states.context.Map.Item.Index %}',
        },
        ItemProcessor: {
          ProcessorConfig: { Mode: 'DISTRIBUTED', ExecutionType: 'STANDARD' },
          StartAt: 'Check',
          States: {
            Check: {
              Type: 'Choice',
              Choices: [{ Condition: '{% $states.input.item < 0 %}', Next: 'Bad' }],
              Default: 'Good',
            },
            Bad: { Type: 'Fail', Error: 'Negative' },
            Good: { Type: 'Pass', Output: '{% $states.input.item * 10 %}', End: true },
          },
        },
        End: true,
        ...extra,
      },
    });

  test('one event for the run, none for items', async () => {
    const { outcome, events, children } = await execute(definition({}), { input: [1, 2, 3] });
    expect(outcome).toEqual({ status: 'SUCCEEDED', output: [10, 20, 30] });
    expect(traceOf(events)).toEqual([
      '1 ExecutionStarted <0',
      '2 MapStateEntered M <0',
      '3 MapStateStarted <2',
      '4 MapRunStarted <3',
      '5 MapRunSucceeded <4',
      '6 MapStateSucceeded <5',
      '7 MapStateExited M <4',
      '8 ExecutionSucceeded <7',
    ]);
    expect(detailsOf(events[3] ?? never()).mapRunArn).toMatch(
      /^arn:aws:states:us-east-1:000000000000:mapRun:machine\/Each:[0-9a-f-]{36}$/,
    );
    expect(children.map(({ input }) => input)).toEqual([
      { item: 1, at: 0 },
      { item: 2, at: 1 },
      { item: 3, at: 2 },
    ]);
    expect(traceOf(children[0]?.events ?? [])[1]).toBe('2 ChoiceStateEntered Check <0');
  });

  test.each<[string, object, number[], boolean]>([
    ['no tolerance', {}, [1, -1], false],
    ['a count', { ToleratedFailureCount: 1 }, [1, -1, 2], true],
    ['a count exceeded', { ToleratedFailureCount: 1 }, [-1, -1, 2], false],
    ['a percentage', { ToleratedFailurePercentage: 50 }, [-1, -1, 1, 2], true],
    ['a percentage exceeded', { ToleratedFailurePercentage: '{% 49 %}' }, [-1, -1, 1, 2], false],
    ['both, one exceeded', { ToleratedFailurePercentage: 100, ToleratedFailureCount: 0 }, [-1, 1], false],
  ])('%s', async (_, extra, input, tolerated) => {
    const { outcome, events } = await execute(definition({ MaxConcurrency: 1, ...extra }), { input });
    if (tolerated) {
      return expect(outcome).toEqual({
        status: 'SUCCEEDED',
        output: input.filter((n) => n > 0).map((n) => n * 10),
      });
    }
    const error = 'States.ExceedToleratedFailureThreshold';
    expect(outcome).toMatchObject({
      status: 'FAILED',
      error,
      cause: 'The specified tolerated failure threshold was exceeded',
    });
    expect(traceOf(events).slice(-3)).toEqual([
      '5 MapRunFailed <4',
      '6 MapStateFailed <5',
      '7 ExecutionFailed <6',
    ]);
  });

  test('it can be caught', async () => {
    const { outcome } = await execute(
      {
        ...definition({
          Catch: [{ ErrorEquals: ['States.ExceedToleratedFailureThreshold'], Next: 'After' }],
        }),
        States: {
          ...definition({
            Catch: [{ ErrorEquals: ['States.ExceedToleratedFailureThreshold'], Next: 'After' }],
          }).States,
          After: { Type: 'Pass', Output: 'caught', End: true },
        },
      },
      { input: [-1] },
    );
    expect(outcome).toEqual({ status: 'SUCCEEDED', output: 'caught' });
  });

  test('no items, no children', async () => {
    const { outcome, children } = await execute(definition({}), { input: [] });
    expect(outcome).toEqual({ status: 'SUCCEEDED', output: [] });
    expect(children).toEqual([]);
  });
});

describe('what is not JSONata', () => {
  test.each<[string, StateMachine['States'][string], string]>([
    ['a Task', { Type: 'Task', Resource: 'arn:aws:states:::lambda:invoke', End: true }, 'a Task state'],
    ['a path', { Type: 'Pass', End: true, ...({ OutputPath: '$.a' } as object) }, 'OutputPath'],
    ['a path in Assign', { Type: 'Pass', Assign: { a: [{ 'b.$': '$.c' }] }, End: true }, 'a path in Assign'],
  ])('%s in JSONPath is refused in words', async (_, state, need) => {
    const { outcome } = await execute({ StartAt: 'S', States: { S: state } });
    expect(outcome).toMatchObject({
      status: 'FAILED',
      error: 'States.Runtime',
      cause: `The state 'S' uses JSONPath (${need}), which the local Step Functions does not run. Set "QueryLanguage": "JSONata".`,
    });
  });

  test('expressions are plain text in a JSONPath state', async () => {
    const { outcome } = await execute({
      StartAt: 'S',
      States: {
        S: { Type: 'Pass', Assign: { a: '{% 1 %}' }, Next: 'T' },
        T: { Type: 'Pass', QueryLanguage: 'JSONata', Output: '{% $a %}', End: true },
      },
    });
    expect(outcome).toEqual({ status: 'SUCCEEDED', output: '{% 1 %}' });
  });
});

test('a state that does not exist', async () => {
  const { outcome } = await execute(machine({ A: { Type: 'Pass', Next: 'toString' } }));
  expect(outcome).toMatchObject({ error: 'States.Runtime', cause: "The state 'toString' does not exist." });
});

function never(): never {
  throw new Error('no such event');
}
