/**
 * A running service and the SDK's client for it.
 *
 * The suites that say so also run against AWS itself: with `SFN_SUITE_ROLE_ARN` set to a role that Step Functions may
 * assume (and the usual AWS credentials and region in the environment) `connect` uses the real endpoint. What needs a
 * clock, a restart or a Lambda function of ours is then skipped.
 */
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  CreateStateMachineCommand,
  DeleteStateMachineCommand,
  DescribeExecutionCommand,
  type DescribeExecutionCommandOutput,
  SFNClient,
} from '@aws-sdk/client-sfn';
import type { Json } from '../../../../lib/blueprint/json.ts';
import type { Clock, LambdaRequest, LambdaResponse } from '../../../../lib/local/step-functions/contract.ts';
import { createStepFunctions } from '../../../../lib/local/step-functions/service/service.ts';
import type { StatusChangeEvent } from '../../../../lib/local/step-functions/service/status-event.ts';

const realRole = process.env.SFN_SUITE_ROLE_ARN;
export const againstAws = realRole !== undefined;
export const ROLE = realRole ?? 'arn:aws:iam::000000000000:role/states';

type TestFunction = (payload: Json, signal: AbortSignal) => Json | Promise<Json>;

export interface Running {
  client: SFNClient;
  url: string;
  events: StatusChangeEvent[];
  failures: unknown[];
  close(): Promise<void>;
}

export interface RunningOptions {
  dataDir?: string;
  functions?: Record<string, TestFunction>;
  clock?: Clock;
  onStatusChange?: (event: StatusChangeEvent) => void | Promise<void>;
}

export async function makeDataDir(): Promise<string> {
  return mkdtemp(join(tmpdir(), 'sfn-'));
}

export async function removeDataDir(dataDir: string): Promise<void> {
  await rm(dataDir, { recursive: true, force: true });
}

/** The local service on a free port. */
export async function startService(options: RunningOptions = {}): Promise<Running> {
  const dataDir = options.dataDir ?? (await makeDataDir());
  const events: StatusChangeEvent[] = [];
  const failures: unknown[] = [];
  const service = await createStepFunctions({
    dataDir,
    ...(options.clock === undefined ? {} : { clock: options.clock }),
    invokeLambda: (request) => invoke(options.functions ?? {}, request),
    onStatusChange: (event) => {
      events.push(event);
      return options.onStatusChange?.(event);
    },
    onFailure: (error) => failures.push(error),
  });
  const server = createServer((request, response) => void service.handle(request, response));
  const url = await listen(server);
  const client = new SFNClient({
    endpoint: url,
    region: 'us-east-1',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
    maxAttempts: 1,
  });
  return {
    client,
    url,
    events,
    failures,
    async close() {
      client.destroy();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await service.close();
      if (options.dataDir === undefined) await removeDataDir(dataDir);
    },
  };
}

/** AWS where the environment asks for it, else the local service. */
export async function connect(): Promise<Running> {
  if (!againstAws) return startService();
  const client = new SFNClient({});
  return { client, url: '', events: [], failures: [], close: async () => client.destroy() };
}

function listen(server: Server): Promise<string> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    });
  });
}

async function invoke(
  functions: Record<string, TestFunction>,
  request: LambdaRequest,
): Promise<LambdaResponse> {
  const call = functions[request.functionName];
  if (call === undefined) throw new Error(`no function ${request.functionName} in this test`);
  const base = { statusCode: 200, executedVersion: '$LATEST', requestId: randomUUID() };
  try {
    return { ...base, payload: JSON.stringify(await call(JSON.parse(request.payload), request.signal)) };
  } catch (error) {
    const { name, message } = error as Error;
    const payload = JSON.stringify({ errorType: name, errorMessage: message, trace: [] });
    return { ...base, payload, functionError: 'Unhandled' };
  }
}

/** A promise with its ends outside, to hold a function in flight. */
export function gate<T = void>(): { promise: Promise<T>; open(value: T): void } {
  let open: (value: T) => void = () => {};
  const promise = new Promise<T>((resolve) => {
    open = resolve;
  });
  return { promise, open };
}

export const PASS = {
  QueryLanguage: 'JSONata',
  StartAt: 'Hello',
  States: { Hello: { Type: 'Pass', Output: { greeting: 'hello' }, End: true } },
};

export const WAIT = {
  QueryLanguage: 'JSONata',
  StartAt: 'Wait',
  States: { Wait: { Type: 'Wait', Seconds: 600, End: true } },
};

/** States that call functions one after the other, each getting the input of the execution. */
export function calls(...names: string[]) {
  const states = names.map((name, index) => [
    name,
    {
      Type: 'Task',
      Resource: 'arn:aws:states:::lambda:invoke',
      Arguments: { FunctionName: name, Payload: '{% $states.context.Execution.Input %}' },
      Output: '{% $states.result.Payload %}',
      ...(index === names.length - 1 ? { End: true } : { Next: names[index + 1] }),
    },
  ]);
  return { QueryLanguage: 'JSONata', StartAt: names[0], States: Object.fromEntries(states) };
}

/** Creates a machine with a name of its own; `removeMachines` takes them away again. */
export async function createMachine(
  { client }: Running,
  definition: object,
  more: { name?: string; publish?: boolean; type?: 'STANDARD' | 'EXPRESS' } = {},
): Promise<string> {
  const { stateMachineArn } = await client.send(
    new CreateStateMachineCommand({
      name: `suite-${randomUUID()}`,
      roleArn: ROLE,
      definition: JSON.stringify(definition),
      ...more,
    }),
  );
  if (stateMachineArn === undefined) throw new Error('no ARN was answered');
  created.push(stateMachineArn);
  return stateMachineArn;
}

const created: string[] = [];

/** Only AWS keeps what a test leaves behind. */
export async function removeMachines({ client }: Running): Promise<void> {
  for (const stateMachineArn of created.splice(0)) {
    if (againstAws) await client.send(new DeleteStateMachineCommand({ stateMachineArn }));
  }
}

/** Waits for an execution to leave `RUNNING`; asks again and again because the API has nothing that waits. */
export async function ended(
  { client }: Running,
  executionArn: string | undefined,
): Promise<DescribeExecutionCommandOutput> {
  for (;;) {
    const execution = await client.send(new DescribeExecutionCommand({ executionArn }));
    if (execution.status !== 'RUNNING') return execution;
    await new Promise((resolve) => setTimeout(resolve, againstAws ? 500 : 2));
  }
}

/** The API error that `call` ends with, as `Type: message`. */
export async function refusal(call: Promise<unknown>): Promise<string> {
  try {
    await call;
  } catch (error) {
    const { name, message } = error as Error;
    return `${name}: ${message}`;
  }
  throw new Error('it was not refused');
}
