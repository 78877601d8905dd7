/** What is delivered, when, how often and with what, on a clock that the test moves. */
import {
  CreateScheduleCommand,
  type CreateScheduleCommandInput,
  DeleteScheduleCommand,
  GetScheduleCommand,
  UpdateScheduleCommand,
} from '@aws-sdk/client-scheduler';
import { SFNServiceException } from '@aws-sdk/client-sfn';
import { afterEach, describe, expect, it } from 'vitest';
import { ApiError } from '../../../lib/local/api-error.ts';
import { LambdaServiceError } from '../../../lib/local/step-functions/contract.ts';
import { MACHINE, ROLE, type Running, refusal, schedule, startScheduler, UNIVERSAL } from './harness.ts';
import { type TestClock, testClock } from './test-clock.ts';

let running: Running;
let clock: TestClock;
/** Time of each start. */
let times: string[];
/** What the next starts are refused with, one after the other. */
let refusals: Error[];

async function begin(start: string, options: Parameters<typeof startScheduler>[0] = {}): Promise<void> {
  clock = testClock(start);
  times = [];
  refusals = [];
  running = await startScheduler({
    clock,
    onStart: () => {
      times.push(new Date(clock.now()).toISOString());
      const error = refusals.shift();
      if (error !== undefined) throw error;
    },
    ...options,
  });
}
afterEach(() => running.close());

const moveTo = (time: string): Promise<void> => clock.moveTo(time, running.idle);
const create = (name: string, changes: Partial<CreateScheduleCommandInput> = {}): Promise<unknown> =>
  running.client.send(new CreateScheduleCommand(schedule(name, changes)));
const update = (name: string, changes: Partial<CreateScheduleCommandInput> = {}): Promise<unknown> =>
  running.client.send(new UpdateScheduleCommand(schedule(name, changes)));
const exists = (Name: string): Promise<boolean> =>
  running.client.send(new GetScheduleCommand({ Name })).then(
    () => true,
    () => false,
  );

