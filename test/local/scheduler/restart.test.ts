/** What a stop, a crash and a time of being off leave of schedules and of what was due. */
import { cp, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import {
  CreateScheduleCommand,
  type CreateScheduleCommandInput,
  CreateScheduleGroupCommand,
  GetScheduleCommand,
  ListScheduleGroupsCommand,
  ListTagsForResourceCommand,
} from '@aws-sdk/client-scheduler';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ApiError } from '../../../lib/local/api-error.ts';
import { MACHINE, makeDataDir, ROLE, type Running, schedule, startScheduler, UNIVERSAL } from './harness.ts';
import { type TestClock, testClock } from './test-clock.ts';

let dataDir: string;
let clock: TestClock;
const open: Running[] = [];
beforeEach(async () => {
  dataDir = await makeDataDir();
  clock = testClock('2026-01-01T00:30:00Z');
});
afterEach(async () => {
  for (const running of open.splice(0)) await running.close();
  await rm(dataDir, { recursive: true, force: true });
});

async function start(options: Parameters<typeof startScheduler>[0] = {}): Promise<Running> {
  const running = await startScheduler({ clock, dataDir, ...options });
  open.push(running);
  return running;
}
async function stop(running: Running): Promise<void> {
  open.splice(open.indexOf(running), 1);
  await running.close();
}
/** A schedule whose executions are named and fed by what tells one delivery from another. */
const named = (name: string, changes: Partial<CreateScheduleCommandInput> = {}, ageSeconds = 86_400) =>
  new CreateScheduleCommand(
    schedule(name, {
      Target: {
        Arn: UNIVERSAL,
        RoleArn: ROLE,
        Input: JSON.stringify({
          StateMachineArn: MACHINE,
          Name: '<aws.scheduler.execution-id>',
          Input: '"<aws.scheduler.scheduled-time>"',
        }),
        RetryPolicy: { MaximumEventAgeInSeconds: ageSeconds, MaximumRetryAttempts: 185 },
      },
      ...changes,
    }),
  );
const times = ({ started }: Running): (string | undefined)[] =>
  started.map(({ input }) => input?.slice(1, -1));

describe('a restart', () => {
  it('loses no schedule, no group, no tag and no token', async () => {
    const first = await start({ groups: ['mwe'] });
    const request = schedule('a', { GroupName: 'mwe', ClientToken: 'token' });
    const { ScheduleArn } = await first.client.send(new CreateScheduleCommand(request));
    const group = { Name: 'more', Tags: [{ Key: 'k', Value: 'v' }], ClientToken: 'other' };
    const { ScheduleGroupArn } = await first.client.send(new CreateScheduleGroupCommand(group));
    const { $metadata: _, ...before } = await first.client.send(
      new GetScheduleCommand({ Name: 'a', GroupName: 'mwe' }),
    );
    await stop(first);

    const { client } = await start({ groups: ['mwe'] });
    expect(await client.send(new GetScheduleCommand({ Name: 'a', GroupName: 'mwe' }))).toMatchObject(before);
    expect((await client.send(new CreateScheduleCommand(request))).ScheduleArn).toBe(ScheduleArn);
    await client.send(new CreateScheduleGroupCommand(group));
    const { ScheduleGroups } = await client.send(new ListScheduleGroupsCommand({}));
    expect(ScheduleGroups?.map(({ Name }) => Name)).toEqual(['default', 'more', 'mwe']);
    const { Tags } = await client.send(new ListTagsForResourceCommand({ ResourceArn: ScheduleGroupArn }));
    expect(Tags).toEqual(group.Tags);
  });

  it('keeps files that only their owner reads, with names that nobody chose', async () => {
    const { client } = await start();
    await client.send(new CreateScheduleCommand(schedule('a.b')));
    const folder = join(dataDir, 'schedules');
    const files = await readdir(folder);
    expect(files).toEqual([expect.stringMatching(/^[0-9a-f]{64}\.json$/)]);
    expect((await stat(join(folder, files[0] ?? ''))).mode & 0o777).toBe(0o600);
  });

  it('repeats no occurrence, and goes on with the next', async () => {
    const first = await start();
    await first.client.send(named('a'));
    await clock.moveTo('2026-01-01T02:30:00Z', first.idle);
    expect(times(first)).toEqual(['2026-01-01T01:00:00Z', '2026-01-01T02:00:00Z']);
    await stop(first);
    const second = await start();
    await clock.moveTo('2026-01-01T03:30:00Z', second.idle);
    expect(times(second)).toEqual(['2026-01-01T03:00:00Z']);
  });
});

