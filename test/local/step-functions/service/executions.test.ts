/** Starting, looking at and stopping executions. The first part also runs against AWS, see harness.ts. */
import { randomUUID } from 'node:crypto';
import {
  DescribeExecutionCommand,
  DescribeStateMachineForExecutionCommand,
  GetExecutionHistoryCommand,
  ListExecutionsCommand,
  paginateGetExecutionHistory,
  paginateListExecutions,
  StartExecutionCommand,
  StopExecutionCommand,
  UpdateStateMachineCommand,
} from '@aws-sdk/client-sfn';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  calls,
  connect,
  createMachine,
  ended,
  gate,
  PASS,
  type Running,
  refusal,
  removeMachines,
  startService,
  WAIT,
} from './harness.ts';

let running: Running;
beforeAll(async () => {
  running = await connect();
});
afterAll(async () => {
  await removeMachines(running);
  await running.close();
  expect(running.failures).toEqual([]);
});

const start = (stateMachineArn: string, more = {}, at = running) =>
  at.client.send(new StartExecutionCommand({ stateMachineArn, ...more }));

describe('as AWS does', () => {
  test('an execution from start to end', async () => {
    const stateMachineArn = await createMachine(running, PASS);
    const { executionArn, startDate } = await start(stateMachineArn, { input: '{"a": 1}' });
    const name = executionArn?.split(':').at(-1) ?? '';
    expect(executionArn).toBe(`${stateMachineArn.replace('stateMachine', 'execution')}:${name}`);
    const described = await ended(running, executionArn);
    expect(described).toMatchObject({
      executionArn,
      stateMachineArn,
      name,
      startDate,
      status: 'SUCCEEDED',
      input: '{"a": 1}',
      inputDetails: { included: true },
      output: '{"greeting":"hello"}',
      outputDetails: { included: true },
      redriveCount: 0,
      redriveStatus: 'NOT_REDRIVABLE',
      redriveStatusReason: 'Execution is SUCCEEDED and cannot be redriven',
    });
    expect(described.stopDate).toBeInstanceOf(Date);
    const { events } = await running.client.send(new GetExecutionHistoryCommand({ executionArn }));
    expect(events?.map(({ id, previousEventId, type }) => [id, previousEventId, type])).toEqual([
      [1, 0, 'ExecutionStarted'],
      [2, 0, 'PassStateEntered'],
      [3, 2, 'PassStateExited'],
      [4, 3, 'ExecutionSucceeded'],
    ]);
  });

  test('a name is taken by a closed execution; a running one answers a repeat with the same input', async () => {
    const closing = await createMachine(running, PASS);
    const first = await start(closing, { name: 'one' });
    await ended(running, first.executionArn);
    const exists = `ExecutionAlreadyExists: Execution Already Exists: '${first.executionArn}'`;
    expect(await refusal(start(closing, { name: 'one' }))).toBe(exists);

    const waiting = await createMachine(running, WAIT);
    const input = '{"n":1}';
    const open = await start(waiting, { name: 'one', input });
    const again = await Promise.all([
      start(waiting, { name: 'one', input }),
      start(waiting, { name: 'one', input }),
    ]);
    for (const each of again)
      expect(each).toMatchObject({ executionArn: open.executionArn, startDate: open.startDate });
    expect(await refusal(start(waiting, { name: 'one', input: '{"n":2}' }))).toMatch(
      /^ExecutionAlreadyExists: /,
    );
    await running.client.send(new StopExecutionCommand({ executionArn: open.executionArn }));
  });

  test('stopping, with the history that AWS recorded for it', async () => {
    const stateMachineArn = await createMachine(running, WAIT);
    const { executionArn } = await start(stateMachineArn);
    const { stopDate } = await running.client.send(
      new StopExecutionCommand({ executionArn, error: 'Enough', cause: 'not needed' }),
    );
    expect(stopDate).toBeInstanceOf(Date);
    expect(await ended(running, executionArn)).toMatchObject({
      status: 'ABORTED',
      error: 'Enough',
      cause: 'not needed',
      redriveStatus: 'REDRIVABLE',
    });
    const { events } = await running.client.send(new GetExecutionHistoryCommand({ executionArn }));
    expect(events?.at(-1)).toMatchObject({
      type: 'ExecutionAborted',
      executionAbortedEventDetails: { error: 'Enough', cause: 'not needed' },
    });
  });

  test.each([
    [
      'no JSON',
      'not some',
      "Unrecognized token 'not': was expecting (JSON String, Number, Array, Object or token 'null', 'true' or 'false')",
    ],
    [
      'single quotes',
      "{'a': 1}",
      "Unexpected character (''' (code 39)): was expecting double-quote to start field name",
    ],
    ['nothing', '', 'Invalid execution input.'],
  ])('refuses an input of %s', async (_, input, reason) => {
    const stateMachineArn = await createMachine(running, PASS);
    expect(await refusal(start(stateMachineArn, { input }))).toBe(
      `InvalidExecutionInput: Invalid State Machine Execution Input: '${reason}'`,
    );
  });

  test.each(['0', '"text"', 'null', '[]'])('takes %s as input', async (input) => {
    const stateMachineArn = await createMachine(running, PASS);
    expect(await ended(running, (await start(stateMachineArn, { input })).executionArn)).toMatchObject({
      status: 'SUCCEEDED',
      input,
    });
  });

  test('executions of a version are its own', async () => {
    const stateMachineArn = await createMachine(running, PASS, { publish: true });
    const plain = await start(stateMachineArn, { name: 'plain' });
    const changed = { ...PASS, Comment: 'later' };
    await running.client.send(
      new UpdateStateMachineCommand({ stateMachineArn, definition: JSON.stringify(changed) }),
    );
    const pinned = await start(`${stateMachineArn}:1`, { name: 'pinned' });
    const later = await start(stateMachineArn, { name: 'later' });
    for (const each of [plain, pinned, later]) await ended(running, each.executionArn);
    const list = async (arn: string) => {
      const { executions } = await running.client.send(new ListExecutionsCommand({ stateMachineArn: arn }));
      return executions?.map((each) => [each.name, each.stateMachineVersionArn]);
    };
    expect(await list(`${stateMachineArn}:1`)).toEqual([['pinned', `${stateMachineArn}:1`]]);
    expect(await list(stateMachineArn)).toEqual([
      ['later', undefined],
      ['pinned', `${stateMachineArn}:1`],
      ['plain', undefined],
    ]);
    const of = async (executionArn: string | undefined) =>
      running.client.send(new DescribeStateMachineForExecutionCommand({ executionArn }));
    expect((await of(pinned.executionArn)).definition).toBe(JSON.stringify(PASS));
    expect(await of(later.executionArn)).toMatchObject({
      stateMachineArn,
      definition: JSON.stringify(changed),
    });
    expect((await of(later.executionArn)).revisionId).toBeDefined();
    expect(await refusal(start(`${stateMachineArn}:7`))).toBe(
      `StateMachineDoesNotExist: State Machine Does Not Exist: '${stateMachineArn}:7'`,
    );
  });

  test('listing by status, in pages', async () => {
    const stateMachineArn = await createMachine(running, WAIT);
    const arns: string[] = [];
    for (let index = 0; index < 7; index += 1) {
      arns.push((await start(stateMachineArn, { name: `n${index}` })).executionArn ?? '');
    }
    for (const executionArn of arns.slice(0, 4)) {
      await running.client.send(new StopExecutionCommand({ executionArn }));
      await ended(running, executionArn);
    }
    const names = async (statusFilter?: 'RUNNING' | 'ABORTED' | 'SUCCEEDED') => {
      const found: string[][] = [];
      const config = { client: running.client, pageSize: 2 };
      for await (const page of paginateListExecutions(config, { stateMachineArn, statusFilter })) {
        found.push(page.executions?.map((each) => each.name ?? '') ?? []);
      }
      return found;
    };
    expect(await names()).toEqual([['n6', 'n5'], ['n4', 'n3'], ['n2', 'n1'], ['n0']]);
    expect((await names('RUNNING')).flat()).toEqual(['n6', 'n5', 'n4']);
    expect((await names('ABORTED')).flat()).toEqual(['n3', 'n2', 'n1', 'n0']);
    expect((await names('SUCCEEDED')).flat()).toEqual([]);
    for (const executionArn of arns) await running.client.send(new StopExecutionCommand({ executionArn }));
    const wrong = running.client.send(
      new ListExecutionsCommand({ stateMachineArn, statusFilter: 'succeeded' as 'SUCCEEDED' }),
    );
    expect(await refusal(wrong)).toBe(
      "ValidationException: 1 validation error detected: Value 'succeeded' at 'statusFilter' failed to satisfy constraint: Member must satisfy enum value set: [SUCCEEDED, TIMED_OUT, PENDING_REDRIVE, ABORTED, FAILED, RUNNING]",
    );
  });

  test('what does not exist', async () => {
    const stateMachineArn = await createMachine(running, PASS);
    const executionArn = `${stateMachineArn.replace('stateMachine', 'execution')}:none`;
    const describeIt = (arn: string) =>
      running.client.send(new DescribeExecutionCommand({ executionArn: arn }));
    const history = (arn: string) =>
      running.client.send(new GetExecutionHistoryCommand({ executionArn: arn }));
    const missing = `ExecutionDoesNotExist: Execution Does Not Exist: '${executionArn}'`;
    expect(await refusal(describeIt(executionArn))).toBe(missing);
    expect(await refusal(history(executionArn))).toBe(missing);
    const invalid = "InvalidArn: Invalid Arn: 'Invalid ARN prefix: invalid_state_machine_arn'";
    expect(await refusal(describeIt('invalid_state_machine_arn'))).toBe(invalid);
    expect(await refusal(history('invalid_state_machine_arn'))).toBe(invalid);
    expect(await refusal(describeIt(stateMachineArn))).toMatch(/^InvalidArn: /);
    expect(await refusal(start(`${stateMachineArn}-not`))).toBe(
      `StateMachineDoesNotExist: State Machine Does Not Exist: '${stateMachineArn}-not'`,
    );
  });

  test('history in pages, from either end, with and without data', async () => {
    const stateMachineArn = await createMachine(running, {
      QueryLanguage: 'JSONata',
      StartAt: 'A',
      States: {
        A: { Type: 'Pass', Assign: { secret: 'x' }, Next: 'B' },
        B: { Type: 'Pass', Next: 'C' },
        C: { Type: 'Succeed' },
      },
    });
    const { executionArn } = await start(stateMachineArn, { input: '{"secret":"y"}' });
    await ended(running, executionArn);
    const ids = async (more: object) => {
      const pages: number[][] = [];
      const config = { client: running.client, pageSize: 3 };
      for await (const page of paginateGetExecutionHistory(config, { executionArn, ...more })) {
        pages.push(page.events?.map((event) => event.id ?? 0) ?? []);
      }
      return pages;
    };
    expect(await ids({})).toEqual([
      [1, 2, 3],
      [4, 5, 6],
      [7, 8],
    ]);
    expect(await ids({ reverseOrder: true })).toEqual([
      [8, 7, 6],
      [5, 4, 3],
      [2, 1],
    ]);
    const bare = await running.client.send(
      new GetExecutionHistoryCommand({ executionArn, includeExecutionData: false }),
    );
    expect(bare.events).toHaveLength(8);
    expect(JSON.stringify(bare.events)).not.toContain('secret');
    expect(bare.events?.[1]).toMatchObject({
      type: 'PassStateEntered',
      stateEnteredEventDetails: { name: 'A' },
    });
  });
});

