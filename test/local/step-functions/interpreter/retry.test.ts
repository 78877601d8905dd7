/** Retry and Catch: which errors they mean, how long is waited, how often. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Retrier } from '../../../../lib/asl/types.ts';
import { matchesError } from '../../../../lib/local/step-functions/interpreter/error-names.ts';
import { call, detailsOf, execute, functionError, machine } from './execute.ts';
import { virtualClock } from './virtual-clock.ts';

/** Seconds between the attempts of a call that always fails. */
async function waits(retry: Retrier[], random = () => 0.5): Promise<number[]> {
  const clock = virtualClock();
  const times: number[] = [];
  await execute(machine({ Work: call('work', {}, { Retry: retry, End: true }) }), {
    clock,
    random,
    functions: {
      work: () => {
        times.push(clock.now());
        throw functionError('Boom');
      },
    },
  });
  return times.slice(1).map((time, index) => (time - (times[index] ?? 0)) / 1000);
}

describe('Retry', () => {
  test.each<[string, Retrier, number[]]>([
    ['defaults: three attempts, 1 s doubled', { ErrorEquals: ['Boom'] }, [1, 2, 4]],
    [
      'interval and rate',
      { ErrorEquals: ['Boom'], IntervalSeconds: 3, BackoffRate: 1.5, MaxAttempts: 3 },
      [3, 4.5, 6.75],
    ],
    [
      'a maximum delay',
      { ErrorEquals: ['Boom'], IntervalSeconds: 4, MaxDelaySeconds: 10, MaxAttempts: 4 },
      [4, 8, 10, 10],
    ],
    ['no attempt at all', { ErrorEquals: ['Boom'], MaxAttempts: 0 }, []],
    ['another error', { ErrorEquals: ['Other'] }, []],
    [
      'full jitter',
      { ErrorEquals: ['States.ALL'], JitterStrategy: 'FULL', IntervalSeconds: 8, MaxAttempts: 2 },
      [4, 8],
    ],
    [
      'no jitter by name',
      { ErrorEquals: ['States.TaskFailed'], JitterStrategy: 'NONE', MaxAttempts: 1 },
      [1],
    ],
  ])('%s', async (_, retrier, expected) => {
    expect(await waits([retrier])).toEqual(expected);
  });

  test('full jitter stays between 0 and the capped delay', async () => {
    await fc.assert(
      fc.asyncProperty(fc.double({ min: 0, max: 0.999, noNaN: true }), async (share) => {
        const retrier: Retrier = {
          ErrorEquals: ['States.ALL'],
          JitterStrategy: 'FULL',
          IntervalSeconds: 5,
          MaxDelaySeconds: 12,
          MaxAttempts: 3,
        };
        const got = await waits([retrier], () => share);
        const limits = [5, 10, 12];
        expect(got.every((wait, index) => wait >= 0 && wait <= (limits[index] ?? 0))).toBe(true);
      }),
      { numRuns: 20 },
    );
  });

  test('each retrier counts for itself, and the context tells the retries', async () => {
    const errors = ['A', 'B', 'A', 'B', 'A'];
    const seen: unknown[] = [];
    const { outcome } = await execute(
      machine({
        Work: call('work', '{% $states.context.State.RetryCount %}', {
          Retry: [
            { ErrorEquals: ['A'], MaxAttempts: 2 },
            { ErrorEquals: ['B'], MaxAttempts: 5 },
          ],
          End: true,
        }),
      }),
      {
        functions: {
          work: (payload) => {
            seen.push(payload);
            throw functionError(errors.shift() ?? 'none left');
          },
        },
      },
    );
    expect(seen).toEqual([0, 1, 2, 3, 4]);
    expect(outcome).toMatchObject({ status: 'FAILED', error: 'A' });
  });
});

