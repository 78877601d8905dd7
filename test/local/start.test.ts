/** All stand-ins together: a machine that invokes a function, events, a restart that loses nothing, a clean end. */
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { CreateScheduleCommand, SchedulerClient } from '@aws-sdk/client-scheduler';
import {
  CreateStateMachineCommand,
  DescribeExecutionCommand,
  ListExecutionsCommand,
  SFNClient,
  StartExecutionCommand,
} from '@aws-sdk/client-sfn';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Local, type LocalOptions, startLocal } from '../../lib/local/start.ts';
import { clientConfig, LOCAL_CREDENTIALS, LOCAL_REGION } from '../../lib/store/aws-config.ts';
import { createRun, getRun } from '../../lib/store/runs.ts';
import { closeStore, openStore, type Store } from '../../lib/store/store.ts';
import { getValue, putValue } from '../../lib/store/values.ts';
import { runRecord } from '../store/records.ts';

let dataDir: string;
const errors: unknown[] = [];
beforeEach(async () => {
  dataDir = join(await mkdtemp(join(tmpdir(), 'mwe-local-')), '.engine');
  errors.length = 0;
});
afterEach(async () => {
  await rm(join(dataDir, '..'), { recursive: true, force: true });
  expect(errors).toEqual([]);
});

const start = (changes: Partial<LocalOptions> = {}): Promise<Local> =>
  startLocal({
    dataDir,
    tableName: 'mwe',
    bucketName: 'mwe-000000000000',
    functions: {},
    onError: (error) => errors.push(error),
    ...changes,
  });
const storeOn = ({ endpoints }: Local): Store =>
  openStore({
    tableName: 'mwe',
    bucketName: 'mwe-000000000000',
    region: LOCAL_REGION,
    endpoints,
    credentials: LOCAL_CREDENTIALS,
  });
const isListening = (url: string): Promise<boolean> =>
  fetch(url).then(
    () => true,
    () => false,
  );

