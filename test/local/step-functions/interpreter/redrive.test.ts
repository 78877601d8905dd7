/**
 * Redriving: from a failure, a stop, a time limit and from any moment at which the process could have died. What the
 * history says follows what AWS was seen to record.
 */
import { describe, expect, test } from 'vitest';
import type { StateMachine } from '../../../../lib/asl/types.ts';
import type { Json } from '../../../../lib/blueprint/json.ts';
import {
  call,
  detailsOf,
  execute,
  functionError,
  type Handler,
  machine,
  redrive,
  traceOf,
} from './execute.ts';
import { virtualClock } from './virtual-clock.ts';

/** Fails until `repaired` is set, then echoes. Counts its calls by payload. */
function breakable() {
  const calls: Record<string, number> = {};
  const state = { repaired: false, calls };
  const work: Handler = (payload) => {
    const key = JSON.stringify(payload);
    calls[key] = (calls[key] ?? 0) + 1;
    if (!state.repaired && key.includes('bad')) throw functionError('Broken', 'not yet');
    return payload;
  };
  return { state, functions: { work } };
}

describe('redrive', () => {
  test('a failed Task is scheduled again from where it was entered; what came before stays', async () => {
    const { state, functions } = breakable();
    const definition = machine({
      First: call('work', 'fine', {
        Next: 'Second',
        Assign: { kept: '{% $states.context.State.EnteredTime %}' },
      }),
      Second: call('work', 'bad', {
        Retry: [{ ErrorEquals: ['States.ALL'], MaxAttempts: 1 }],
        Output: {
          kept: '{% $kept %}',
          count: '{% $states.context.Execution.RedriveCount %}',
          retries: '{% $states.context.State.RetryCount %}',
          entered: '{% $states.context.State.EnteredTime %}',
          input: '{% $states.input %}',
        },
        End: true,
      }),
    });
    const clock = virtualClock();
    const failed = await execute(definition, { clock, functions, input: { n: 1 } });
    expect(failed.outcome.status).toBe('FAILED');
    state.repaired = true;
    await clock.drive(clock.sleep(60_000));
    const again = await redrive(definition, failed, { clock, functions, input: { n: 1 } });
    const entered = failed.events.find((event) => detailsOf(event).name === 'Second')?.id ?? 0;
    expect(traceOf(again.events)).toEqual([
      '15 ExecutionRedriven <14',
      `16 TaskScheduled <${entered}`,
      '17 TaskStarted <16',
      '18 TaskSucceeded <17',
      '19 TaskStateExited Second <18',
      '20 ExecutionSucceeded <19',
    ]);
    expect(detailsOf(again.events[0] ?? never())).toEqual({ redriveCount: 1 });
    const start = new Date(Date.UTC(2026, 0, 1)).toISOString();
    expect(again.outcome).toEqual({
      status: 'SUCCEEDED',
      output: { kept: start, count: 1, retries: 0, entered: start, input: 'fine' },
    });
    expect(state.calls).toEqual({ '"fine"': 1, '"bad"': 3 });
  });

  test('a second failure can be redriven again, and retries count anew', async () => {
    const { state, functions } = breakable();
    const definition = machine({
      Work: call('work', 'bad', { Retry: [{ ErrorEquals: ['Broken'], MaxAttempts: 1 }], End: true }),
    });
    const first = await execute(definition, { functions });
    const second = await redrive(definition, first, { functions });
    expect(second.outcome.status).toBe('FAILED');
    expect(state.calls['"bad"']).toBe(4);
    state.repaired = true;
    const third = await redrive(definition, second, { functions, start: { redriveCount: 1 } });
    expect(third.outcome).toEqual({ status: 'SUCCEEDED', output: 'bad' });
    expect(detailsOf(third.events[0] ?? never())).toEqual({ redriveCount: 2 });
  });

  test('Parallel: only the branches without success, from where they were', async () => {
    const { state, functions } = breakable();
    const clock = virtualClock();
    const definition = machine({
      P: {
        Type: 'Parallel',
        Branches: [
          { StartAt: 'Good', States: { Good: call('work', 'good') } },
          {
            StartAt: 'Before',
            States: { Before: call('work', 'before', { Next: 'Bad' }), Bad: call('work', 'bad') },
          },
          { StartAt: 'Aborted', States: { Aborted: call('slow', 'slow') } },
        ],
        End: true,
      },
    });
    let slowly = true;
    const all = {
      ...functions,
      slow: async (payload: Json) => {
        if (slowly) await clock.sleep(1000_000);
        return payload;
      },
    };
    const failed = await execute(definition, { clock, functions: all });
    expect(failed.outcome).toMatchObject({ status: 'FAILED', error: 'Broken' });
    state.repaired = true;
    slowly = false;
    const again = await redrive(definition, failed, { clock, functions: all });
    expect(again.outcome).toEqual({ status: 'SUCCEEDED', output: ['good', 'bad', 'slow'] });
    expect(state.calls).toEqual({ '"good"': 1, '"before"': 1, '"bad"': 2 });
    const types = again.events.map(({ type }) => type);
    expect(types).not.toContain('ParallelStateStarted');
    expect(types.filter((type) => type.endsWith('Entered'))).toEqual([]);
    const enteredAborted = failed.events.find((event) => detailsOf(event).name === 'Aborted')?.id;
    const scheduled = again.events
      .filter(({ type }) => type === 'TaskScheduled')
      .map((event) => event.previousEventId);
    expect(scheduled).toContain(enteredAborted);
  });

  test('inline Map: the failed iteration goes on, those that had not begun start', async () => {
    const { state, functions } = breakable();
    const definition = machine({
      M: {
        Type: 'Map',
        Items: ['ok', 'bad', 'new'],
        MaxConcurrency: 1,
        ItemProcessor: { StartAt: 'Item', States: { Item: call('work', '{% $states.input %}') } },
        End: true,
      },
    });
    const failed = await execute(definition, { functions });
    state.repaired = true;
    const again = await redrive(definition, failed, { functions });
    expect(again.outcome).toEqual({ status: 'SUCCEEDED', output: ['ok', 'bad', 'new'] });
    expect(state.calls).toEqual({ '"ok"': 1, '"bad"': 2, '"new"': 1 });
    expect(
      traceOf(again.events)
        .filter((line) => / Map/.test(line))
        .map((line) => line.replace(/ <.*/, '')),
    ).toEqual([
      expect.stringContaining('MapIterationSucceeded M[1]'),
      expect.stringContaining('MapIterationStarted M[2]'),
      expect.stringContaining('MapIterationSucceeded M[2]'),
      expect.stringContaining('MapStateSucceeded'),
      expect.stringContaining('MapStateExited M'),
    ]);
  });

  test('distributed Map: the same Map Run, and only children without success', async () => {
    const { state, functions } = breakable();
    const definition = machine({
      M: {
        Type: 'Map',
        Items: ['ok', 'bad', 'later'],
        MaxConcurrency: 1,
        ItemProcessor: {
          ProcessorConfig: { Mode: 'DISTRIBUTED', ExecutionType: 'STANDARD' },
          StartAt: 'Before',
          States: { Before: { Type: 'Pass', Next: 'Item' }, Item: call('work', '{% $states.input %}') },
        },
        End: true,
      },
    });
    const failed = await execute(definition, { functions });
    expect(failed.outcome).toMatchObject({
      status: 'FAILED',
      error: 'States.ExceedToleratedFailureThreshold',
    });
    expect(failed.children.map(({ input }) => input)).toEqual(['ok', 'bad']);
    state.repaired = true;
    const again = await redrive(definition, failed, { functions });
    expect(again.outcome).toEqual({ status: 'SUCCEEDED', output: ['ok', 'bad', 'later'] });
    expect(
      again.children.map(({ input, resumed, name }) => [input, resumed, name === failed.children[1]?.name]),
    ).toEqual([
      ['bad', true, true],
      ['later', false, false],
    ]);
    expect(traceOf(again.children[0]?.events ?? [])[0]).toContain('ExecutionRedriven');
    expect(traceOf(again.children[0]?.events ?? []).join()).not.toContain('Before');
    const arn = detailsOf(failed.events.find(({ type }) => type === 'MapRunStarted') ?? never()).mapRunArn;
    expect(again.events[1]).toMatchObject({
      type: 'MapRunRedriven',
      previousEventId: failed.events.find(({ type }) => type === 'MapStateStarted')?.id,
      mapRunRedrivenEventDetails: { mapRunArn: arn, redriveCount: 1 },
    });
  });

  test('Fail fails again without being entered again', async () => {
    const definition = machine({ F: { Type: 'Fail', Error: 'Mine', Cause: 'why' } });
    const failed = await execute(definition);
    const again = await redrive(definition, failed);
    expect(traceOf(again.events)).toEqual(['4 ExecutionRedriven <3', '5 ExecutionFailed <4']);
    expect(again.outcome).toMatchObject({ status: 'FAILED', error: 'Mine', cause: 'why' });
  });

  test('Wait waits anew; its exit points at where it was entered', async () => {
    const clock = virtualClock();
    const definition = machine({ W: { Type: 'Wait', Seconds: 30, End: true } }, { TimeoutSeconds: 10 });
    const timedOut = await execute(definition, { clock });
    expect(timedOut.outcome.status).toBe('TIMED_OUT');
    const started = clock.now();
    const again = await redrive({ ...definition, TimeoutSeconds: 60 }, timedOut, { clock });
    expect(clock.now() - started).toBe(30_000);
    expect(traceOf(again.events)).toEqual([
      '4 ExecutionRedriven <3',
      '5 WaitStateExited W <2',
      '6 ExecutionSucceeded <5',
    ]);
  });

  test('a state that failed for the size of its results is run as a whole', async () => {
    let size = 200 * 1024;
    const definition = machine({
      P: {
        Type: 'Parallel',
        Branches: ['A', 'B'].map((name) => ({ StartAt: name, States: { [name]: call('big', {}) } })),
        End: true,
      },
    });
    const functions = { big: () => 'x'.repeat(size) };
    const failed = await execute(definition, { functions });
    expect(failed.outcome).toMatchObject({ error: 'States.DataLimitExceeded' });
    size = 10;
    const again = await redrive(definition, failed, { functions });
    expect(again.outcome.status).toBe('SUCCEEDED');
    expect(again.events.map(({ type }) => type)).toContain('ParallelStateStarted');
  });
});

