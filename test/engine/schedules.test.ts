/** Schedules from their making to their runs, with EventBridge Scheduler's stand-in and a clock that the test moves. */
import {
  GetScheduleCommand,
  ListSchedulesCommand,
  SchedulerClient,
  UpdateScheduleCommand,
} from '@aws-sdk/client-scheduler';
import { DescribeExecutionCommand, StartExecutionCommand } from '@aws-sdk/client-sfn';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../lib/blueprint/json.ts';
import type { BlueprintSchedule } from '../../lib/blueprint/types.ts';
import { saveBlueprint } from '../../lib/engine/save.ts';
import { type ScheduleRequest, scheduleWorkflow } from '../../lib/engine/schedules.ts';
import { dropSchedulesOfOthers, syncStackSchedules } from '../../lib/engine/stack-schedules.ts';
import { deleteWorkflow, liveHead } from '../../lib/engine/workflows.ts';
import { LOCAL_CREDENTIALS, LOCAL_REGION } from '../../lib/store/aws-config.ts';
import type { Principal } from '../../lib/store/records.ts';
import {
  awsScheduleName,
  getScheduleRecord,
  listScheduleRecords,
  putScheduleRecord,
} from '../../lib/store/schedules.ts';
import { getValue } from '../../lib/store/values.ts';
import { type ScheduledEngine, startScheduledEngine } from './scheduled-engine.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const person = (name: string, more: Partial<Principal> = {}): Principal => ({
  kind: 'token',
  id: `token:${name}`,
  scopes: ['schedules:write'],
  ...more,
});
const ALICE = person('alice');
const BOB = person('bob');
const ROOT = person('root', { scopes: ['admin'] });
const STACK: Principal = { kind: 'stack', id: 'stack', scopes: [] };

let engine: ScheduledEngine;
beforeAll(async () => {
  engine = await startScheduledEngine();
});
afterAll(() => engine.stop());

const schedule = (principal: Principal, request: ScheduleRequest) =>
  scheduleWorkflow(engine.env, principal, request);
const inAws = (workflow: string, name = 'default') =>
  engine.env.scheduler.send(
    new GetScheduleCommand({ GroupName: 'mwe', Name: awsScheduleName(workflow, name) }),
  );
async function namesInAws(workflow: string): Promise<(string | undefined)[]> {
  const { Schedules = [] } = await engine.env.scheduler.send(
    new ListSchedulesCommand({ GroupName: 'mwe', NamePrefix: `${workflow}.` }),
  );
  return Schedules.map(({ Name }) => Name);
}