describe('here only', () => {
  test('a nested execution runs through the service, and ends with its parent', async () => {
    const held = gate();
    const service = await startService({ functions: { slow: () => held.promise.then(() => 'done') } });
    const child = await createMachine(service, calls('slow'));
    const parent = await createMachine(service, {
      QueryLanguage: 'JSONata',
      StartAt: 'Nest',
      States: {
        Nest: {
          Type: 'Task',
          Resource: 'arn:aws:states:::states:startExecution.sync:2',
          Arguments: { StateMachineArn: child, Name: '{% $states.input.name %}', Input: { from: 'parent' } },
          Output: '{% $states.result.Output %}',
          End: true,
        },
      },
    });
    const childArn = (name: string) => `${child.replace('stateMachine', 'execution')}:${name}`;
    const first = await start(parent, { input: '{"name":"one"}' }, service);
    const second = await start(parent, { input: '{"name":"two"}' }, service);
    await appears(service, childArn('one'));
    await appears(service, childArn('two'));
    await service.client.send(new StopExecutionCommand({ executionArn: second.executionArn }));
    expect(await ended(service, childArn('two'))).toMatchObject({ status: 'ABORTED' });
    held.open();
    expect(await ended(service, first.executionArn)).toMatchObject({ status: 'SUCCEEDED', output: '"done"' });
    expect(await ended(service, childArn('one'))).toMatchObject({
      status: 'SUCCEEDED',
      input: '{"from":"parent"}',
    });
    await service.close();
    expect(service.failures).toEqual([]);
  });

  test('status events tell of the start and of every end', async () => {
    const service = await startService({
      functions: {
        fail: () => {
          throw Object.assign(new Error('no'), { name: 'Broken' });
        },
      },
    });
    const passing = await createMachine(service, PASS, { publish: true });
    const failing = await createMachine(service, calls('fail'));
    const waiting = await createMachine(service, WAIT);
    const good = await start(`${passing}:1`, { name: 'good', input: '{"a":1}' }, service);
    const bad = await start(failing, { name: 'bad' }, service);
    const stopped = await start(waiting, { name: 'stopped' }, service);
    await service.client.send(new StopExecutionCommand({ executionArn: stopped.executionArn, cause: 'why' }));
    await ended(service, good.executionArn);
    await ended(service, bad.executionArn);
    await service.close();
    const of = (arn: string | undefined) =>
      service.events.filter((event) => event.detail.executionArn === arn);
    expect(of(good.executionArn).map((event) => event.detail.status)).toEqual(['RUNNING', 'SUCCEEDED']);
    expect(of(good.executionArn)[1]).toMatchObject({
      version: '0',
      source: 'aws.states',
      'detail-type': 'Step Functions Execution Status Change',
      account: '000000000000',
      region: 'us-east-1',
      resources: [good.executionArn],
      detail: {
        stateMachineArn: passing,
        stateMachineVersionArn: `${passing}:1`,
        name: 'good',
        startDate: good.startDate?.getTime(),
        stopDate: expect.any(Number),
        input: '{"a":1}',
        output: '{"greeting":"hello"}',
        error: null,
        redriveCount: 0,
        redriveStatus: 'NOT_REDRIVABLE',
      },
    });
    expect(of(bad.executionArn)[1]?.detail).toMatchObject({
      status: 'FAILED',
      error: 'Broken',
      redriveStatus: 'REDRIVABLE',
    });
    expect(of(stopped.executionArn)[1]?.detail).toMatchObject({
      status: 'ABORTED',
      cause: 'why',
      error: null,
    });
  });

  test('an event that cannot be delivered is reported and touches nothing', async () => {
    const service = await startService({ onStatusChange: () => Promise.reject(new Error('nobody listens')) });
    const machine = await createMachine(service, PASS);
    const { executionArn } = await start(machine, {}, service);
    expect((await ended(service, executionArn)).status).toBe('SUCCEEDED');
    await service.close();
    expect(service.failures.map((error) => (error as Error).message)).toEqual([
      'nobody listens',
      'nobody listens',
    ]);
  });

  test('an EXPRESS execution runs, but is no resource of the API', async () => {
    const service = await startService();
    const machine = await createMachine(service, PASS, { type: 'EXPRESS' });
    const { executionArn } = await start(machine, { name: 'one' }, service);
    expect(executionArn).toMatch(/:express:[^:]+:one:[0-9a-f-]{36}$/);
    await start(machine, { name: 'one' }, service);
    expect(await refusal(service.client.send(new DescribeExecutionCommand({ executionArn })))).toBe(
      "InvalidArn: Invalid Arn: 'Resource type not valid in this context: express'",
    );
    expect(await refusal(service.client.send(new ListExecutionsCommand({ stateMachineArn: machine })))).toBe(
      'StateMachineTypeNotSupported: This operation is not supported by this type of state machine',
    );
    await service.close();
    expect(service.events).toEqual([]);
  });

  test('closing leaves no timer, promise or in-flight call behind', async () => {
    const called = gate<AbortSignal>();
    const service = await startService({
      functions: {
        hang: (_payload, signal) => {
          called.open(signal);
          return new Promise<never>(() => {});
        },
      },
    });
    const machine = await createMachine(service, calls('hang'));
    await start(machine, { name: randomUUID() }, service);
    await start(await createMachine(service, WAIT), {}, service);
    const signal = await called.promise;
    await service.close();
    expect(signal.aborted).toBe(true);
    expect(service.failures).toEqual([]);
    expect(service.events.map((event) => event.detail.status)).toEqual(['RUNNING', 'RUNNING']);
  });
});

async function appears(at: Running, executionArn: string): Promise<void> {
  for (;;) {
    try {
      await at.client.send(new DescribeExecutionCommand({ executionArn }));
      return;
    } catch (error) {
      if ((error as Error).name !== 'ExecutionDoesNotExist') throw error;
    }
  }
}
