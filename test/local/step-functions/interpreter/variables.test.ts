/** Assign: when variables change, who sees them, how large they may be. */
import { describe, expect, test } from 'vitest';
import type { State } from '../../../../lib/asl/types.ts';
import { call, detailsOf, execute, machine } from './execute.ts';

const MIB = 1024 * 1024;

describe('Assign', () => {
  test('all expressions see the values from before, and so does Output', async () => {
    const { outcome } = await execute(
      machine({
        A: { Type: 'Pass', Assign: { x: 1, y: 2 }, Next: 'B' },
        B: { Type: 'Pass', Assign: { x: '{% $y %}', y: '{% $x %}' }, Output: '{% [$x, $y] %}', Next: 'C' },
        C: { Type: 'Pass', Output: { before: '{% $states.input %}', after: '{% [$x, $y] %}' }, End: true },
      }),
    );
    expect(outcome).toEqual({ status: 'SUCCEEDED', output: { before: [1, 2], after: [2, 1] } });
  });

  test('a Choice has the Assign of its rule, or its own with Default', async () => {
    const choice: State = {
      Type: 'Choice',
      Choices: [{ Condition: '{% $states.input.rule %}', Next: 'Out', Assign: { by: 'rule' }, Output: 1 }],
      Default: 'Out',
      Assign: { by: 'default' },
      Output: 2,
    };
    const definition = machine({
      C: choice,
      Out: { Type: 'Pass', Output: '{% [$by, $states.input] %}', End: true },
    });
    expect((await execute(definition, { input: { rule: true } })).outcome).toMatchObject({
      output: ['rule', 1],
    });
    expect((await execute(definition, { input: { rule: false } })).outcome).toMatchObject({
      output: ['default', 2],
    });
  });

  test('the Exited event has them as JSON texts in order of their names', async () => {
    const { events } = await execute(
      machine({ A: { Type: 'Pass', Assign: { b: '{% {"k": 1} %}', a: 'text' }, End: true } }),
    );
    const details = detailsOf(events[2] ?? { id: 0, previousEventId: 0, timestamp: 0, type: '' });
    expect(details.assignedVariables).toEqual({ a: '"text"', b: '{"k":1}' });
    expect(Object.keys(details.assignedVariables ?? {})).toEqual(['a', 'b']);
    expect(details.assignedVariablesDetails).toEqual({ truncated: false });
  });
});

describe('scopes', () => {
  const inner = (states: Record<string, State>): State => ({
    Type: 'Parallel',
    Branches: [{ StartAt: Object.keys(states)[0] ?? '', States: states }],
    Next: 'After',
  });

  test('branches and iterations read outer variables and keep their own', async () => {
    const { outcome } = await execute(
      machine({
        Start: { Type: 'Pass', Assign: { base: 10 }, Next: 'M' },
        M: {
          Type: 'Map',
          Items: [1, 2, 3],
          ItemProcessor: {
            StartAt: 'Set',
            States: {
              Set: { Type: 'Pass', Assign: { mine: '{% $states.input + $base %}' }, Next: 'Wait' },
              Wait: { Type: 'Wait', Seconds: 1, Next: 'Get' },
              Get: { Type: 'Pass', Output: '{% $mine %}', End: true },
            },
          },
          Assign: { all: '{% $states.result %}' },
          Next: 'After',
        },
        After: { Type: 'Pass', Output: { all: '{% $all %}', mine: '{% $exists($mine) %}' }, End: true },
      }),
    );
    expect(outcome).toEqual({ status: 'SUCCEEDED', output: { all: [11, 12, 13], mine: false } });
  });

  test('an outer variable cannot be assigned from within', async () => {
    const { outcome } = await execute(
      machine({
        Start: { Type: 'Pass', Assign: { x: 1 }, Next: 'P' },
        P: inner({ Set: { Type: 'Pass', Assign: { x: 2 }, End: true } }),
        After: { Type: 'Succeed' },
      }),
    );
    expect(outcome).toMatchObject({
      error: 'States.QueryEvaluationError',
      cause: expect.stringContaining("The variable 'x' belongs to an outer scope"),
    });
  });

  test('children of a distributed Map see none', async () => {
    const { outcome } = await execute(
      machine({
        Start: { Type: 'Pass', Assign: { x: 1 }, Next: 'M' },
        M: {
          Type: 'Map',
          Items: [1],
          ItemProcessor: {
            ProcessorConfig: { Mode: 'DISTRIBUTED', ExecutionType: 'STANDARD' },
            StartAt: 'Get',
            States: { Get: { Type: 'Pass', Output: '{% $exists($x) %}', End: true } },
          },
          End: true,
        },
      }),
    );
    expect(outcome).toEqual({ status: 'SUCCEEDED', output: [false] });
  });
});

