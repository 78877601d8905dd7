/** Executions that the endpoint did not start: whose run it is, with which parameters and authority, and what is refused. */
import { DescribeExecutionCommand, StartExecutionCommand } from '@aws-sdk/client-sfn';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../lib/blueprint/json.ts';
import type { Principal, ScheduleRecord } from '../../lib/store/records.ts';
import { executionRunId } from '../../lib/store/run-id.ts';
import { getRun } from '../../lib/store/runs.ts';
import {
  awsScheduleName,
  deleteScheduleRecord,
  getScheduleRecord,
  putScheduleRecord,
} from '../../lib/store/schedules.ts';
import { getValue } from '../../lib/store/values.ts';
import { commitHead, getHead } from '../../lib/store/workflows.ts';
import { type Finished, type Harness, type Saved, startHarness } from './harness.ts';

let harness: Harness;
let saved: Saved;
let other: Saved;
let count = 0;
const fresh = (what: string): string => {
  count += 1;
  return `${what}-${count}`;
};

const OWNER: Principal = {
  kind: 'token',
  id: 'token:olga',
  scopes: ['workflows:write'],
  tools: ['counting/*'],
};
const ADMIN: Principal = {
  kind: 'token',
  id: 'token:root',
  scopes: ['admin'],
  tools: ['counting/work', 'x/*'],
};
const REDRIVEN = {
  AWS_STEP_FUNCTIONS_STARTED_BY_EXECUTION_ID: 'arn:aws:states:us-east-1:000000000000:execution:p:q',
};

beforeAll(async () => {
  harness = await startHarness();
  saved = await workflow('started');
  other = await workflow('another');
});
afterAll(() => harness.stop());
beforeEach(() => harness.clearCalls());

async function workflow(id: string): Promise<Saved> {
  const made = await harness.save({
    id,
    params: { x: { type: 'integer', default: 3 } },
    steps: [{ id: 'a', type: 'call', tool: 'counting/work', params: { value: '{{ params.x }}' } }],
  });
  const head = await getHead(harness.store, id);
  if (head === undefined) throw new Error('not saved');
  await commitHead(harness.store, { ...head, owner: OWNER }, head.revision);
  return made;
}

/** Starts an execution and waits for its end. */
async function execute(input: JsonObject, name = fresh('e')) {
  const { executionArn = '', startDate } = await harness.sfn.send(
    new StartExecutionCommand({ stateMachineArn: saved.versionArn, name, input: JSON.stringify(input) }),
  );
  const run = executionRunId(executionArn, startDate?.toISOString() ?? '');
  const end = async () => (await harness.sfn.send(new DescribeExecutionCommand({ executionArn }))).status;
  await expect.poll(end, { timeout: 20_000 }).not.toBe('RUNNING');
  const record = await getRun(harness.store, run);
  return { run, record, status: await end(), output: await getValue(harness.store, run, '$output') };
}

const arnOf = (awsName: string) => `arn:aws:scheduler:us-east-1:000000000000:schedule/mwe/${awsName}`;

async function schedule(name: string, params: JsonObject): Promise<ScheduleRecord> {
  const now = new Date().toISOString();
  const awsName = awsScheduleName(saved.id, name);
  const record = await putScheduleRecord(
    harness.store,
    {
      workflow: saved.id,
      name,
      awsName,
      expression: 'rate(1 hour)',
      timezone: 'UTC',
      enabled: true,
      readOnly: false,
      principal: ADMIN,
      revision: 1,
      versionArn: saved.versionArn,
      params: JSON.stringify(params),
      failures: [],
      createdAt: now,
      updatedAt: now,
    },
    undefined,
  );
  if (record === undefined) throw new Error('no record');
  return record;
}

/** What Scheduler puts into the input of one occurrence. */
function occurrence(awsName: string, name: string): { schedule: JsonObject } {
  return { schedule: { arn: arnOf(awsName), time: fresh('2026-11-30T00:00:00Z'), execution: name } };
}