describe('startLocal', () => {
  it('runs a machine on a function and tells what became of it', async () => {
    const statuses: unknown[] = [];
    let ended: () => void = () => {};
    const end = new Promise<void>((resolve) => {
      ended = resolve;
    });
    const local = await start({
      functions: {
        double: async (event) => ({ twice: (event as { n: number }).n * 2 }),
        events: async (event) => {
          const { detail } = event as { detail: { status: string } };
          statuses.push(detail.status);
          if (detail.status !== 'RUNNING') ended();
        },
      },
      statusEvents: 'events',
    });
    const sfn = new SFNClient(
      clientConfig({ region: LOCAL_REGION, endpoint: local.endpoints.sfn, credentials: LOCAL_CREDENTIALS }),
    );
    const { stateMachineArn } = await sfn.send(
      new CreateStateMachineCommand({
        name: 'mwe-double',
        roleArn: 'arn:aws:iam::000000000000:role/mwe',
        definition: JSON.stringify({
          QueryLanguage: 'JSONata',
          StartAt: 'double',
          States: {
            double: {
              Type: 'Task',
              Resource: 'arn:aws:states:::lambda:invoke',
              Arguments: { FunctionName: 'double', Payload: '{% $states.input %}' },
              Output: '{% $states.result.Payload %}',
              End: true,
            },
          },
        }),
      }),
    );
    const { executionArn } = await sfn.send(
      new StartExecutionCommand({ stateMachineArn, input: '{"n":21}' }),
    );
    await end;
    expect(statuses).toEqual(['RUNNING', 'SUCCEEDED']);
    expect(await sfn.send(new DescribeExecutionCommand({ executionArn }))).toMatchObject({
      status: 'SUCCEEDED',
      output: '{"twice":42}',
    });
    sfn.destroy();
    await local.stop();
  });

  it('runs a hundred tasks at once and no more, and still answers who asks a function itself', async () => {
    let inside = 0;
    let most = 0;
    let release: () => void = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const local = await start({
      functions: {
        hold: async () => {
          most = Math.max(most, ++inside);
          await held;
          inside--;
          return {};
        },
        ask: async () => 'answer',
      },
    });
    const client = { region: LOCAL_REGION, credentials: LOCAL_CREDENTIALS };
    const sfn = new SFNClient(clientConfig({ ...client, endpoint: local.endpoints.sfn }));
    const lambda = new LambdaClient(clientConfig({ ...client, endpoint: local.endpoints.lambda }));
    const { stateMachineArn } = await sfn.send(
      new CreateStateMachineCommand({
        name: 'mwe-hold',
        roleArn: 'arn:aws:iam::000000000000:role/mwe',
        definition: JSON.stringify({
          QueryLanguage: 'JSONata',
          StartAt: 'all',
          States: {
            all: {
              Type: 'Parallel',
              Branches: Array.from({ length: 130 }, (_, n) => ({
                StartAt: `hold ${n}`,
                States: {
                  [`hold ${n}`]: {
                    Type: 'Task',
                    Resource: 'arn:aws:states:::lambda:invoke',
                    Arguments: { FunctionName: 'hold' },
                    End: true,
                  },
                },
              })),
              Output: '{% $count($states.result) %}',
              End: true,
            },
          },
        }),
      }),
    );
    const { executionArn } = await sfn.send(new StartExecutionCommand({ stateMachineArn }));
    await expect.poll(() => inside).toBe(100);
    const { Payload } = await lambda.send(new InvokeCommand({ FunctionName: 'ask' }));
    expect(Buffer.from(Payload ?? []).toString()).toBe('"answer"');
    expect(inside).toBe(100);
    release();
    await expect
      .poll(() => sfn.send(new DescribeExecutionCommand({ executionArn })))
      .toMatchObject({ status: 'SUCCEEDED', output: '130' });
    expect(most).toBe(100);
    sfn.destroy();
    lambda.destroy();
    await local.stop();
  });

  it('starts machines and functions on schedule', async () => {
    const events: unknown[] = [];
    const local = await start({
      functions: {
        hear: async (event) => {
          events.push(event);
          return {};
        },
      },
      scheduleGroups: ['mwe'],
    });
    const client = { region: LOCAL_REGION, credentials: LOCAL_CREDENTIALS };
    const sfn = new SFNClient(clientConfig({ ...client, endpoint: local.endpoints.sfn }));
    const scheduler = new SchedulerClient(clientConfig({ ...client, endpoint: local.endpoints.scheduler }));
    const { stateMachineVersionArn } = await sfn.send(
      new CreateStateMachineCommand({
        name: 'mwe-pass',
        roleArn: 'arn:aws:iam::000000000000:role/mwe',
        definition: JSON.stringify({
          QueryLanguage: 'JSONata',
          StartAt: 'pass',
          States: { pass: { Type: 'Pass', End: true } },
        }),
        publish: true,
      }),
    );
    const schedule = (Name: string, Arn: string, input: object) =>
      new CreateScheduleCommand({
        Name,
        GroupName: 'mwe',
        // A rate begins when it is made.
        ScheduleExpression: 'rate(1 day)',
        FlexibleTimeWindow: { Mode: 'OFF' },
        Target: { Arn, RoleArn: 'arn:aws:iam::000000000000:role/mwe', Input: JSON.stringify(input) },
      });
    await scheduler.send(
      schedule('pass', 'arn:aws:scheduler:::aws-sdk:sfn:startExecution', {
        StateMachineArn: stateMachineVersionArn,
        Name: '<aws.scheduler.execution-id>',
        Input: '{"id":"<aws.scheduler.execution-id>"}',
      }),
    );
    await scheduler.send(
      schedule('hear', `arn:aws:lambda:${LOCAL_REGION}:000000000000:function:hear`, { n: 1 }),
    );
    const stateMachineArn = stateMachineVersionArn?.replace(/:1$/, '');
    await expect
      .poll(async () => (await sfn.send(new ListExecutionsCommand({ stateMachineArn }))).executions)
      .toMatchObject([{ status: 'SUCCEEDED', stateMachineVersionArn }]);
    await expect.poll(() => events).toEqual([{ n: 1 }]);
    const [execution] = (await sfn.send(new ListExecutionsCommand({ stateMachineArn }))).executions ?? [];
    const { name, input } = await sfn.send(
      new DescribeExecutionCommand({ executionArn: execution?.executionArn }),
    );
    expect(JSON.parse(input ?? '')).toEqual({ id: name });
    sfn.destroy();
    scheduler.destroy();
    await local.stop();
  });

  it('keeps everything over a restart, under another boot', async () => {
    const large = 'x'.repeat(50_000);
    const record = runRecord();
    const first = await start();
    const store = storeOn(first);
    await createRun(store, record);
    await putValue(store, record.run, '$params', large);
    closeStore(store);
    await first.stop();
    const urls = Object.values(first.endpoints);
    expect(await Promise.all(urls.map(isListening))).toEqual(urls.map(() => false));

    const second = await start();
    expect(second.boot).not.toBe(first.boot);
    const again = storeOn(second);
    expect(await getRun(again, record.run)).toEqual(record);
    expect(await getValue(again, record.run, '$params')).toBe(large);
    closeStore(again);
    await second.stop();
  });

  it('has a folder to itself', async () => {
    const local = await start();
    expect((await stat(dataDir)).mode & 0o777).toBe(0o700);
    await expect(start()).rejects.toMatchObject({ code: 'EDATAINUSE' });
    await local.stop();
    await (await start()).stop();
  });

  it('stops what has started where something cannot', async () => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
    const address = taken.address();
    const port = typeof address === 'object' ? (address?.port ?? 0) : 0;
    for (const name of ['dynamodb', 's3', 'lambda', 'sfn', 'scheduler'] as const) {
      await expect(start({ ports: { [name]: port } })).rejects.toMatchObject({ code: 'EADDRINUSE' });
    }
    taken.close();
    // The folder has been let go of each time.
    await (await start()).stop();
  });

  it('says that its folder is no folder', async () => {
    await writeFile(dataDir, '');
    await expect(start()).rejects.toMatchObject({ code: 'EEXIST' });
  });
});