describe('limits', () => {
  /** A text whose JSON has `bytes` bytes. */
  const text = (bytes: number) => 'x'.repeat(bytes - 2);

  test.each([
    ['one of 256 KiB', { a: text(MIB / 4) }, true],
    ['one over it', { a: text(MIB / 4 + 1) }, false],
    ['two that make 256 KiB', { a: text(MIB / 8), b: text(MIB / 8) }, true],
    ['two over it', { a: text(MIB / 8), b: text(MIB / 8 + 1) }, false],
  ])('%s in one Assign: %s', async (_, assigned, allowed) => {
    const { outcome, events } = await execute(machine({ A: { Type: 'Pass', Assign: assigned, End: true } }));
    if (allowed) return expect(outcome.status).toBe('SUCCEEDED');
    expect(outcome).toMatchObject({
      error: 'States.DataLimitExceeded',
      cause:
        "State variable size limit exceeded. State 'A' assigned variables that exceed the limit of a state by 1 bytes.",
    });
    expect(events.at(-2)).toMatchObject({
      type: 'EvaluationFailed',
      evaluationFailedEventDetails: { location: 'Assign', state: 'A' },
    });
  });

  test('10 MiB in all, as AWS counted them', async () => {
    const states: Record<string, State> = {};
    for (let index = 1; index <= 43; index += 1) {
      states[`Assign${index}`] = {
        Type: 'Pass',
        Assign: { [`v${index}`]: text(250_002) },
        Next: `Assign${index + 1}`,
      };
    }
    states.Assign44 = { Type: 'Succeed' };
    const { outcome, events } = await execute(machine(states));
    expect(outcome).toMatchObject({
      status: 'FAILED',
      error: 'States.DataLimitExceeded',
      cause:
        "Execution total variable size limit exceeded. State 'Assign42' assigned variables that exceed the total execution limit by 14324 bytes.",
    });
    expect(events.slice(-2).map(({ id, type }) => [id, type])).toEqual([
      [85, 'EvaluationFailed'],
      [86, 'ExecutionFailed'],
    ]);
  });

  test('what a finished lane held is free again', async () => {
    const { outcome } = await execute(
      machine({
        M: {
          Type: 'Map',
          Items: Array.from({ length: 60 }, (_, index) => index),
          MaxConcurrency: 1,
          ItemProcessor: {
            StartAt: 'Set',
            States: { Set: { Type: 'Pass', Assign: { big: text(250_000) }, Output: 0, End: true } },
          },
          End: true,
        },
      }),
    );
    expect(outcome.status).toBe('SUCCEEDED');
  });

  test('what a failed attempt held is free again', async () => {
    let attempts = 0;
    const { outcome } = await execute(
      machine({
        P: {
          Type: 'Parallel',
          Branches: [
            {
              StartAt: 'Set',
              States: {
                Set: { Type: 'Pass', Assign: { big: text(250_000) }, Next: 'Work' },
                Work: call('work', {}),
              },
            },
          ],
          Retry: [{ ErrorEquals: ['States.ALL'], MaxAttempts: 60, MaxDelaySeconds: 1 }],
          End: true,
        },
      }),
      {
        functions: {
          work: () => {
            attempts += 1;
            if (attempts < 50) throw new Error('again');
            return 'done';
          },
        },
      },
    );
    expect(outcome).toEqual({ status: 'SUCCEEDED', output: ['done'] });
  });
});
