/** Distributed maps: children are executions of their own under a map run. */
import {
  DescribeExecutionCommand,
  DescribeMapRunCommand,
  DescribeStateMachineForExecutionCommand,
  GetExecutionHistoryCommand,
  ListExecutionsCommand,
  ListMapRunsCommand,
  paginateListExecutions,
  RedriveExecutionCommand,
  StartExecutionCommand,
} from '@aws-sdk/client-sfn';
import { expect, test } from 'vitest';
import {
  createMachine,
  ended,
  gate,
  makeDataDir,
  type Running,
  refusal,
  removeDataDir,
  startService,
} from './harness.ts';

const MAP = {
  QueryLanguage: 'JSONata',
  StartAt: 'Spread',
  States: {
    Spread: {
      Type: 'Map',
      Items: '{% $states.input.items %}',
      MaxConcurrency: 4,
      Label: 'spread',
      ItemProcessor: {
        ProcessorConfig: { Mode: 'DISTRIBUTED', ExecutionType: 'STANDARD' },
        StartAt: 'Work',
        States: {
          Work: {
            Type: 'Task',
            Resource: 'arn:aws:states:::lambda:invoke',
            Arguments: { FunctionName: 'work', Payload: '{% $states.input %}' },
            Output: '{% $states.result.Payload %}',
            End: true,
          },
        },
      },
      End: true,
    },
  },
};

async function startMap(running: Running, items: number[]) {
  const machine = await createMachine(running, MAP);
  const input = JSON.stringify({ items });
  const { executionArn } = await running.client.send(
    new StartExecutionCommand({ stateMachineArn: machine, name: 'parent', input }),
  );
  return { machine, executionArn };
}

async function mapRunOf(running: Running, executionArn: string | undefined) {
  const { mapRuns = [] } = await running.client.send(new ListMapRunsCommand({ executionArn }));
  expect(mapRuns).toHaveLength(1);
  return mapRuns[0];
}

async function children(running: Running, mapRunArn: string | undefined) {
  const found = [];
  for await (const page of paginateListExecutions({ client: running.client, pageSize: 7 }, { mapRunArn })) {
    found.push(...(page.executions ?? []));
  }
  return found;
}

