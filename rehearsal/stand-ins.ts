/**
 * The embedded AWS of lib/local, put together for a deployment that brings its own names: no table, bucket, group or function is
 * there from the start. What the machines and the scheduler do in the name of a role is told, and so are status events.
 */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { startDynamoDb } from '../lib/local/dynamodb/service.ts';
import { type RunningServer, startServer } from '../lib/local/http-server.ts';
import { createLambdaHandler } from '../lib/local/lambda/api.ts';
import { createLambda, type LambdaFunction, type LambdaService } from '../lib/local/lambda/functions.ts';
import { startS3 } from '../lib/local/s3/service.ts';
import type { Targets } from '../lib/local/scheduler/delivery/deliver.ts';
import { createScheduler, type SchedulerService } from '../lib/local/scheduler/service.ts';
import { startSecretsManager } from '../lib/local/secrets-manager/service.ts';
import type { Clock, RoleUse } from '../lib/local/step-functions/contract.ts';
import { createStepFunctions } from '../lib/local/step-functions/service/service.ts';
import type { StatusChangeEvent } from '../lib/local/step-functions/service/status-event.ts';
import { stopAll } from '../lib/local/stop-all.ts';
import { LOCAL_ACCOUNT, LOCAL_REGION } from '../lib/store/aws-config.ts';
import type { ServiceName } from './actions/services.ts';

export interface StandInOptions {
  /** Where everything is kept. */
  folder: string;
  /** By name; none of them is invoked before it is deployed. */
  functions: Readonly<Record<string, LambdaFunction>>;
  /** Moves by itself and on demand; schedules follow it. */
  schedulerClock: Clock;
  onRoleUse(roleArn: string, use: RoleUse, stateMachineArn: string): void;
  onStatusChange(event: StatusChangeEvent): Promise<void>;
  /** Before the scheduler invokes what a schedule names. */
  onScheduled: (...invocation: Parameters<Targets['startExecution']>) => void;
  /** Defects of the stand-ins, and events that could not be delivered. */
  onError(error: unknown): void;
}

export interface StandIns {
  endpoints: Readonly<Record<ServiceName, string>>;
  lambda: LambdaService;
  scheduler: SchedulerService;
  stop(): Promise<void>;
}

export async function startStandIns(options: StandInOptions): Promise<StandIns> {
  const { folder, onError } = options;
  const undo: (() => Promise<void>)[] = [];
  const stop = (): Promise<void> => stopAll(undo, 'The stand-ins did not stop cleanly.');
  const kept = <S extends RunningServer>(server: S): S => {
    undo.push(() => server.close());
    return server;
  };
  const guarded = { guard: { signed: true }, onError };
  const place = { region: LOCAL_REGION, accountId: LOCAL_ACCOUNT };
  const sub = async (name: string): Promise<string> => {
    await mkdir(join(folder, name), { recursive: true, mode: 0o700 });
    return join(folder, name);
  };
  try {
    const dynamodb = kept(await startDynamoDb({ onError }));
    const s3 = kept(await startS3({ folder: await sub('s3'), onError }));
    const secrets = kept(await startSecretsManager({ folder: await sub('secrets-manager'), onError }));
    const lambda = createLambda({
      functions: options.functions,
      onAsyncFailure: (name, payload) => onError(new Error(`An event for ${name} was given up: ${payload}`)),
    });
    undo.push(() => lambda.close());
    const lambdaServer = kept(await startServer(createLambdaHandler(lambda), guarded));
    const stepFunctions = await createStepFunctions({
      ...place,
      dataDir: await sub('step-functions'),
      invokeLambda: (request) => lambda.invoke(request),
      onRoleUse: options.onRoleUse,
      onStatusChange: options.onStatusChange,
      onFailure: onError,
    });
    undo.push(() => stepFunctions.close());
    const sfn = kept(
      await startServer((request, response) => stepFunctions.handle(request, response), guarded),
    );
    const scheduler = await createScheduler({
      ...place,
      dataDir: await sub('scheduler'),
      clock: options.schedulerClock,
      targets: {
        startExecution(...invocation) {
          options.onScheduled(...invocation);
          return stepFunctions.startExecution({ ...invocation[0] });
        },
        invokeLambda: () => Promise.reject(new Error('no schedule of the rehearsal invokes a function')),
      },
      onFailure: onError,
    });
    undo.push(() => scheduler.close());
    const schedulerServer = kept(
      await startServer((request, response) => scheduler.handle(request, response), guarded),
    );
    return {
      endpoints: {
        DYNAMODB: dynamodb.url,
        S3: s3.url,
        SECRETS_MANAGER: secrets.url,
        LAMBDA: lambdaServer.url,
        SFN: sfn.url,
        SCHEDULER: schedulerServer.url,
      },
      lambda,
      scheduler,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