describe('when', () => {
  it('a cron expression is due at the beginning of its minutes, on the wall clock of its zone', async () => {
    await begin('2026-10-24T12:00:20Z');
    await create('a', {
      ScheduleExpression: 'cron(30 2 * * ? *)',
      ScheduleExpressionTimezone: 'Europe/Vienna',
    });
    await moveTo('2026-10-27T00:00:00Z');
    expect(times).toEqual([
      '2026-10-25T00:30:00.000Z', // the first 02:30 of the two
      '2026-10-26T01:30:00.000Z',
    ]);
    expect(running.failures).toEqual([]);
  });

  it('a rate begins at once and then keeps its pace, from its start date where it has one', async () => {
    await begin('2026-01-01T00:00:10Z');
    await create('now', { ScheduleExpression: 'rate(1 day)' });
    await create('later', {
      ScheduleExpression: 'rate(12 hours)',
      StartDate: new Date('2026-01-02T06:00:00Z'),
      EndDate: new Date('2026-01-03T06:00:00Z'),
    });
    await moveTo('2026-01-04T00:00:00Z');
    expect(times).toEqual([
      '2026-01-01T00:00:10.000Z',
      '2026-01-02T00:00:10.000Z',
      '2026-01-02T06:00:00.000Z',
      '2026-01-02T18:00:00.000Z',
      '2026-01-03T00:00:10.000Z',
      '2026-01-03T06:00:00.000Z',
    ]);
  });

  it('a one-time schedule runs once, whatever its dates say, and never for a time that is over', async () => {
    await begin('2026-01-01T12:00:00Z');
    const EndDate = new Date('2026-01-01T13:00:00Z');
    await create('past', { ScheduleExpression: 'at(2026-01-01T11:00:00)', ActionAfterCompletion: 'DELETE' });
    await create('once', { ScheduleExpression: 'at(2026-01-02T09:00:30)', EndDate });
    await create('gone', { ScheduleExpression: 'at(2026-01-02T10:00:00)', ActionAfterCompletion: 'DELETE' });
    await moveTo('2027-01-01T00:00:00Z');
    expect(times).toEqual(['2026-01-02T09:00:30.000Z', '2026-01-02T10:00:00.000Z']);
    expect([await exists('past'), await exists('once'), await exists('gone')]).toEqual([true, true, false]);
  });

  it('a recurring schedule goes after its last occurrence before the end date, if it is to', async () => {
    await begin('2026-01-01T12:00:20Z');
    const ended = { EndDate: new Date('2026-01-01T14:30:00Z') };
    await create('kept', ended);
    await create('gone', { ...ended, ActionAfterCompletion: 'DELETE' });
    await create('endless', {
      ScheduleExpression: 'cron(0 13 1 1 ? 2026)',
      ActionAfterCompletion: 'DELETE',
    });
    await moveTo('2026-01-01T13:59:59Z');
    expect(await exists('gone')).toBe(true);
    await moveTo('2026-01-02T00:00:00Z');
    expect(times.length).toBe(5);
    expect([await exists('kept'), await exists('gone'), await exists('endless')]).toEqual([
      true,
      false,
      true,
    ]);
  });

  it('nothing is due while it is disabled, nor afterwards what was missed', async () => {
    await begin('2026-01-01T00:30:00Z');
    await create('a', { State: 'DISABLED' });
    await moveTo('2026-01-01T02:30:00Z');
    await update('a');
    await moveTo('2026-01-01T04:30:00Z');
    await update('a', { State: 'DISABLED' });
    await moveTo('2026-01-01T08:30:00Z');
    expect(times).toEqual(['2026-01-01T03:00:00.000Z', '2026-01-01T04:00:00.000Z']);
  });

  it('a change counts at once, also for what sleeps already', async () => {
    await begin('2026-01-01T00:30:00Z');
    await create('a');
    await update('a', { ScheduleExpression: 'cron(45 * * * ? *)' });
    await create('b');
    await running.client.send(new DeleteScheduleCommand({ Name: 'b' }));
    await moveTo('2026-01-01T01:30:00Z');
    expect(times).toEqual(['2026-01-01T00:45:00.000Z']);
  });

  it('a change that is not about time does not start a rate anew', async () => {
    await begin('2026-01-01T00:00:00Z');
    const rate = { ScheduleExpression: 'rate(2 hours)' };
    await create('a', rate);
    await moveTo('2026-01-01T00:30:00Z');
    await update('a', { ...rate, Description: 'more' });
    await moveTo('2026-01-01T02:30:00Z');
    expect(times).toEqual(['2026-01-01T00:00:00.000Z', '2026-01-01T02:00:00.000Z']);
  });

  it('a flexible window is kept, and the time that was scheduled is told', async () => {
    await begin('2026-01-01T00:30:00Z');
    await create('a', {
      FlexibleTimeWindow: { Mode: 'FLEXIBLE', MaximumWindowInMinutes: 30 },
      Target: { Arn: MACHINE, RoleArn: ROLE, Input: '"<aws.scheduler.scheduled-time>"' },
    });
    await moveTo('2026-01-01T03:45:00Z');
    expect(running.started.map(({ input }) => input)).toEqual([
      '"2026-01-01T01:00:00Z"',
      '"2026-01-01T02:00:00Z"',
      '"2026-01-01T03:00:00Z"',
    ]);
    const minutes = times.map((time, hour) => (Date.parse(time) - Date.UTC(2026, 0, 1, hour + 1)) / 60_000);
    expect(minutes.every((minute) => minute >= 0 && minute < 30)).toBe(true);
    expect(new Set(minutes).size).toBe(3);
  });
});

