/**
 * The embedded AWS: Step Functions, Lambda, DynamoDB, S3, EventBridge Scheduler and Secrets Manager on loopback, with their data
 * in one folder. Nothing in the engine knows that it is these that answer.
 */
import { randomUUID } from 'node:crypto';
import { createGate } from '../downstream/gate.ts';
import { createTableInput } from '../store/table.ts';
import { openDataFolder } from './data-folder.ts';
import { startDynamoDb } from './dynamodb/service.ts';
import { type RunningServer, startServer } from './http-server.ts';
import { createLambdaHandler } from './lambda/api.ts';
import { createLambda, type LambdaFunction, type LambdaHandler } from './lambda/functions.ts';
import { startS3 } from './s3/service.ts';
import { createScheduler } from './scheduler/service.ts';
import { startSecretsManager } from './secrets-manager/service.ts';
import { createStepFunctions } from './step-functions/service/service.ts';
import { stopAll } from './stop-all.ts';

export interface LocalOptions {
  /** Created where it is missing; one engine at a time. */
  dataDir: string;
  /** Default 127.0.0.1. */
  host?: string;
  /** Default 0 each: any free port. */
  ports?: Partial<Record<keyof LocalEndpoints, number>>;
  tableName: string;
  bucketName: string;
  functions: Readonly<Record<string, LambdaHandler | LambdaFunction>>;
  /** Name of the function that hears "Step Functions Execution Status Change" events. */
  statusEvents?: string;
  /** Schedule groups that are there from the start, beside `default`. */
  scheduleGroups?: readonly string[];
  /** Defects of the stand-ins and events that could not be delivered. Default: standard error. */
  onError?: (error: unknown) => void;
}

interface LocalEndpoints {
  sfn: string;
  lambda: string;
  dynamodb: string;
  s3: string;
  scheduler: string;
  secretsmanager: string;
}

export interface Local {
  endpoints: LocalEndpoints;
  /** Unique to this start: lease owners begin with it, so that those of an earlier start are known to be dead. */
  boot: string;
  /** Writes `endpoints.json` into the data folder: these URLs and what is given, e.g. `{ mcp }`. */
  writeEndpoints(more: Readonly<Record<string, string>>): Promise<void>;
  /** Ends everything and lets the folder go; calling it again answers the same promise. */
  stop(): Promise<void>;
}

/**
 * Tasks of state machines that run at once; others wait for their turn. Lambda stops at 1,000 an account, far more than one
 * process serves: without a bound a run that fans out starves every other, and the endpoint. What the endpoint invokes
 * itself does not wait.
 */
const MAX_TASKS = 100;

/**
 * Starts everything; what has started is stopped again where something cannot. Throws `DataFolderInUse`, or Node's error
 * (`EADDRINUSE`, `EACCES`, ...).
 */
export async function startLocal(options: LocalOptions): Promise<Local> {
  const { onError = (error: unknown) => console.error('Local AWS:', error) } = options;
  const undo: (() => Promise<void>)[] = [];
  let stopping: Promise<void> | undefined;
  const stop = (): Promise<void> => {
    stopping ??= stopAll(undo, 'The local AWS did not stop cleanly.');
    return stopping;
  };
  try {
    const folder = await openDataFolder(options.dataDir);
    undo.push(() => folder.release());
    const address = (name: keyof LocalEndpoints) => ({
      onError,
      ...(options.host === undefined ? {} : { host: options.host }),
      port: options.ports?.[name] ?? 0,
    });

    // Folders first: a start that fails while something else is awaited would be a rejection that nobody handles.
    const dynamodbFolder = await folder.subfolder('dynamodb');
    const s3Folder = await folder.subfolder('s3');
    const [dynamodb, s3] = await startBoth(
      undo,
      startDynamoDb({
        ...address('dynamodb'),
        folder: dynamodbFolder,
        tables: [createTableInput(options.tableName)],
      }),
      startS3({ ...address('s3'), folder: s3Folder, buckets: [options.bucketName] }),
    );

    const lambda = createLambda({
      functions: options.functions,
      onAsyncFailure: (name, payload) => onError(new Error(`An event for ${name} was given up: ${payload}`)),
    });
    undo.push(() => lambda.close());
    const lambdaServer = await startServer(createLambdaHandler(lambda), {
      ...address('lambda'),
      guard: { signed: true },
    });
    undo.push(() => lambdaServer.close());

    const { statusEvents } = options;
    const tasks = createGate(MAX_TASKS);
    const stepFunctions = await createStepFunctions({
      dataDir: await folder.subfolder('step-functions'),
      invokeLambda: async (request) => {
        await tasks.enter(request.signal);
        try {
          return await lambda.invoke(request);
        } finally {
          tasks.leave();
        }
      },
      onStatusChange: async (event) => {
        if (statusEvents === undefined) return;
        const { functionError, payload } = await lambda.invoke({
          functionName: statusEvents,
          payload: JSON.stringify(event),
          invocationType: 'RequestResponse',
          signal: new AbortController().signal,
        });
        if (functionError !== undefined)
          throw new Error(`${statusEvents} failed on a status event: ${payload}`);
      },
      onFailure: onError,
    });
    undo.push(() => stepFunctions.close());
    const sfn = await startServer((request, response) => stepFunctions.handle(request, response), {
      ...address('sfn'),
      guard: { signed: true },
    });
    undo.push(() => sfn.close());

    const scheduler = await createScheduler({
      dataDir: await folder.subfolder('scheduler'),
      groups: options.scheduleGroups ?? [],
      targets: {
        startExecution: (request) => stepFunctions.startExecution({ ...request }),
        invokeLambda: (functionName, payload) =>
          lambda.invoke({
            functionName,
            payload,
            invocationType: 'Event',
            signal: new AbortController().signal,
          }),
      },
      onFailure: onError,
    });
    undo.push(() => scheduler.close());
    const schedulerServer = await startServer((request, response) => scheduler.handle(request, response), {
      ...address('scheduler'),
      guard: { signed: true },
    });
    undo.push(() => schedulerServer.close());

    const secrets = await startSecretsManager({
      ...address('secretsmanager'),
      folder: await folder.subfolder('secrets-manager'),
    });
    undo.push(() => secrets.close());

    const endpoints = {
      sfn: sfn.url,
      lambda: lambdaServer.url,
      dynamodb: dynamodb.url,
      s3: s3.url,
      scheduler: schedulerServer.url,
      secretsmanager: secrets.url,
    };
    return {
      endpoints,
      boot: randomUUID(),
      writeEndpoints: (more) => folder.writeEndpoints({ ...more, ...endpoints }),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Starts two servers side by side; one that started is stopped by `undo` even where the other could not. */
async function startBoth(
  undo: (() => Promise<void>)[],
  ...starting: [Promise<RunningServer>, Promise<RunningServer>]
): Promise<[RunningServer, RunningServer]> {
  const track = async (start: Promise<RunningServer>): Promise<RunningServer> => {
    const server = await start;
    undo.push(() => server.close());
    return server;
  };
  const tracked = starting.map(track);
  await Promise.allSettled(tracked);
  return (await Promise.all(tracked)) as [RunningServer, RunningServer];
}
