/** What a service finds that is opened on the folder of an earlier one, and redriving. */
import { appendFile, readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import {
  DescribeExecutionCommand,
  DescribeStateMachineCommand,
  GetExecutionHistoryCommand,
  ListExecutionsCommand,
  RedriveExecutionCommand,
  StartExecutionCommand,
  StopExecutionCommand,
} from '@aws-sdk/client-sfn';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Clock } from '../../../../lib/local/step-functions/contract.ts';
import {
  PROCESS_ENDED_CAUSE,
  PROCESS_ENDED_ERROR,
} from '../../../../lib/local/step-functions/service/recovery.ts';
import {
  calls,
  createMachine,
  ended,
  gate,
  makeDataDir,
  PASS,
  type Running,
  type RunningOptions,
  refusal,
  removeDataDir,
  startService,
  WAIT,
} from './harness.ts';

let dataDir: string;
const open: Running[] = [];
beforeEach(async () => {
  dataDir = await makeDataDir();
});
afterEach(async () => {
  for (const service of open.splice(0)) {
    await service.close();
    expect(service.failures).toEqual([]);
  }
  await removeDataDir(dataDir);
});

async function service(options: RunningOptions = {}): Promise<Running> {
  const running = await startService({ dataDir, ...options });
  open.push(running);
  return running;
}

async function close(running: Running): Promise<void> {
  open.splice(open.indexOf(running), 1);
  await running.close();
  expect(running.failures).toEqual([]);
}

async function history(running: Running, executionArn: string | undefined) {
  const { events = [] } = await running.client.send(new GetExecutionHistoryCommand({ executionArn }));
  return events.map((event) => event.type);
}

const start = (running: Running, stateMachineArn: string, more = {}) =>
  running.client.send(new StartExecutionCommand({ stateMachineArn, ...more }));
const redrive = (running: Running, executionArn: string | undefined, more = {}) =>
  running.client.send(new RedriveExecutionCommand({ executionArn, ...more }));
const describeIt = (running: Running, executionArn: string | undefined) =>
  running.client.send(new DescribeExecutionCommand({ executionArn }));