describe('what', () => {
  it('the universal target starts an execution with what the attributes say', async () => {
    await begin('2026-01-01T00:30:00Z');
    await create('nightly', {
      Target: {
        Arn: UNIVERSAL,
        RoleArn: ROLE,
        Input: JSON.stringify({
          StateMachineArn: `${MACHINE}:3`,
          Name: '<aws.scheduler.execution-id>',
          Input: JSON.stringify({
            schedule: {
              arn: '<aws.scheduler.schedule-arn>',
              time: '<aws.scheduler.scheduled-time>',
              execution: '<aws.scheduler.execution-id>',
              attempt: '<aws.scheduler.attempt-number>',
              other: '<aws.scheduler.other>',
            },
          }),
        }),
      },
    });
    await moveTo('2026-01-01T02:30:00Z');
    expect(running.started).toHaveLength(2);
    const [first, second] = running.started;
    expect(first?.stateMachineArn).toBe(`${MACHINE}:3`);
    expect(first?.name).toMatch(/^[0-9a-f]{16}$/);
    expect(second?.name).not.toBe(first?.name);
    expect(JSON.parse(first?.input ?? '')).toEqual({
      schedule: {
        arn: 'arn:aws:scheduler:us-east-1:000000000000:schedule/default/nightly',
        time: '2026-01-01T01:00:00Z',
        execution: first?.name,
        attempt: '1',
        other: '<aws.scheduler.other>',
      },
    });
  });

  it('a state machine gets the input, or a notification', async () => {
    await begin('2026-01-01T00:30:00Z');
    await create('given', { Target: { Arn: MACHINE, RoleArn: ROLE, Input: '{"a":1}' } });
    await create('none', { Target: { Arn: `${MACHINE}:1`, RoleArn: ROLE } });
    await moveTo('2026-01-01T01:30:00Z');
    expect(running.started[0]).toEqual({ stateMachineArn: MACHINE, input: '{"a":1}' });
    expect(JSON.parse(running.started[1]?.input ?? '')).toMatchObject({
      source: 'aws.scheduler',
      'detail-type': 'Scheduled Event',
      time: '2026-01-01T01:00:00Z',
      resources: ['arn:aws:scheduler:us-east-1:000000000000:schedule/default/none'],
    });
  });

  it('a function is invoked', async () => {
    await begin('2026-01-01T00:30:00Z');
    const functionName = 'arn:aws:lambda:us-east-1:000000000000:function:mwe-run-events';
    await create('sweep', { Target: { Arn: functionName, RoleArn: ROLE, Input: '{"sweep":true}' } });
    await moveTo('2026-01-01T01:30:00Z');
    expect(running.invoked).toEqual([{ functionName, payload: '{"sweep":true}' }]);
  });

  it.each([
    [
      'arn:aws:sqs:us-east-1:000000000000:queue',
      '{}',
      'no target that the local EventBridge Scheduler invokes',
    ],
    ['arn:aws:scheduler:::aws-sdk:sqs:sendMessage', '{}', 'not aws-sdk:sqs:sendMessage'],
    [UNIVERSAL, undefined, 'must be a JSON object'],
    [UNIVERSAL, '[]', 'must be a JSON object'],
    [UNIVERSAL, '{}', 'StateMachineArn of the universal target sfn:startExecution is missing'],
    [UNIVERSAL, '{"StateMachineArn":"a","Input":{}}', 'Input.Input of the universal target'],
    [MACHINE, '{', 'must be well-formed JSON'],
  ])('%s with %s is refused when it is made', async (Arn, Input, text) => {
    await begin('2026-01-01T00:30:00Z');
    const made = create('a', { Target: { Arn, RoleArn: ROLE, ...(Input === undefined ? {} : { Input }) } });
    expect(await refusal(made)).toMatch(/^ValidationException: /);
    await expect(made).rejects.toThrow(text);
  });
});