describe('what was due while it was off', () => {
  it('is delivered where it is younger than its maximum age, and else dropped, in one line', async () => {
    const first = await start();
    await first.client.send(named('a', {}, 3 * 3600));
    await first.client.send(named('every-minute', { ScheduleExpression: 'rate(1 minute)' }, 60));
    await clock.moveTo('2026-01-01T00:45:30Z', first.idle);
    expect(first.started).toHaveLength(16);
    await stop(first);
    await clock.moveTo('2026-01-01T08:30:30Z', async () => undefined);

    const second = await start();
    await clock.moveTo('2026-01-01T08:30:30Z', second.idle);
    expect(times(second)).toEqual(
      ['2026-01-01T08:30:00Z', '2026-01-01T06:00:00Z', '2026-01-01T07:00:00Z', '2026-01-01T08:00:00Z'].sort(),
    );
    const arn = 'Error: arn:aws:scheduler:us-east-1:000000000000:schedule/default';
    expect(second.failures.sort()).toEqual([
      `${arn}/a: what was due from 2026-01-01T01:00:00Z to 2026-01-01T05:30:29Z is dropped, it is older than MaximumEventAgeInSeconds`,
      `${arn}/every-minute: what was due from 2026-01-01T00:46:00Z to 2026-01-01T08:29:29Z is dropped, it is older than MaximumEventAgeInSeconds`,
    ]);
  });

  it('takes no longer for years than for hours', async () => {
    const first = await start();
    await first.client.send(named('a', { ScheduleExpression: 'cron(* * * * ? *)' }, 60));
    await stop(first);
    await clock.moveTo('2046-01-01T00:00:30Z', async () => undefined);
    const second = await start();
    await clock.moveTo('2046-01-01T00:00:30Z', second.idle);
    expect(times(second)).toEqual(['2046-01-01T00:00:00Z']);
    const arn = 'Error: arn:aws:scheduler:us-east-1:000000000000:schedule/default/a';
    expect(second.failures.sort()).toEqual([
      // It was being delivered when the process was stopped.
      `${arn}: the occurrence of 2026-01-01T00:30:00Z was given up, it is older than MaximumEventAgeInSeconds`,
      `${arn}: what was due from 2026-01-01T00:31:00Z to 2045-12-31T23:59:29Z is dropped, it is older than MaximumEventAgeInSeconds`,
    ]);
  });

  it('ends a one-time schedule that is to go, also where it is dropped', async () => {
    const first = await start();
    const once = { ScheduleExpression: 'at(2026-01-01T01:00:00)', ActionAfterCompletion: 'DELETE' } as const;
    await first.client.send(named('a', once, 60));
    await stop(first);
    await clock.moveTo('2026-01-02T00:00:00Z', async () => undefined);
    const second = await start();
    await clock.moveTo('2026-01-02T00:00:00Z', second.idle);
    expect(second.started).toEqual([]);
    await expect(second.client.send(new GetScheduleCommand({ Name: 'a' }))).rejects.toThrow('does not exist');
  });
});

describe('an occurrence that was being delivered', () => {
  it('is tried again where its attempts had failed', async () => {
    const first = await start({
      onStart: () => {
        throw new ApiError('ThrottlingException', 'Rate exceeded');
      },
    });
    await first.client.send(named('a'));
    await clock.moveTo('2026-01-01T01:00:10Z', first.idle);
    await stop(first);
    const second = await start();
    await clock.moveTo('2026-01-01T01:00:10Z', second.idle);
    expect(second.started).toEqual([first.started[0]]);
    expect(times(second)).toEqual(['2026-01-01T01:00:00Z']);
  });

  it('comes a second time, with the same id and time, where the process died before it was noted', async () => {
    const crashed = await makeDataDir();
    const first = await start({
      // What a process that dies here leaves on the disk.
      onStart: () => cp(dataDir, crashed, { recursive: true, force: true }),
    });
    await first.client.send(named('a'));
    await clock.moveTo('2026-01-01T01:00:10Z', first.idle);
    const second = await start({ dataDir: crashed });
    await clock.moveTo('2026-01-01T01:00:10Z', second.idle);
    expect(second.started).toEqual(first.started);
    // And not a third.
    await stop(second);
    const third = await start({ dataDir: crashed });
    await clock.moveTo('2026-01-01T01:00:10Z', third.idle);
    expect(third.started).toEqual([]);
    await rm(crashed, { recursive: true, force: true });
  });
});