describe('after a restart', () => {
  test('machines, versions, finished executions and their histories are as they were', async () => {
    const before = await service();
    const machine = await createMachine(before, PASS, { publish: true });
    const { executionArn } = await start(before, `${machine}:1`, { name: 'one', input: '{"a":1}' });
    await ended(before, executionArn);
    const look = async (running: Running) => ({
      machine: await plain(
        running.client.send(new DescribeStateMachineCommand({ stateMachineArn: machine })),
      ),
      version: await plain(
        running.client.send(new DescribeStateMachineCommand({ stateMachineArn: `${machine}:1` })),
      ),
      execution: await plain(describeIt(running, executionArn)),
      list: await plain(running.client.send(new ListExecutionsCommand({ stateMachineArn: machine }))),
      history: await plain(running.client.send(new GetExecutionHistoryCommand({ executionArn }))),
    });
    const seen = await look(before);
    await close(before);
    const after = await service();
    expect(await look(after)).toEqual(seen);
    expect(await refusal(start(after, machine, { name: 'one' }))).toMatch(/^ExecutionAlreadyExists/);
    expect(after.events).toEqual([]);
  });

  test('what was running is found aborted with a cause, and goes on from its last checkpoint when redriven', async () => {
    const made: string[] = [];
    const reached = gate();
    const before = await service({
      functions: {
        first: () => {
          made.push('first');
          return 1;
        },
        second: () => {
          made.push('second');
          reached.open();
          return new Promise<never>(() => {});
        },
      },
    });
    const machine = await createMachine(before, calls('first', 'second', 'third'));
    const { executionArn } = await start(before, machine, { name: 'one' });
    await reached.promise;
    await close(before);

    const after = await service({
      functions: {
        second: () => {
          made.push('second again');
          return 2;
        },
        third: () => 3,
      },
    });
    expect(await describeIt(after, executionArn)).toMatchObject({
      status: 'ABORTED',
      error: PROCESS_ENDED_ERROR,
      cause: PROCESS_ENDED_CAUSE,
      redriveStatus: 'REDRIVABLE',
    });
    expect((await history(after, executionArn)).at(-1)).toBe('ExecutionAborted');
    expect(after.events.map((event) => event.detail.status)).toEqual(['ABORTED']);
    const { redriveDate } = await redrive(after, executionArn);
    expect(await ended(after, executionArn)).toMatchObject({
      status: 'SUCCEEDED',
      output: '3',
      redriveCount: 1,
      redriveDate,
    });
    expect((await ended(after, executionArn)).error).toBeUndefined();
    expect(made).toEqual(['first', 'second', 'second again']);
    const types = await history(after, executionArn);
    expect(types.filter((type) => type === 'ExecutionStarted')).toHaveLength(1);
    expect(types[types.indexOf('ExecutionAborted') + 1]).toBe('ExecutionRedriven');
    await close(after);
    expect(after.events.map((event) => event.detail.status)).toEqual(['ABORTED', 'RUNNING', 'SUCCEEDED']);
    const last = await service();
    expect(await history(last, executionArn)).toEqual(types);
  });

  test('an execution that had no checkpoint yet is redriven from its beginning', async () => {
    const before = await service();
    const machine = await createMachine(before, WAIT);
    const { executionArn } = await start(before, machine);
    await close(before);
    for (const file of await readdir(join(dataDir, 'executions'), { recursive: true })) {
      if (file.endsWith('.checkpoint')) await removeDataDir(join(dataDir, 'executions', file));
    }
    const after = await service();
    expect((await describeIt(after, executionArn)).status).toBe('ABORTED');
    await redrive(after, executionArn);
    expect((await describeIt(after, executionArn)).status).toBe('RUNNING');
    await after.client.send(new StopExecutionCommand({ executionArn }));
    const types = await history(after, executionArn);
    expect(types.filter((type) => type === 'ExecutionStarted')).toHaveLength(1);
    expect(types).toContain('ExecutionRedriven');
  });

  test('lines that a crash cut short are dropped, nothing after them is lost', async () => {
    const before = await service();
    const machine = await createMachine(before, WAIT);
    const { executionArn } = await start(before, machine, { name: 'one' });
    await close(before);
    const files = await readdir(join(dataDir, 'executions'), { recursive: true });
    const historyFile = files.find((file) => file.endsWith('.history')) ?? '';
    await appendFile(join(dataDir, 'executions', historyFile), '{"id":3,"previousEv');
    await appendFile(join(dataDir, 'executions.jsonl'), '{"executionArn":"arn:aws:st');
    const middle = await service();
    expect(await history(middle, executionArn)).toEqual([
      'ExecutionStarted',
      'WaitStateEntered',
      'ExecutionAborted',
    ]);
    await start(middle, machine, { name: 'two' });
    await close(middle);
    const after = await service();
    const { executions } = await after.client.send(new ListExecutionsCommand({ stateMachineArn: machine }));
    expect(executions?.map((each) => [each.name, each.status])).toEqual([
      ['two', 'ABORTED'],
      ['one', 'ABORTED'],
    ]);
  });

  test('the log of executions is compacted, and what is older than 90 days is gone', async () => {
    const before = await service();
    const machine = await createMachine(before, PASS);
    for (let index = 0; index < 60; index += 1) {
      await ended(before, (await start(before, machine, { name: `n${index}` })).executionArn);
    }
    await close(before);
    const day = 24 * 60 * 60 * 1000;
    const later: Clock = { now: () => Date.now() + 91 * day, sleep: untilAborted };
    const after = await service({ clock: later });
    const { executions } = await after.client.send(new ListExecutionsCommand({ stateMachineArn: machine }));
    expect(executions).toEqual([]);
    await close(after);
    await close(await service());
    const lines = (await readFile(join(dataDir, 'executions.jsonl'), 'utf8'))
      .split('\n')
      .filter((line) => line !== '');
    expect(lines).toEqual([]);
    const files = await readdir(join(dataDir, 'executions'), { recursive: true, withFileTypes: true });
    expect(files.filter((file) => file.isFile())).toEqual([]);
  });

  test('folders are 0700, files 0600, and no name of ours is part of a path', async () => {
    const running = await service();
    const machine = await createMachine(running, PASS, { name: 'telling-name' });
    await ended(running, (await start(running, machine, { name: 'telling-execution' })).executionArn);
    const files = await readdir(dataDir, { recursive: true, withFileTypes: true });
    expect(files.length).toBeGreaterThan(5);
    for (const file of files) {
      const { mode } = await stat(join(file.parentPath, file.name));
      expect([file.name, (mode & 0o777).toString(8)]).toEqual([
        file.name,
        file.isDirectory() ? '700' : '600',
      ]);
      expect(file.name).not.toContain('telling');
    }
  });
});