describe('a failed attempt', () => {
  const policy = (MaximumRetryAttempts: number, MaximumEventAgeInSeconds = 3600) => ({
    Target: {
      Arn: MACHINE,
      RoleArn: ROLE,
      Input: '<aws.scheduler.attempt-number>',
      RetryPolicy: { MaximumRetryAttempts, MaximumEventAgeInSeconds },
    },
  });
  const throttled = (): Error => new ApiError('ThrottlingException', 'Rate exceeded');

  it('is made again with growing delays, under the same id', async () => {
    await begin('2026-01-01T00:30:00Z');
    refusals.push(throttled(), new ApiError('InternalFailure', 'down', 500), new Error('socket hang up'));
    await create('a', policy(3));
    await moveTo('2026-01-01T01:30:00Z');
    expect(times).toEqual([
      '2026-01-01T01:00:00.000Z',
      '2026-01-01T01:00:01.000Z',
      '2026-01-01T01:00:03.000Z',
      '2026-01-01T01:00:07.000Z',
    ]);
    expect(running.started.map(({ input }) => input)).toEqual(['1', '2', '3', '4']);
    expect(running.failures).toEqual([]);
  });

  it('is given up when the attempts are used up, and the next occurrence comes', async () => {
    await begin('2026-01-01T00:30:00Z');
    refusals.push(throttled(), throttled());
    await create('a', policy(1));
    await moveTo('2026-01-01T02:30:00Z');
    expect(running.started.map(({ input }) => input)).toEqual(['1', '2', '1']);
    expect(running.failures).toEqual([
      'Error: arn:aws:scheduler:us-east-1:000000000000:schedule/default/a: the occurrence of 2026-01-01T01:00:00Z was given up after 2 attempts: ThrottlingException: Rate exceeded',
    ]);
  });

  it('is given up when the event is too old', async () => {
    await begin('2026-01-01T00:30:00Z');
    refusals.push(...Array.from({ length: 20 }, throttled));
    await create('a', policy(185, 60));
    await moveTo('2026-01-01T01:30:00Z');
    // After 0, 1, 3, 7, 15 and 31 seconds; 63 are too many.
    expect(running.started).toHaveLength(6);
    expect(running.failures).toHaveLength(1);
  });

  it.each([
    ['a request at fault', new ApiError('StateMachineDoesNotExist', 'State Machine Does Not Exist')],
    [
      'a request at fault, as the SDK has it',
      new SFNServiceException({
        name: 'StateMachineDoesNotExist',
        $fault: 'client',
        $metadata: { httpStatusCode: 400 },
      }),
    ],
    [
      'no such function',
      new LambdaServiceError('ResourceNotFoundException', 'Function not found', 404, 'id'),
    ],
  ])('is not made again for %s', async (_, error) => {
    await begin('2026-01-01T00:30:00Z');
    refusals.push(error);
    await create('a', policy(185));
    await moveTo('2026-01-01T01:30:00Z');
    expect(running.started).toHaveLength(1);
    expect(running.failures[0]).toMatch(`given up after 1 attempt: ${error.name}`);
  });

  it('is not made again for a schedule that is gone, disabled, or another of the name', async () => {
    await begin('2026-01-01T00:30:00Z');
    for (const name of ['gone', 'off', 'other']) {
      refusals.push(throttled());
      await create(name, policy(185));
    }
    await moveTo('2026-01-01T01:00:00.500Z');
    expect(running.started).toHaveLength(3);
    await running.client.send(new DeleteScheduleCommand({ Name: 'gone' }));
    await update('off', { ...policy(185), State: 'DISABLED' });
    await running.client.send(new DeleteScheduleCommand({ Name: 'other' }));
    await create('other', policy(185));
    await moveTo('2026-01-01T01:30:00Z');
    expect(running.started).toHaveLength(3);
    expect(running.failures).toEqual([]);
  });

  it('does not hold up other schedules', async () => {
    await begin('2026-01-01T00:59:00Z');
    refusals.push(...Array.from({ length: 8 }, throttled));
    await create('a', policy(185));
    await create('b', {
      ScheduleExpression: 'cron(1 * * * ? *)',
      Target: { Arn: MACHINE, RoleArn: ROLE, Input: '"b"' },
    });
    await moveTo('2026-01-01T01:01:00Z');
    expect(running.started.at(-1)?.input).toBe('"b"');
    expect(times.at(-1)).toBe('2026-01-01T01:01:00.000Z');
  });

  it('that found its execution there already was delivered before', async () => {
    await begin('2026-01-01T00:30:00Z');
    const exists = (): Error => new ApiError('ExecutionAlreadyExists', 'Execution Already Exists');
    refusals.push(exists(), exists());
    const target = (Name: string) => ({
      Target: { Arn: UNIVERSAL, RoleArn: ROLE, Input: JSON.stringify({ StateMachineArn: MACHINE, Name }) },
    });
    await create('a', target('<aws.scheduler.execution-id>'));
    await create('b', target('always-this'));
    await moveTo('2026-01-01T01:30:00Z');
    expect(running.failures).toHaveLength(1);
    expect(running.failures[0]).toMatch('schedule/default/b');
  });
});
