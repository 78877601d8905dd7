/** The API as the SDK's client sees it. */
import {
  CreateScheduleCommand,
  CreateScheduleGroupCommand,
  DeleteScheduleCommand,
  DeleteScheduleGroupCommand,
  GetScheduleCommand,
  GetScheduleGroupCommand,
  ListScheduleGroupsCommand,
  ListSchedulesCommand,
  ListTagsForResourceCommand,
  TagResourceCommand,
  UntagResourceCommand,
  UpdateScheduleCommand,
} from '@aws-sdk/client-scheduler';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MACHINE, ROLE, type Running, refusal, schedule, startScheduler } from './harness.ts';

let running: Running;
beforeEach(async () => {
  running = await startScheduler({ groups: ['mwe'] });
});
afterEach(async () => {
  await running.close();
  expect(running.failures).toEqual([]);
});

describe('a schedule', () => {
  it('is answered as it was made, with AWS defaults', async () => {
    const { client } = running;
    const made = await client.send(new CreateScheduleCommand(schedule('nightly', { GroupName: 'mwe' })));
    expect(made.ScheduleArn).toBe('arn:aws:scheduler:us-east-1:000000000000:schedule/mwe/nightly');
    const { $metadata, CreationDate, LastModificationDate, ...got } = await client.send(
      new GetScheduleCommand({ Name: 'nightly', GroupName: 'mwe' }),
    );
    expect(CreationDate).toBeInstanceOf(Date);
    expect(LastModificationDate).toEqual(CreationDate);
    expect(got).toEqual({
      Arn: made.ScheduleArn,
      Name: 'nightly',
      GroupName: 'mwe',
      ScheduleExpression: 'cron(0 * * * ? *)',
      ScheduleExpressionTimezone: 'UTC',
      State: 'ENABLED',
      FlexibleTimeWindow: { Mode: 'OFF' },
      ActionAfterCompletion: 'NONE',
      Target: {
        Arn: MACHINE,
        RoleArn: ROLE,
        Input: '{}',
        RetryPolicy: { MaximumEventAgeInSeconds: 86_400, MaximumRetryAttempts: 185 },
      },
    });
  });

  it('keeps everything that can be said of it', async () => {
    const { client } = running;
    const full = schedule('full', {
      ScheduleExpression: 'at(2030-01-31T08:30:00)',
      ScheduleExpressionTimezone: 'Europe/Vienna',
      StartDate: new Date('2027-01-01T00:00:00Z'),
      EndDate: new Date('2028-01-01T00:00:00.500Z'),
      Description: 'once',
      State: 'DISABLED',
      FlexibleTimeWindow: { Mode: 'FLEXIBLE', MaximumWindowInMinutes: 15 },
      KmsKeyArn: 'arn:aws:kms:us-east-1:000000000000:key/k',
      ActionAfterCompletion: 'DELETE',
      Target: {
        Arn: 'arn:aws:scheduler:::aws-sdk:sfn:startExecution',
        RoleArn: ROLE,
        Input: JSON.stringify({ StateMachineArn: MACHINE }),
        RetryPolicy: { MaximumEventAgeInSeconds: 60, MaximumRetryAttempts: 0 },
        DeadLetterConfig: { Arn: 'arn:aws:sqs:us-east-1:000000000000:dead' },
      },
    });
    await client.send(new CreateScheduleCommand(full));
    const { ClientToken, ...expected } = full;
    expect(await client.send(new GetScheduleCommand({ Name: 'full' }))).toMatchObject(expected);
  });

  it('is replaced whole by an update', async () => {
    const { client } = running;
    const before = schedule('a', {
      Description: 'old',
      State: 'DISABLED',
      ScheduleExpressionTimezone: 'Asia/Tokyo',
    });
    const { ScheduleArn } = await client.send(new CreateScheduleCommand(before));
    const updated = await client.send(
      new UpdateScheduleCommand(schedule('a', { ScheduleExpression: 'rate(2 hours)' })),
    );
    expect(updated.ScheduleArn).toBe(ScheduleArn);
    const got = await client.send(new GetScheduleCommand({ Name: 'a' }));
    expect(got).toMatchObject({
      ScheduleExpression: 'rate(2 hours)',
      ScheduleExpressionTimezone: 'UTC',
      State: 'ENABLED',
    });
    expect(got.Description).toBeUndefined();
  });

  it('is found in its group only', async () => {
    const { client } = running;
    await client.send(new CreateScheduleCommand(schedule('a', { GroupName: 'mwe' })));
    const here = { Name: 'a' };
    const text = 'ResourceNotFoundException: Schedule a does not exist.';
    expect(await refusal(client.send(new GetScheduleCommand(here)))).toBe(text);
    expect(await refusal(client.send(new DeleteScheduleCommand(here)))).toBe(text);
    expect(await refusal(client.send(new UpdateScheduleCommand(schedule('a'))))).toBe(text);
    await client.send(new CreateScheduleCommand(schedule('a')));
    await client.send(new DeleteScheduleCommand({ ...here, GroupName: 'mwe' }));
    expect(await client.send(new GetScheduleCommand(here))).toMatchObject({ GroupName: 'default' });
  });

  it('wants a group that exists, and a name of its own', async () => {
    const { client } = running;
    expect(await refusal(client.send(new CreateScheduleCommand(schedule('a', { GroupName: 'none' }))))).toBe(
      'ResourceNotFoundException: Schedule group none does not exist.',
    );
    await client.send(new CreateScheduleCommand(schedule('a')));
    expect(await refusal(client.send(new CreateScheduleCommand(schedule('a'))))).toBe(
      'ConflictException: Schedule a already exists.',
    );
  });

  it('is made, changed and deleted once by a request that is sent twice', async () => {
    const { client } = running;
    const first = schedule('a', { ClientToken: 'token-1' });
    const made = await client.send(new CreateScheduleCommand(first));
    expect((await client.send(new CreateScheduleCommand(first))).ScheduleArn).toBe(made.ScheduleArn);
    expect(
      await refusal(client.send(new CreateScheduleCommand({ ...first, Description: 'another' }))),
    ).toMatch(/^ConflictException: The client token was used before/);
    const change = schedule('a', { Description: 'b', ClientToken: 'token-2' });
    await client.send(new UpdateScheduleCommand(change));
    const { LastModificationDate } = await client.send(new GetScheduleCommand({ Name: 'a' }));
    await client.send(new UpdateScheduleCommand(change));
    expect(await client.send(new GetScheduleCommand({ Name: 'a' }))).toMatchObject({ LastModificationDate });
    const remove = { Name: 'a', ClientToken: 'token-3' };
    await client.send(new DeleteScheduleCommand(remove));
    await client.send(new DeleteScheduleCommand(remove));
    expect(await refusal(client.send(new DeleteScheduleCommand({ Name: 'a' })))).toMatch(/does not exist/);
  });
});