describe('redriving', () => {
  test('goes on at the state that failed; succeeded and running executions are refused', async () => {
    let broken = true;
    const made: string[] = [];
    const running = await service({
      functions: {
        first: () => made.push('first'),
        second: () => {
          made.push('second');
          if (broken) throw Object.assign(new Error('not yet'), { name: 'NotYet' });
          return 'well';
        },
      },
    });
    const machine = await createMachine(running, calls('first', 'second'));
    const { executionArn } = await start(running, machine);
    expect(await ended(running, executionArn)).toMatchObject({ status: 'FAILED', error: 'NotYet' });
    await redrive(running, executionArn);
    expect(await ended(running, executionArn)).toMatchObject({ status: 'FAILED', redriveCount: 1 });
    broken = false;
    const clientToken = 'the-same-token';
    const first = await redrive(running, executionArn, { clientToken });
    expect(await ended(running, executionArn)).toMatchObject({
      status: 'SUCCEEDED',
      output: '"well"',
      redriveCount: 2,
    });
    expect(made).toEqual(['first', 'second', 'second', 'second']);
    // The answer of a token is repeated, whatever has become of the execution.
    expect((await redrive(running, executionArn, { clientToken })).redriveDate).toEqual(first.redriveDate);
    expect(await refusal(redrive(running, executionArn))).toBe(
      'ExecutionNotRedrivable: Execution is SUCCEEDED and cannot be redriven',
    );
    const waiting = await start(running, await createMachine(running, WAIT));
    expect(await refusal(redrive(running, waiting.executionArn))).toBe(
      'ExecutionNotRedrivable: Execution is RUNNING and cannot be redriven',
    );
    const redriven = await running.client.send(
      new ListExecutionsCommand({ stateMachineArn: machine, redriveFilter: 'REDRIVEN' }),
    );
    expect(redriven.executions).toMatchObject([{ executionArn, redriveCount: 2 }]);
    const not = await running.client.send(
      new ListExecutionsCommand({ stateMachineArn: machine, redriveFilter: 'NOT_REDRIVEN' }),
    );
    expect(not.executions).toEqual([]);
  });

  test('is refused after 14 days', async () => {
    let offset = 0;
    const clock: Clock = { now: () => Date.now() + offset, sleep: untilAborted };
    const running = await service({ clock });
    const { executionArn } = await start(running, await createMachine(running, WAIT));
    await running.client.send(new StopExecutionCommand({ executionArn }));
    offset = 14 * 24 * 60 * 60 * 1000 + 60_000;
    expect(await refusal(redrive(running, executionArn))).toBe(
      'ExecutionNotRedrivable: Execution redrivable period exceeded',
    );
    expect(await describeIt(running, executionArn)).toMatchObject({
      redriveStatus: 'NOT_REDRIVABLE',
      redriveStatusReason: 'Execution redrivable period exceeded',
    });
  });

  test('at the same time twice, only one goes on', async () => {
    const running = await service();
    const { executionArn } = await start(running, await createMachine(running, WAIT));
    await running.client.send(new StopExecutionCommand({ executionArn }));
    const results = await Promise.allSettled([
      redrive(running, executionArn),
      redrive(running, executionArn),
    ]);
    expect(results.map((result) => result.status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(await describeIt(running, executionArn)).toMatchObject({ status: 'RUNNING', redriveCount: 1 });
    await running.client.send(new StopExecutionCommand({ executionArn }));
  });
});

function untilAborted(_ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((_resolve, reject) => signal?.addEventListener('abort', () => reject(signal.reason)));
}

/** Without what differs from request to request. */
async function plain(answer: Promise<object>): Promise<object> {
  const { $metadata: _, ...rest } = (await answer) as { $metadata: unknown };
  return rest;
}