test('a map run with its children', async () => {
  const running = await startService({ functions: { work: (item) => (item as number) * 2 } });
  const { machine, executionArn } = await startMap(running, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  expect(await ended(running, executionArn)).toMatchObject({
    status: 'SUCCEEDED',
    output: '[2,4,6,8,10,12,14,16,18,20]',
  });
  const mapRun = await mapRunOf(running, executionArn);
  expect(mapRun).toMatchObject({
    executionArn,
    stateMachineArn: `${machine}/spread`,
    stopDate: expect.any(Date),
  });
  const { mapRunArn } = mapRun ?? {};
  const counts = {
    total: 10,
    succeeded: 10,
    failed: 0,
    running: 0,
    aborted: 0,
    timedOut: 0,
    pending: 0,
    resultsWritten: 10,
  };
  expect(await running.client.send(new DescribeMapRunCommand({ mapRunArn }))).toMatchObject({
    mapRunArn,
    executionArn,
    status: 'SUCCEEDED',
    maxConcurrency: 4,
    executionCounts: counts,
    itemCounts: counts,
    redriveCount: 0,
  });
  const all = await children(running, mapRunArn);
  expect(all).toHaveLength(10);
  const [child] = all;
  expect(child).toMatchObject({
    mapRunArn,
    stateMachineArn: `${machine}/spread`,
    status: 'SUCCEEDED',
    itemCount: 1,
  });
  const described = await running.client.send(
    new DescribeExecutionCommand({ executionArn: child?.executionArn }),
  );
  expect(described).toMatchObject({ mapRunArn, status: 'SUCCEEDED' });
  expect(Number(described.output)).toBe(2 * Number(described.input));
  const { events = [] } = await running.client.send(
    new GetExecutionHistoryCommand({ executionArn: child?.executionArn }),
  );
  expect(events[0]?.type).toBe('ExecutionStarted');
  expect(events.at(-1)?.type).toBe('ExecutionSucceeded');
  expect(
    await running.client.send(
      new DescribeStateMachineForExecutionCommand({ executionArn: child?.executionArn }),
    ),
  ).toMatchObject({ mapRunArn, label: 'spread', stateMachineArn: `${machine}/spread` });
  // The machine's own list has the parent alone, and events are only of it.
  const { executions } = await running.client.send(new ListExecutionsCommand({ stateMachineArn: machine }));
  expect(executions?.map((each) => each.name)).toEqual(['parent']);
  await running.close();
  expect(running.events.map((event) => event.detail.name)).toEqual(['parent', 'parent']);
  expect(running.failures).toEqual([]);
});

test('a failed child fails the run and is redriven with its parent, not started again', async () => {
  let broken = true;
  const calls: number[] = [];
  const running = await startService({
    functions: {
      work: (item) => {
        calls.push(item as number);
        if (item === 3 && broken) throw Object.assign(new Error('no'), { name: 'Broken' });
        return item;
      },
    },
  });
  const { executionArn } = await startMap(running, [1, 2, 3]);
  expect((await ended(running, executionArn)).status).toBe('FAILED');
  const { mapRunArn } = (await mapRunOf(running, executionArn)) ?? {};
  expect(await running.client.send(new DescribeMapRunCommand({ mapRunArn }))).toMatchObject({
    status: 'FAILED',
  });
  const failed = (await children(running, mapRunArn)).find((child) => child.status === 'FAILED');
  expect(
    await running.client.send(new DescribeExecutionCommand({ executionArn: failed?.executionArn })),
  ).toMatchObject({ redriveStatus: 'REDRIVABLE_BY_MAP_RUN' });
  expect(
    await refusal(running.client.send(new RedriveExecutionCommand({ executionArn: failed?.executionArn }))),
  ).toMatch(/^ExecutionNotRedrivable: /);

  broken = false;
  const before = (await children(running, mapRunArn)).length;
  await running.client.send(new RedriveExecutionCommand({ executionArn }));
  expect(await ended(running, executionArn)).toMatchObject({ status: 'SUCCEEDED', output: '[1,2,3]' });
  expect(await running.client.send(new DescribeMapRunCommand({ mapRunArn }))).toMatchObject({
    status: 'SUCCEEDED',
    redriveCount: 1,
    executionCounts: { succeeded: 3, failed: 0, total: 3 },
  });
  const after = await children(running, mapRunArn);
  expect(after.length).toBeGreaterThanOrEqual(before);
  expect(after.find((child) => child.executionArn === failed?.executionArn)).toMatchObject({
    status: 'SUCCEEDED',
    redriveCount: 1,
  });
  expect(calls.filter((item) => item === 1)).toHaveLength(1);
  await running.close();
  expect(running.failures).toEqual([]);
});

test('a run that a restart cut off goes on with the children that are missing', async () => {
  const dataDir = await makeDataDir();
  const held = gate();
  const first = await startService({
    dataDir,
    functions: {
      work: (item) => {
        if (item !== 3) return item;
        held.open();
        return new Promise<never>(() => {});
      },
    },
  });
  const { executionArn } = await startMap(first, [1, 2, 3]);
  await held.promise;
  const { mapRunArn } = (await mapRunOf(first, executionArn)) ?? {};
  for (;;) {
    const done = (await children(first, mapRunArn)).filter((child) => child.status === 'SUCCEEDED');
    if (done.length === 2) break;
  }
  await first.close();

  const calls: number[] = [];
  const second = await startService({
    dataDir,
    functions: {
      work: (item) => {
        calls.push(item as number);
        return item;
      },
    },
  });
  expect(await second.client.send(new DescribeMapRunCommand({ mapRunArn }))).toMatchObject({
    status: 'ABORTED',
  });
  await second.client.send(new RedriveExecutionCommand({ executionArn }));
  expect(await ended(second, executionArn)).toMatchObject({ status: 'SUCCEEDED', output: '[1,2,3]' });
  expect(calls).toEqual([3]);
  expect(await children(second, mapRunArn)).toHaveLength(3);
  await second.close();
  await removeDataDir(dataDir);
  expect([...first.failures, ...second.failures]).toEqual([]);
});

test('what does not exist', async () => {
  const running = await startService();
  const mapRunArn = 'arn:aws:states:us-east-1:000000000000:mapRun:none/none:0';
  expect(await refusal(running.client.send(new DescribeMapRunCommand({ mapRunArn })))).toBe(
    `ResourceNotFound: Resource not found: '${mapRunArn}'`,
  );
  expect(await refusal(running.client.send(new ListExecutionsCommand({ mapRunArn })))).toBe(
    `ResourceNotFound: Resource not found: '${mapRunArn}'`,
  );
  expect(await refusal(running.client.send(new DescribeMapRunCommand({ mapRunArn: 'x' })))).toBe(
    "InvalidArn: Invalid Arn: 'Invalid ARN prefix: x'",
  );
  await running.close();
});