describe('a request at fault', () => {
  const target = (changes: object) => ({ Target: { Arn: MACHINE, RoleArn: ROLE, ...changes } });
  it.each([
    [
      schedule('a b'),
      "1 validation error detected: Value 'a b' at 'name' failed to satisfy constraint: Member must satisfy regular expression pattern: ^[0-9a-zA-Z-_.]+$",
    ],
    [
      schedule('a'.repeat(65)),
      `1 validation error detected: Value '${'a'.repeat(65)}' at 'name' failed to satisfy constraint: Member must have length less than or equal to 64`,
    ],
    [
      schedule(
        'a',
        target({ RoleArn: 'role', RetryPolicy: { MaximumRetryAttempts: 186, MaximumEventAgeInSeconds: 59 } }),
      ),
      "3 validation errors detected: Value 'role' at 'target.roleArn' failed to satisfy constraint: Member must satisfy regular expression pattern: ^arn:aws[a-z-]*:iam::\\d{12}:role\\/[\\w+=,.@/-]+$; " +
        "Value '59' at 'target.retryPolicy.maximumEventAgeInSeconds' failed to satisfy constraint: Member must have value greater than or equal to 60; " +
        "Value '186' at 'target.retryPolicy.maximumRetryAttempts' failed to satisfy constraint: Member must have value less than or equal to 185",
    ],
    [
      schedule('a', { State: 'ON' as 'ENABLED' }),
      "1 validation error detected: Value 'ON' at 'state' failed to satisfy constraint: Member must satisfy enum value set: [ENABLED, DISABLED]",
    ],
    [
      schedule('a', { Description: 'x'.repeat(513) }),
      "1 validation error detected: Value at 'description' failed to satisfy constraint: Member must have length less than or equal to 512",
    ],
    [
      { ...schedule('a'), Target: undefined },
      "1 validation error detected: Value null at 'target' failed to satisfy constraint: Member must not be null",
    ],
    [
      schedule('a', { FlexibleTimeWindow: { Mode: 'FLEXIBLE' } }),
      'MaximumWindowInMinutes must be provided when FlexibleTimeWindow Mode is FLEXIBLE.',
    ],
    [
      schedule('a', { FlexibleTimeWindow: { Mode: 'OFF', MaximumWindowInMinutes: 5 } }),
      'MaximumWindowInMinutes must not be provided when FlexibleTimeWindow Mode is OFF.',
    ],
    [
      schedule('a', { StartDate: new Date(2_000), EndDate: new Date(1_000) }),
      'The EndDate you specify must come after the StartDate.',
    ],
    [
      schedule('a', { ScheduleExpression: 'cron(0 2 * * * *)' }),
      'Invalid Schedule Expression cron(0 2 * * * *). cron(0 2 * * * *): exactly one of day-of-month and day-of-week must be ?, neither is; write day-of-month * and day-of-week ?',
    ],
    [
      schedule('a', { ScheduleExpressionTimezone: 'Europe/Viena' }),
      'Invalid Schedule Expression Timezone Europe/Viena. "Europe/Viena" is no time zone; did you mean "Europe/Vienna"?',
    ],
  ])('is refused with what is wrong: %#', async (request, text) => {
    const { client } = running;
    expect(await refusal(client.send(new CreateScheduleCommand(request)))).toBe(
      `ValidationException: ${text}`,
    );
    expect((await client.send(new ListSchedulesCommand({}))).Schedules).toEqual([]);
  });

  it('in an update leaves the schedule as it was', async () => {
    const { client } = running;
    await client.send(new CreateScheduleCommand(schedule('a')));
    const bad = schedule('a', { ScheduleExpression: 'rate(1 minutes)' });
    expect(await refusal(client.send(new UpdateScheduleCommand(bad)))).toMatch('write rate(1 minute)');
    expect(await client.send(new GetScheduleCommand({ Name: 'a' }))).toMatchObject({
      ScheduleExpression: 'cron(0 * * * ? *)',
    });
  });

  it.each([
    ['POST', '/schedules/a', '{', 400, 'ValidationException'],
    ['POST', '/schedules/a', '[]', 400, 'ValidationException'],
    ['POST', '/schedules/%zz', '{}', 400, 'ValidationException'],
    ['POST', '/schedules/a', `{"x":"${'x'.repeat(1024 * 1024)}"}`, 400, 'ValidationException'],
    ['GET', '/schedules?MaxResults=many', undefined, 400, 'ValidationException'],
    ['GET', '/schedules?MaxResults=0', undefined, 400, 'ValidationException'],
    ['GET', '/schedules/a/b', undefined, 404, 'UnknownOperationException'],
    ['PATCH', '/schedules/a', '{}', 404, 'UnknownOperationException'],
    ['GET', '/', undefined, 404, 'UnknownOperationException'],
  ])('%s %s on the wire is %#', async (method, path, body, status, name) => {
    const response = await fetch(`${running.url}${path}`, {
      method,
      ...(body === undefined ? {} : { body }),
    });
    expect([response.status, response.headers.get('x-amzn-errortype')]).toEqual([status, name]);
    expect(await response.json()).toEqual({ Message: expect.any(String) });
  });
});

