/** A running scheduler and the SDK's client for it. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type CreateScheduleCommandInput, SchedulerClient } from '@aws-sdk/client-scheduler';
import { startServer } from '../../../lib/local/http-server.ts';
import { createScheduler, type SchedulerOptions } from '../../../lib/local/scheduler/service.ts';

export const MACHINE = 'arn:aws:states:us-east-1:000000000000:stateMachine:mwe-nightly';
export const ROLE = 'arn:aws:iam::000000000000:role/mwe-schedule';

export interface Running {
  client: SchedulerClient;
  /** What was reported beside the answers. */
  failures: unknown[];
  close(): Promise<void>;
}

export async function makeDataDir(): Promise<string> {
  return mkdtemp(join(tmpdir(), 'mwe-scheduler-'));
}

/** The service on a free port. A folder of its own goes with it; a given one stays. */
export async function startScheduler(options: Partial<SchedulerOptions> = {}): Promise<Running> {
  const dataDir = options.dataDir ?? (await makeDataDir());
  const failures: unknown[] = [];
  const service = await createScheduler({
    onFailure: (error) => failures.push(error),
    ...options,
    dataDir,
  });
  const server = await startServer((request, response) => service.handle(request, response));
  const client = new SchedulerClient({
    endpoint: server.url,
    region: 'us-east-1',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
    maxAttempts: 1,
  });
  return {
    client,
    failures,
    async close() {
      client.destroy();
      await server.close();
      if (options.dataDir === undefined) await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** A schedule that starts a machine, every hour unless `changes` say else. */
export function schedule(
  Name: string,
  changes: Partial<CreateScheduleCommandInput> = {},
): CreateScheduleCommandInput {
  return {
    Name,
    ScheduleExpression: 'cron(0 * * * ? *)',
    FlexibleTimeWindow: { Mode: 'OFF' },
    Target: { Arn: MACHINE, RoleArn: ROLE, Input: '{}' },
    ...changes,
  };
}

/** What `call` is refused with, as `Name: message`. */
export async function refusal(call: Promise<unknown>): Promise<string> {
  try {
    await call;
  } catch (error) {
    const { name, message } = error as Error;
    return `${name}: ${message}`;
  }
  throw new Error('it was not refused');
}