describe('a schedule', () => {
  it('fires, and its run has its parameters; a second delivery starts none, an old input one of its own', async () => {
    await engine.save(ALICE, 'hourly');
    const made = await schedule(ALICE, {
      id: 'hourly',
      schedule: 'rate(1 hour)',
      params: { value: 'planned' },
    });
    expect(made).toEqual({
      id: 'hourly',
      schedules: [
        {
          name: 'default',
          schedule: 'rate(1 hour)',
          timezone: 'UTC',
          enabled: true,
          revision: 1,
          params: { value: 'planned' },
        },
      ],
      note: 'pinned to revision 1',
    });
    expect(await inAws('hourly')).toMatchObject({
      State: 'ENABLED',
      FlexibleTimeWindow: { Mode: 'OFF' },
      ActionAfterCompletion: 'NONE',
      Target: { RetryPolicy: { MaximumEventAgeInSeconds: 3600, MaximumRetryAttempts: 3 } },
    });
    await engine.pass(0.9 * HOUR);
    const [run] = await engine.settled('hourly', 1);
    expect(run).toMatchObject({
      status: 'SUCCEEDED',
      trigger: 'schedule',
      schedule: awsScheduleName('hourly', 'default'),
      principal: { kind: 'schedule', id: ALICE.id, scopes: [] },
    });
    expect(await getValue(engine.env.store, String(run?.run), '$output')).toMatchObject({ value: 'planned' });
    const { schedules } = await schedule(ALICE, { id: 'hourly' });
    expect(schedules).toMatchObject([{ lastRun: { runId: run?.run, status: 'SUCCEEDED' } }]);

    // The same occurrence again, as Scheduler may do, under another id.
    const [first] = engine.started;
    const { schedule: occurrence } = JSON.parse(String(first?.input)) as { schedule: JsonObject };
    const start = (name: string | undefined, input: JsonObject) =>
      engine.env.sfn.send(
        new StartExecutionCommand({
          stateMachineArn: first?.stateMachineArn,
          name,
          input: JSON.stringify(input),
        }),
      );
    const again = await start('again', { schedule: { ...occurrence, execution: 'again' } });
    const described = () =>
      engine.env.sfn.send(new DescribeExecutionCommand(again as { executionArn: string }));
    await expect.poll(async () => (await described()).status).toBe('SUCCEEDED');
    // The console's "New execution" offers the input as it was.
    await start(undefined, { schedule: occurrence });
    const both = await engine.settled('hourly', 2);
    expect(both.map(({ trigger }) => trigger)).toEqual(['console', 'schedule']);
    expect(await getValue(engine.env.store, String(both[0]?.run), '$output')).toMatchObject({
      value: 'planned',
    });
  });

  it('is changed in place, pinned anew, switched off and on, deleted', async () => {
    await engine.save(ALICE, 'changing');
    await schedule(ALICE, {
      id: 'changing',
      name: 'n',
      schedule: 'cron(0 2 * * ? *)',
      params: { value: 'a' },
    });
    await saveBlueprint(engine.env, ALICE, {
      id: 'changing',
      steps: [{ id: 'say', type: 'call', tool: 'counting/work', params: { value: 'new' } }],
    });
    await expect(
      schedule(ALICE, { id: 'changing', name: 'n', timezone: 'Europe/Vienna' }),
    ).rejects.toMatchObject({
      code: 'Invalid',
      message:
        'workflow "changing" is not scheduled: params/value: the workflow has no such parameter; it has none',
    });
    const changed = await schedule(ALICE, {
      id: 'changing',
      name: 'n',
      timezone: 'Europe/Vienna',
      params: {},
    });
    expect(changed).toMatchObject({
      note: 'pinned to revision 2, before to 1',
      schedules: [
        { name: 'n', timezone: 'Europe/Vienna', schedule: 'cron(0 2 * * ? *)', params: {}, revision: 2 },
      ],
    });
    const off = await schedule(ALICE, { id: 'changing', name: 'n', enabled: false });
    expect(off.note).toBe('still pinned to revision 2; it is switched off until it is enabled');
    expect(await inAws('changing', 'n')).toMatchObject({
      State: 'DISABLED',
      ScheduleExpressionTimezone: 'Europe/Vienna',
    });
    await schedule(ALICE, { id: 'changing', name: 'n', enabled: true, schedule: 'cron(30 2 * * ? *)' });
    const { State, ScheduleExpression, Target } = await inAws('changing', 'n');
    expect({ State, ScheduleExpression }).toEqual({
      State: 'ENABLED',
      ScheduleExpression: 'cron(30 2 * * ? *)',
    });
    expect(JSON.parse(String(Target?.Input)).StateMachineArn).toMatch(/mwe-changing:2$/);

    const gone = await schedule(ALICE, { id: 'changing', name: 'n', delete: true });
    expect(gone).toMatchObject({
      schedules: [],
      note: 'schedule "n" is deleted; a run that it has started goes on',
    });
    expect(await namesInAws('changing')).toEqual([]);
    await expect(schedule(ALICE, { id: 'changing', name: 'n', delete: true })).rejects.toMatchObject({
      code: 'NotFound',
    });
    // The name is free again.
    expect((await schedule(ALICE, { id: 'changing', name: 'n', schedule: 'rate(1 day)' })).note).toBe(
      'pinned to revision 2',
    );
  });

  it('of one time is gone from Scheduler when it has fired, and can be made again', async () => {
    await engine.save(ALICE, 'once');
    const at = (ms: number) => `at(${new Date(engine.env.now() + ms).toISOString().slice(0, 19)})`;
    const made = await schedule(ALICE, { id: 'once', schedule: at(2 * HOUR) });
    expect(made.schedules[0]?.next).toMatch(/:00\.000Z$|:\d\d\.000Z$/);
    await engine.pass(2 * HOUR);
    await engine.settled('once', 1);
    expect(await namesInAws('once')).toEqual([]);
    expect((await schedule(ALICE, { id: 'once' })).schedules[0]?.next).toBeUndefined();
    await schedule(ALICE, { id: 'once', schedule: at(HOUR) });
    await engine.pass(HOUR);
    await engine.settled('once', 2);
  });

  it('fires no more once its workflow is deleted', async () => {
    await engine.save(ALICE, 'doomed');
    await schedule(ALICE, { id: 'doomed', name: 'a', schedule: 'rate(1 hour)' });
    await schedule(ALICE, { id: 'doomed', name: 'b', schedule: 'rate(2 hours)' });
    await deleteWorkflow(engine.env, ALICE, 'doomed');
    expect(await namesInAws('doomed')).toEqual([]);
    expect(await listScheduleRecords(engine.env.store, 'doomed')).toEqual([]);
    const before = engine.started.length;
    await engine.pass(5 * HOUR);
    expect(
      engine.started.slice(before).filter(({ stateMachineArn }) => /doomed/.test(stateMachineArn)),
    ).toEqual([]);
  });

  it('is as the last of many changes says, in the record and in Scheduler', async () => {
    await engine.save(ALICE, 'raced');
    await schedule(ALICE, { id: 'raced', schedule: 'rate(1 hour)' });
    const changes = [2, 3, 4, 5].map((hours) =>
      schedule(ALICE, { id: 'raced', schedule: `rate(${hours} hours)` }),
    );
    await Promise.allSettled(changes);
    const record = await getScheduleRecord(engine.env.store, 'raced', awsScheduleName('raced', 'default'));
    expect((await inAws('raced')).ScheduleExpression).toBe(record?.expression);
  });
});

