/** A running scheduler, the SDK's client for it, and targets that note what they are asked. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type CreateScheduleCommandInput, SchedulerClient } from '@aws-sdk/client-scheduler';
import { startServer } from '../../../lib/local/http-server.ts';
import type { StartExecutionRequest } from '../../../lib/local/scheduler/delivery/invocation.ts';
import { createScheduler, type SchedulerOptions } from '../../../lib/local/scheduler/service.ts';

export const MACHINE = 'arn:aws:states:us-east-1:000000000000:stateMachine:mwe-nightly';
export const ROLE = 'arn:aws:iam::000000000000:role/mwe-schedule';
export const UNIVERSAL = 'arn:aws:scheduler:::aws-sdk:sfn:startExecution';

export interface Running {
  client: SchedulerClient;
  url: string;
  started: StartExecutionRequest[];
  invoked: { functionName: string; payload: string }[];
  /** What was reported beside the answers, as text. */
  failures: string[];
  idle(): Promise<void>;
  close(): Promise<void>;
}

export async function makeDataDir(): Promise<string> {
  return mkdtemp(join(tmpdir(), 'mwe-scheduler-'));
}

/** The service on a free port. A folder of its own goes with it; a given one stays. */
export async function startScheduler(
  options: Partial<SchedulerOptions> & {
    /** Fails or holds what would be started; default: it starts. */
    onStart?: (request: StartExecutionRequest) => void | Promise<void>;
  } = {},
): Promise<Running> {
  const { onStart = () => undefined, ...rest } = options;
  const dataDir = options.dataDir ?? (await makeDataDir());
  const failures: string[] = [];
  const started: StartExecutionRequest[] = [];
  const invoked: Running['invoked'] = [];
  const service = await createScheduler({
    onFailure: (error) => failures.push(String(error)),
    targets: {
      async startExecution(request) {
        started.push(request);
        await onStart(request);
      },
      async invokeLambda(functionName, payload) {
        invoked.push({ functionName, payload });
      },
    },
    ...rest,
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
    url: server.url,
    started,
    invoked,
    failures,
    idle: () => service.idle(),
    async close() {
      client.destroy();
      await server.close();
      await service.close();
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