describe('a process that died', () => {
  const definition: StateMachine = machine({
    Begin: call('work', 'begin', { Next: 'Both', Assign: { total: 10 } }),
    Both: {
      Type: 'Parallel',
      Branches: [
        { StartAt: 'L1', States: { L1: call('work', 'l1', { Next: 'L2' }), L2: call('work', 'l2') } },
        {
          StartAt: 'Items',
          States: {
            Items: {
              Type: 'Map',
              Items: [1, 2, 3],
              ItemSelector: '{% $states.context.Map.Item.Value + $total %}',
              MaxConcurrency: 2,
              ItemProcessor: {
                StartAt: 'Each',
                States: {
                  Each: call('work', '{% $states.input %}', {
                    Next: 'Pause',
                    Assign: { mine: '{% $states.input %}' },
                  }),
                  Pause: { Type: 'Wait', Seconds: 1, Next: 'Own' },
                  Own: { Type: 'Pass', Output: '{% $mine %}', End: true },
                },
              },
              End: true,
            },
          },
        },
      ],
      Next: 'Sub',
    },
    Sub: {
      Type: 'Map',
      Items: '{% $states.input[1] %}',
      ItemProcessor: {
        ProcessorConfig: { Mode: 'DISTRIBUTED', ExecutionType: 'STANDARD' },
        StartAt: 'Child',
        States: { Child: call('work', '{% $states.input %}') },
      },
      Next: 'End',
    },
    End: { Type: 'Pass', Output: { all: '{% $states.input %}', total: '{% $total %}' }, End: true },
  });
  const expected = { status: 'SUCCEEDED', output: { all: [11, 12, 13], total: 10 } };
  const functions = { work: (payload: Json) => payload };

  test('is gone on with from any checkpoint, to the same end', async () => {
    const whole = await execute(definition, { functions, keepCheckpoints: true });
    expect(whole.outcome).toEqual(expected);
    expect(whole.checkpoints.length).toBeGreaterThan(15);
    for (const checkpoint of whole.checkpoints) {
      const again = await execute(definition, {
        functions,
        start: { redriveCount: 1, resume: checkpoint, lastEventId: whole.events.length },
      });
      expect(again.outcome).toEqual(expected);
    }
  });

  test('finished branches and items are not run again', async () => {
    const whole = await execute(definition, { functions, keepCheckpoints: true });
    const last = whole.checkpoints.filter((checkpoint) => checkpoint.state === 'Both').at(-1);
    const calls: Json[] = [];
    await execute(definition, {
      functions: {
        work: (payload) => {
          calls.push(payload);
          return payload;
        },
      },
      start: { redriveCount: 1, resume: last ?? {}, lastEventId: whole.events.length },
    });
    expect(calls).not.toContain('begin');
    expect(calls).not.toContain('l1');
  });
});

test('what is no checkpoint is refused', async () => {
  const { outcome } = await execute(machine({ P: { Type: 'Pass', End: true } }), {
    start: { resume: { nonsense: true }, redriveCount: 1, lastEventId: 3 },
  });
  expect(outcome).toMatchObject({ status: 'FAILED', error: 'States.Runtime' });
});

function never(): never {
  throw new Error('no such event');
}