describe('an execution that somebody starts by hand', () => {
  let old: Finished;
  let foreign: Finished;
  beforeAll(async () => {
    old = await harness.finish(await harness.start(saved, { x: 1 }));
    foreign = await harness.finish(await harness.start(other, { x: 7 }));
  });

  it.each<[string, () => JsonObject, number]>([
    ['nothing: the defaults', () => ({}), 3],
    ['parameters', () => ({ params: { x: 2 } }), 2],
    ["an old run's input: its parameters", () => ({ run: old.run.run }), 1],
    ["an old sub-run's input", () => ({ run: old.run.run, ...REDRIVEN }), 1],
    ["an old run's input with other parameters", () => ({ run: old.run.run, params: { x: 5 } }), 5],
  ])('with %s', async (_, input, value) => {
    const { record, output } = await execute(input());
    expect(record).toMatchObject({
      status: 'SUCCEEDED',
      trigger: 'console',
      revision: 1,
      principal: { kind: 'console', id: OWNER.id, scopes: [], tools: OWNER.tools },
      owner: OWNER.id,
    });
    expect(output).toEqual({ value });
    // The old one is left alone.
    expect((await getRun(harness.store, old.run.run))?.endedAt).toBe(old.run.endedAt);
  });

  it.each<[string, () => JsonObject, RegExp]>([
    [
      'a run of another workflow',
      () => ({ run: foreign.run.run }),
      /^input\.run: this workflow has no such run/,
    ],
    ['a run that is none', () => ({ run: '../x' }), /^input\.run: this workflow has no such run/],
    ['wrong parameters', () => ({ params: { y: 1 } }), /params\/y/],
    ['a schedule without a time', () => ({ schedule: { arn: 'x' } }), /^input\.schedule: "arn" and "time"/],
  ])('is refused with %s, and the run says why', async (_, input, message) => {
    const { record, run, status } = await execute(input());
    expect(status).toBe('FAILED');
    expect(record).toMatchObject({ status: 'FAILED', trigger: 'console' });
    expect(await getValue(harness.store, run, '$errors')).toMatchObject([
      { kind: 'InvalidArguments', step: ' begin', message: expect.stringMatching(message) },
    ]);
    expect(harness.calls()).toHaveLength(0);
  });
});

describe('an occurrence of a schedule', () => {
  it("runs once, with the record's parameters and authority", async () => {
    const { awsName } = await schedule('nightly', { x: 8 });
    const first = fresh('e');
    const input = occurrence(awsName, first);
    const { record, output } = await execute(input, first);
    expect(record).toMatchObject({
      status: 'SUCCEEDED',
      trigger: 'schedule',
      schedule: awsName,
      principal: { kind: 'schedule', id: ADMIN.id, scopes: [], tools: ADMIN.tools },
      owner: OWNER.id,
    });
    expect(output).toEqual({ value: 8 });

    // Scheduler delivers again, under another id: a success without a run.
    const again = fresh('e');
    const second = await execute({ schedule: { ...input.schedule, execution: again } }, again);
    expect(second).toMatchObject({ record: undefined, status: 'SUCCEEDED' });
    expect(harness.calls()).toHaveLength(1);

    // Somebody starts the old input: a run of its own, with what that occurrence ran with, whatever the schedule is now.
    const known = await deleteOf(awsName);
    expect(known).toBe(true);
    const byHand = await execute(input);
    expect(byHand.record).toMatchObject({
      status: 'SUCCEEDED',
      trigger: 'console',
      principal: { id: OWNER.id },
    });
    expect(byHand.record?.schedule).toBeUndefined();
    expect(byHand.output).toEqual({ value: 8 });
  });

  async function deleteOf(awsName: string): Promise<boolean> {
    const record = await getScheduleRecord(harness.store, saved.id, awsName);
    return record !== undefined && deleteScheduleRecord(harness.store, record, new Date().toISOString());
  }

  it('that was never delivered can be started by hand', async () => {
    const { awsName } = await schedule('spare', { x: 9 });
    const { record, output } = await execute(occurrence(awsName, 'some-delivery'));
    expect(record).toMatchObject({ status: 'SUCCEEDED', trigger: 'console' });
    expect(output).toEqual({ value: 9 });
  });

  it('is refused where the schedule has been deleted', async () => {
    const { awsName } = await schedule('gone', { x: 9 });
    await deleteOf(awsName);
    const name = fresh('e');
    const { record, run } = await execute(occurrence(awsName, name), name);
    expect(record).toMatchObject({ status: 'FAILED', trigger: 'schedule' });
    expect(await getValue(harness.store, run, '$errors')).toMatchObject([
      { message: expect.stringContaining('has been deleted, or was made by hand') },
    ]);
  });

  it('of a schedule made by hand carries its parameters, and runs once', async () => {
    const schedule = { arn: arnOf('mine'), time: fresh('hand') };
    const both = await Promise.all([
      execute({ schedule, params: { x: 4 } }),
      execute({ schedule, params: { x: 4 } }),
    ]);
    const ran = both.filter(({ record }) => record !== undefined);
    expect(ran).toHaveLength(1);
    expect(ran[0]).toMatchObject({
      output: { value: 4 },
      record: { trigger: 'schedule', principal: { id: OWNER.id } },
    });
    expect(both.map(({ status }) => status)).toEqual(['SUCCEEDED', 'SUCCEEDED']);
  });
});