describe('ErrorEquals', () => {
  test.each([
    [['States.ALL'], 'Any', true],
    [['States.ALL'], 'States.Timeout', true],
    [['States.ALL'], undefined, true],
    [['States.ALL'], 'States.DataLimitExceeded', false],
    [['States.ALL', 'States.Runtime'], 'States.Runtime', false],
    [['States.DataLimitExceeded'], 'States.DataLimitExceeded', true],
    [['States.TaskFailed'], 'Any', true],
    [['States.TaskFailed'], 'States.Timeout', false],
    [['States.TaskFailed'], 'States.DataLimitExceeded', false],
    [['A', 'B'], 'B', true],
    [['A', 'B'], 'C', false],
    [[], 'A', false],
  ])('%j means %s: %s', (names, error, expected) => {
    expect(matchesError(names, { error })).toBe(expected);
  });

  test('a missed heartbeat has two names', () => {
    const failure = { error: 'States.Timeout', alias: 'States.HeartbeatTimeout' };
    expect(matchesError(['States.HeartbeatTimeout'], failure)).toBe(true);
    expect(matchesError(['States.Timeout'], failure)).toBe(true);
    expect(matchesError(['States.HeartbeatTimeout'], { error: 'States.Timeout' })).toBe(false);
  });
});

describe('Catch', () => {
  test('the first clause that means the error takes over, with Assign and Output of its own', async () => {
    const { outcome } = await execute(
      machine({
        Work: call(
          'work',
          {},
          {
            Catch: [
              { ErrorEquals: ['Other'], Next: 'Unreached' },
              {
                ErrorEquals: ['Boom'],
                Next: 'Caught',
                Assign: { error: '{% $states.errorOutput.Error %}' },
                Output: { input: '{% $states.input %}' },
              },
            ],
            End: true,
          },
        ),
        Unreached: { Type: 'Fail' },
        Caught: {
          Type: 'Pass',
          Output: { error: '{% $error %}', input: '{% $states.input.input %}' },
          End: true,
        },
      }),
      {
        input: 7,
        functions: {
          work: () => {
            throw functionError('Boom');
          },
        },
      },
    );
    expect(outcome).toEqual({ status: 'SUCCEEDED', output: { error: 'Boom', input: 7 } });
  });

  test('retries come before it', async () => {
    let calls = 0;
    const { outcome } = await execute(
      machine({
        Work: call(
          'work',
          {},
          {
            Retry: [{ ErrorEquals: ['States.ALL'], MaxAttempts: 2 }],
            Catch: [{ ErrorEquals: ['States.ALL'], Next: 'Caught' }],
            End: true,
          },
        ),
        Caught: { Type: 'Succeed' },
      }),
      {
        functions: {
          work: () => {
            calls += 1;
            throw functionError('Boom', 'why');
          },
        },
      },
    );
    expect(calls).toBe(3);
    expect(outcome).toMatchObject({ output: { Error: 'Boom' } });
  });

  test('what fails in a clause fails the state again, from before its first failure', async () => {
    const { outcome, events } = await execute(
      machine({
        P: {
          Type: 'Parallel',
          Branches: [
            { StartAt: 'Boom', States: { Boom: { Type: 'Fail', Error: 'MyError', Cause: 'my cause' } } },
          ],
          Catch: [
            { ErrorEquals: ['Other'], Next: 'Done' },
            { ErrorEquals: ['States.ALL'], Output: { v: '{% $states.input.missing %}' }, Next: 'Done' },
          ],
          End: true,
        },
        Done: { Type: 'Pass', End: true },
      }),
    );
    expect(events.map(({ type, previousEventId }) => [type, previousEventId])).toEqual([
      ['ExecutionStarted', 0],
      ['ParallelStateEntered', 0],
      ['ParallelStateStarted', 2],
      ['FailStateEntered', 3],
      ['ParallelStateFailed', 4],
      ['EvaluationFailed', 4],
      ['ParallelStateFailed', 6],
      ['ExecutionFailed', 7],
    ]);
    expect(detailsOf(events[5] ?? fail())).toMatchObject({ location: 'Catch[1]/Output/v', state: 'P' });
    expect(outcome).toMatchObject({ status: 'FAILED', error: 'States.QueryEvaluationError' });
  });

  test('an evaluation that fails is retried and caught like a call', async () => {
    const { outcome, events } = await execute(
      machine({
        Work: call('work', '{% $states.input.missing %}', {
          Retry: [{ ErrorEquals: ['States.QueryEvaluationError'], MaxAttempts: 1 }],
          Catch: [{ ErrorEquals: ['States.ALL'], Next: 'Caught' }],
          End: true,
        }),
        Caught: { Type: 'Succeed', Output: '{% $states.input.Error %}' },
      }),
    );
    expect(events.filter(({ type }) => type === 'EvaluationFailed')).toHaveLength(2);
    expect(outcome).toEqual({ status: 'SUCCEEDED', output: 'States.QueryEvaluationError' });
  });
});

function fail(): never {
  throw new Error('no such event');
}