describe('ListSchedules', () => {
  it('answers pages of what group, prefix and state leave', async () => {
    const { client } = running;
    for (const name of ['a1', 'a2', 'a3', 'b1']) {
      await client.send(new CreateScheduleCommand(schedule(name, { GroupName: 'mwe' })));
    }
    await client.send(new CreateScheduleCommand(schedule('a9', { State: 'DISABLED' })));
    const names = async (input: object): Promise<(string | undefined)[]> =>
      (await client.send(new ListSchedulesCommand(input))).Schedules?.map(({ Name }) => Name) ?? [];
    expect(await names({})).toEqual(['a9', 'a1', 'a2', 'a3', 'b1']);
    expect(await names({ GroupName: 'mwe', NamePrefix: 'a' })).toEqual(['a1', 'a2', 'a3']);
    expect(await names({ State: 'DISABLED' })).toEqual(['a9']);

    const query = { GroupName: 'mwe', NamePrefix: 'a', MaxResults: 2 };
    const first = await client.send(new ListSchedulesCommand(query));
    expect(first.Schedules?.[0]).toMatchObject({
      Arn: 'arn:aws:scheduler:us-east-1:000000000000:schedule/mwe/a1',
      State: 'ENABLED',
      Target: { Arn: MACHINE },
    });
    const { NextToken } = first;
    expect(await names({ ...query, NextToken })).toEqual(['a3']);
    expect(await refusal(names({ ...query, NamePrefix: 'b', NextToken }))).toBe(
      'ValidationException: Invalid NextToken.',
    );
    expect(await refusal(names({ GroupName: 'none' }))).toMatch(/^ResourceNotFoundException/);
  });
});

