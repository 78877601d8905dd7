/** The process is killed at a random moment: whatever was answered is found by the next one, and goes on. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import {
  GetExecutionHistoryCommand,
  ListExecutionsCommand,
  paginateListExecutions,
  RedriveExecutionCommand,
  SFNClient,
  StartExecutionCommand,
} from '@aws-sdk/client-sfn';
import { build } from 'esbuild';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Json } from '../../../../lib/blueprint/json.ts';
import {
  calls,
  createMachine,
  ended,
  makeDataDir,
  type Running,
  removeDataDir,
  startService,
} from './harness.ts';

let folder: string;
let program: string;
const children = new Set<ChildProcess>();
beforeAll(async () => {
  folder = await makeDataDir();
  program = join(folder, 'killable.mjs');
  await build({
    entryPoints: [new URL('killable.ts', import.meta.url).pathname],
    outfile: program,
    bundle: true,
    platform: 'node',
    format: 'esm',
    logLevel: 'error',
  });
});
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL');
  await removeDataDir(folder);
});

test.each([40, 90, 170])('killed after %i ms', async (afterMs) => {
  const dataDir = join(folder, `data-${afterMs}`);
  const child = spawn(process.execPath, [program, dataDir], { stdio: ['ignore', 'pipe', 'inherit'] });
  children.add(child);
  const [url] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  const client = new SFNClient({
    endpoint: url,
    region: 'us-east-1',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
    maxAttempts: 1,
  });
  const definition = calls(...Array.from({ length: 12 }, (_, index) => `s${index}`));
  const stateMachineArn = await createMachine({ client } as Running, definition);
  const answered: string[] = [];
  const exited = once(child, 'exit');
  setTimeout(() => child.kill('SIGKILL'), afterMs);
  for (let index = 0; child.exitCode === null && child.signalCode === null; index += 1) {
    const input = JSON.stringify({ index });
    try {
      const started = await client.send(
        new StartExecutionCommand({ stateMachineArn, name: `n${index}`, input }),
      );
      answered.push(started.executionArn ?? '');
    } catch {
      break; // the process is gone
    }
  }
  await exited;
  children.delete(child);
  client.destroy();
  expect(answered.length).toBeGreaterThan(0);

  const functions = Object.fromEntries(
    Object.keys(definition.States).map((name) => [name, (payload: Json) => payload]),
  );
  const running = await startService({ dataDir, functions });
  const found = new Map<string, string>();
  for await (const page of paginateListExecutions({ client: running.client }, { stateMachineArn })) {
    for (const each of page.executions ?? []) found.set(each.executionArn ?? '', each.status ?? '');
  }
  for (const executionArn of answered) {
    expect(['ABORTED', 'SUCCEEDED']).toContain(found.get(executionArn));
    if (found.get(executionArn) === 'ABORTED')
      await running.client.send(new RedriveExecutionCommand({ executionArn }));
  }
  for (const [index, executionArn] of answered.entries()) {
    expect(await ended(running, executionArn)).toMatchObject({
      status: 'SUCCEEDED',
      output: JSON.stringify({ index }),
    });
    const { events = [] } = await running.client.send(
      new GetExecutionHistoryCommand({ executionArn, maxResults: 1000 }),
    );
    expect(events.map((event) => event.id)).toEqual(events.map((_, at) => at + 1));
    expect(events.filter((event) => event.type === 'ExecutionStarted')).toHaveLength(1);
    expect(events.at(-1)?.type).toBe('ExecutionSucceeded');
  }
  const left = await running.client.send(
    new ListExecutionsCommand({ stateMachineArn, statusFilter: 'RUNNING' }),
  );
  // One may have been stored without its answer getting through: it is found aborted, not running.
  expect(left.executions).toEqual([]);
  await running.close();
  expect(running.failures).toEqual([]);
});