describe('what may not be scheduled', () => {
  beforeAll(() => engine.save(ALICE, 'refused'));

  it.each<[string, Omit<ScheduleRequest, 'id'>, RegExp]>([
    ['nothing', { name: 'x' }, /^schedule: required, for there is no schedule "x" yet/],
    ['no expression', { schedule: '0 2 * * *' }, /^schedule: .*cron\(/],
    ['a cron of five fields', { schedule: 'cron(0 2 * * ?)' }, /^schedule: .*6 fields/],
    ['no time zone', { schedule: 'rate(1 hour)', timezone: 'Wien' }, /^timezone: "Wien" is no time zone/],
    ['a time that has passed', { schedule: 'at(2020-01-01T00:00:00)' }, /^schedule: .*never comes again/],
    ['a day that there is not', { schedule: 'cron(0 2 31 6 ? *)' }, /^schedule: .*never comes again/],
    [
      'too often',
      { schedule: 'rate(1 minute)' },
      /comes again after 1 minute at the shortest; 5 is the least/,
    ],
    ['too often across hours', { schedule: 'cron(0,58 * * * ? *)' }, /after 2 minutes at the shortest/],
    [
      'too often in the night in which clocks go forward',
      { schedule: 'cron(0,58 1,3 * * ? *)', timezone: 'Europe/Vienna' },
      /after 2 minutes at the shortest/,
    ],
    ['an unknown parameter', { schedule: 'rate(1 hour)', params: { valeu: 'x' } }, /params\/valeu/],
    [
      'a parameter of another type',
      { schedule: 'rate(1 hour)', params: { value: 1 } },
      /params\/value: string/,
    ],
    [
      'large parameters',
      { schedule: 'rate(1 hour)', params: { value: 'x'.repeat(70_000) } },
      /at most 64 KiB/,
    ],
    ['a bad name', { name: 'a b', schedule: 'rate(1 hour)' }, /^name: "a b" is no name/],
    [
      'a deletion with more',
      { delete: true, schedule: 'rate(1 hour)' },
      /^delete: .*"schedule" came as well/,
    ],
  ])('%s', async (_, request, message) => {
    await expect(schedule(ALICE, { id: 'refused', ...request })).rejects.toMatchObject({
      code: 'Invalid',
      message: expect.stringMatching(message),
    });
    expect((await schedule(ALICE, { id: 'refused' })).schedules).toEqual([]);
  });

  it('the same readings where no clock goes forward', async () => {
    const { schedules } = await schedule(ALICE, {
      id: 'refused',
      schedule: 'cron(0,58 1,3 * * ? *)',
      timezone: 'UTC',
    });
    expect(schedules).toHaveLength(1);
    await schedule(ALICE, { id: 'refused', delete: true });
  });
});

describe('two principals', () => {
  it('an owner and an admin schedule, nobody else; it works with the authority of who did it last', async () => {
    await engine.save(ALICE, 'hers');
    for (const request of [
      { id: 'hers', schedule: 'rate(1 hour)' },
      { id: 'hers', delete: true },
      { id: 'hers' },
    ]) {
      await expect(schedule(BOB, request)).rejects.toMatchObject({ code: 'Forbidden' });
    }
    await schedule(ALICE, { id: 'hers', schedule: 'rate(1 hour)' });
    const limited = { ...ROOT, tools: ['counting/*'] };
    const taken = await schedule(limited, { id: 'hers', schedule: 'rate(2 hours)' });
    expect(taken.note).toBe('still pinned to revision 1; it works with your authority from now on');
    await engine.pass(2 * HOUR);
    // Hers may have fired as soon as it was made: a rate counts from then.
    const byRoot = async () =>
      (await engine.settled('hers', 1)).find(({ principal }) => principal.id === ROOT.id);
    await expect.poll(byRoot, { timeout: 20_000 }).toMatchObject({
      owner: ALICE.id,
      principal: { kind: 'schedule', id: ROOT.id, tools: ['counting/*'] },
    });
  });

  it('whoever may not use a tool may not schedule what uses it', async () => {
    const eve = person('eve', { tools: ['other/*'] });
    await engine.save({ ...eve, tools: ['counting/*'] }, 'eves');
    await expect(schedule(eve, { id: 'eves', schedule: 'rate(1 hour)' })).rejects.toMatchObject({
      code: 'Forbidden',
      message: expect.stringContaining('counting/work'),
    });
  });

  it("the deployment's schedules are seen and not changed", async () => {
    await saveBlueprint(
      engine.env,
      STACK,
      { id: 'shipped', steps: [{ id: 'say', type: 'call', tool: 'counting/work', params: { value: 'x' } }] },
      { readOnly: true },
    );
    expect(await schedule(BOB, { id: 'shipped' })).toEqual({ id: 'shipped', schedules: [] });
    await expect(schedule(ROOT, { id: 'shipped', schedule: 'rate(1 hour)' })).rejects.toMatchObject({
      code: 'Forbidden',
      message: expect.stringContaining('blueprints/shipped.json'),
    });
  });

  it('have their limits, however many they make at once', async () => {
    const [carl, dora] = [person('carl'), person('dora')];
    for (const [who, id] of [
      [carl, 'carls'],
      [dora, 'doras'],
    ] as const)
      await engine.save(who, id);
    const make = (who: Principal, id: string, name: string, expression = 'rate(1 hour)') =>
      schedule(who, { id, name, schedule: expression });
    const names = Array.from({ length: 13 }, (_, i) => `n${i}`);
    const made = await Promise.allSettled(names.map((name) => make(carl, 'carls', name)));
    const refused = made.filter((each) => each.status === 'rejected').map((each) => each.reason as Error);
    expect(refused.map(({ message }) => message)).toEqual(
      Array(3).fill(
        'you have 10 schedules, which is the most allowed; delete one that is not needed any more',
      ),
    );
    expect(await namesInAws('carls')).toHaveLength(10);
    await make(dora, 'doras', 'hers');

    const [{ name = '' } = {}] = (await schedule(carl, { id: 'carls' })).schedules;
    // A change takes no second place, a deletion gives one back, and so does a workflow that goes.
    await make(carl, 'carls', name, 'rate(3 hours)');
    await schedule(carl, { id: 'carls', name, delete: true });
    const past = `at(${new Date(engine.env.now() + HOUR).toISOString().slice(0, 19)})`;
    await make(carl, 'carls', 'soon', past);
    await expect(make(carl, 'carls', 'more')).rejects.toMatchObject({ code: 'LimitExceeded' });
    await engine.pass(HOUR);
    await make(carl, 'carls', 'more');
    await deleteWorkflow(engine.env, carl, 'carls');
    await engine.save(carl, 'carls-next');
    await Promise.all(names.slice(0, 10).map((each) => make(carl, 'carls-next', each)));
    await deleteWorkflow(engine.env, carl, 'carls-next');
  });
});

describe('five failures in a row', () => {
  // Executions start by the system's clock, and what failed before a change does not count: the two must not be hours apart yet.
  const shared = { engine: undefined as ScheduledEngine | undefined };
  beforeAll(async () => {
    shared.engine = engine;
    engine = await startScheduledEngine();
  });
  afterAll(async () => {
    await engine.stop();
    if (shared.engine !== undefined) engine = shared.engine;
  });

  it('switch it off, once each, and everything else about it stays', async () => {
    await engine.save(ALICE, 'failing', { fails: true });
    await schedule(ALICE, { id: 'failing', schedule: 'rate(1 hour)', params: { value: 'kept' } });
    // Somebody has given it an end in the console.
    const made = await inAws('failing');
    const EndDate = new Date(engine.env.now() + 300 * DAY);
    const { ScheduleExpression, FlexibleTimeWindow, Target } = made;
    await engine.env.scheduler.send(
      new UpdateScheduleCommand({
        Name: made.Name,
        GroupName: 'mwe',
        ScheduleExpression,
        FlexibleTimeWindow,
        Target,
        EndDate,
        State: 'ENABLED',
      }),
    );
    for (let n = 1; n <= 5; n += 1) {
      expect((await inAws('failing')).State).toBe('ENABLED');
      // A rate counts from when it is made.
      await engine.pass(n === 1 ? HOUR / 2 : HOUR);
      await engine.settled('failing', n);
      // Each end is told of once more.
      for (const event of engine.events.slice(-6)) await engine.runEvents(event);
      const [listed] = (await schedule(ALICE, { id: 'failing' })).schedules;
      expect(listed).toMatchObject({ failuresInARow: n, enabled: n < 5 });
    }
    const [listed] = (await schedule(ALICE, { id: 'failing' })).schedules;
    expect(listed?.disabled).toMatch(/^switched off at .* after 5 runs in a row had failed$/);
    expect(listed?.lastRun).toMatchObject({ status: 'FAILED' });
    expect(await inAws('failing')).toMatchObject({ State: 'DISABLED', EndDate, Target, ScheduleExpression });
    await engine.pass(10 * HOUR);
    expect(await engine.settled('failing', 5)).toHaveLength(5);

    const on = await schedule(ALICE, { id: 'failing', enabled: true });
    expect(on.schedules[0]).toMatchObject({ enabled: true, params: { value: 'kept' } });
    expect(on.schedules[0]?.failuresInARow).toBeUndefined();
    expect(on.schedules[0]?.disabled).toBeUndefined();
    expect((await inAws('failing')).State).toBe('ENABLED');
    await schedule(ALICE, { id: 'failing', delete: true });
  });
});

describe('schedules of the deployment', () => {
  const shipped = (schedules: BlueprintSchedule[]) =>
    saveBlueprint(
      engine.env,
      STACK,
      {
        id: 'deployed',
        params: { value: { type: 'string' } },
        steps: [{ id: 'say', type: 'call', tool: 'counting/work', params: { value: '{{ params.value }}' } }],
        schedules,
      } as unknown as Json,
      { readOnly: true },
    );
  async function sync(schedules: BlueprintSchedule[]): Promise<void> {
    await shipped(schedules);
    await syncStackSchedules(engine.env, await liveHead(engine.env, 'deployed'), schedules);
  }
  const nightly = { name: 'nightly', schedule: 'rate(1 hour)', params: { value: 'night' } };

  it('are made, fire as the deployment, are seen by all, changed and removed with the file', async () => {
    await sync([nightly, { ...nightly, name: 'off', enabled: false }]);
    expect(await namesInAws('deployed')).toHaveLength(2);
    await engine.pass(HOUR / 2);
    const [run] = await engine.settled('deployed', 1);
    expect(run).toMatchObject({ trigger: 'schedule', principal: { kind: 'schedule', id: 'stack' } });
    const { schedules } = await schedule(BOB, { id: 'deployed' });
    expect(schedules).toMatchObject([
      { name: 'nightly', readOnly: true, enabled: true, lastRun: { runId: run?.run } },
      { name: 'off', readOnly: true, enabled: false },
    ]);
    expect(schedules[0]).not.toHaveProperty('params');

    // Deployed again as it is: what was switched off after failures stays off; what is changed comes on again.
    const [record] = await listScheduleRecords(engine.env.store, 'deployed');
    if (record === undefined) throw new Error('no record');
    await putScheduleRecord(
      engine.env.store,
      { ...record, enabled: false, disabledReason: 'five failures' },
      record,
    );
    const head = await liveHead(engine.env, 'deployed');
    await syncStackSchedules(engine.env, head, [nightly]);
    expect(await inAws('deployed', 'nightly')).toMatchObject({ State: 'DISABLED' });
    await syncStackSchedules(engine.env, head, [{ ...nightly, params: { value: 'other' } }]);
    expect(await inAws('deployed', 'nightly')).toMatchObject({ State: 'ENABLED' });
    expect(await namesInAws('deployed')).toEqual([awsScheduleName('deployed', 'nightly')]);
    await dropSchedulesOfOthers(engine.env, new Set(['deployed']));
    expect(await namesInAws('deployed')).toHaveLength(1);
    await dropSchedulesOfOthers(engine.env, new Set());
    expect(await namesInAws('deployed')).toEqual([]);
    expect(await listScheduleRecords(engine.env.store, 'deployed')).toEqual([]);
  });

  it('are refused in what an agent saves', async () => {
    const blueprint = {
      id: 'copied',
      steps: [{ id: 'say', type: 'call', tool: 'counting/work', params: { value: 'x' } }],
      schedules: [{ name: 'n', schedule: 'rate(1 hour)' }],
    };
    await expect(saveBlueprint(engine.env, ALICE, blueprint)).rejects.toMatchObject({
      diagnostics: expect.arrayContaining([expect.objectContaining({ code: 'BP121' })]),
    });
  });
});

describe('what a crash or a fault leaves', () => {
  it('is set right by the same call again', async () => {
    await engine.save(ALICE, 'crashed');
    const unreachable = new SchedulerClient({
      endpoint: 'http://127.0.0.1:9',
      region: LOCAL_REGION,
      credentials: LOCAL_CREDENTIALS,
      maxAttempts: 1,
    });
    const broken = { ...engine.env, scheduler: unreachable };
    const request = { id: 'crashed', schedule: 'rate(1 hour)' };
    await expect(scheduleWorkflow(broken, ALICE, request)).rejects.toMatchObject({ code: 'Unavailable' });
    expect(await namesInAws('crashed')).toEqual([]);
    await schedule(ALICE, request);
    expect(await namesInAws('crashed')).toHaveLength(1);

    const removal = { id: 'crashed', delete: true };
    await expect(scheduleWorkflow(broken, ALICE, removal)).rejects.toMatchObject({ code: 'Unavailable' });
    expect((await schedule(ALICE, { id: 'crashed' })).schedules).toHaveLength(1);
    await schedule(ALICE, removal);
    expect(await namesInAws('crashed')).toEqual([]);
    unreachable.destroy();
  });

  it('what Scheduler refuses is as it was before', async () => {
    await engine.save(ALICE, 'undone');
    const { config } = engine.env;
    const strange = {
      ...engine.env,
      config: { ...config, schedules: { ...config.schedules, roleArn: 'no role' } },
    };
    const refused = { code: 'Invalid', message: expect.stringContaining('EventBridge Scheduler refuses it') };
    await expect(
      scheduleWorkflow(strange, ALICE, { id: 'undone', schedule: 'rate(1 hour)' }),
    ).rejects.toMatchObject(refused);
    expect((await schedule(ALICE, { id: 'undone' })).schedules).toEqual([]);
    await schedule(ALICE, { id: 'undone', schedule: 'rate(2 hours)' });
    await expect(
      scheduleWorkflow(strange, ALICE, { id: 'undone', schedule: 'rate(3 hours)' }),
    ).rejects.toMatchObject(refused);
    expect((await schedule(ALICE, { id: 'undone' })).schedules).toMatchObject([
      { schedule: 'rate(2 hours)' },
    ]);
    expect((await inAws('undone')).ScheduleExpression).toBe('rate(2 hours)');
    await deleteWorkflow(engine.env, ALICE, 'undone');
  });
});