describe('a schedule group', () => {
  it('is made, answered, listed and deleted with its schedules', async () => {
    const { client } = running;
    const { ScheduleGroupArn } = await client.send(
      new CreateScheduleGroupCommand({ Name: 'more', Tags: [{ Key: 'k', Value: 'v' }] }),
    );
    expect(ScheduleGroupArn).toBe('arn:aws:scheduler:us-east-1:000000000000:schedule-group/more');
    expect(await client.send(new GetScheduleGroupCommand({ Name: 'more' }))).toMatchObject({
      Arn: ScheduleGroupArn,
      Name: 'more',
      State: 'ACTIVE',
    });
    const { ScheduleGroups } = await client.send(new ListScheduleGroupsCommand({}));
    expect(ScheduleGroups?.map(({ Name }) => Name)).toEqual(['default', 'more', 'mwe']);
    await client.send(new CreateScheduleCommand(schedule('a', { GroupName: 'more' })));
    await client.send(new DeleteScheduleGroupCommand({ Name: 'more' }));
    expect(await refusal(client.send(new GetScheduleGroupCommand({ Name: 'more' })))).toBe(
      'ResourceNotFoundException: Schedule group more does not exist.',
    );
    expect((await client.send(new ListSchedulesCommand({}))).Schedules).toEqual([]);
  });

  it('is there once, and default is always there', async () => {
    const { client } = running;
    expect(await refusal(client.send(new CreateScheduleGroupCommand({ Name: 'mwe' })))).toBe(
      'ConflictException: Schedule group mwe already exists.',
    );
    expect(await refusal(client.send(new DeleteScheduleGroupCommand({ Name: 'default' })))).toMatch(
      /^ValidationException/,
    );
  });

  it('has tags', async () => {
    const { client } = running;
    const { Arn: ResourceArn } = await client.send(new GetScheduleGroupCommand({ Name: 'mwe' }));
    const Tags = [
      { Key: 'a', Value: '1' },
      { Key: 'b', Value: '2' },
    ];
    await client.send(new TagResourceCommand({ ResourceArn, Tags }));
    await client.send(new TagResourceCommand({ ResourceArn, Tags: [{ Key: 'a', Value: '3' }] }));
    await client.send(new UntagResourceCommand({ ResourceArn, TagKeys: ['b', 'c'] }));
    const answered = await client.send(new ListTagsForResourceCommand({ ResourceArn }));
    expect(answered.Tags).toEqual([{ Key: 'a', Value: '3' }]);
  });
});
