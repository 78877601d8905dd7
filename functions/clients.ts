/**
 * The AWS clients of a function, each loaded by its first request. They get no endpoint from us: where they speak to follows
 * from the region and from the SDK's own `AWS_ENDPOINT_URL_*` variables, by which a rehearsal aims them at stand-ins.
 * Credentials are the function's role.
 */
import type { LambdaClient } from '@aws-sdk/client-lambda';
import type { SchedulerClient } from '@aws-sdk/client-scheduler';
import type { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import type { SFNClient } from '@aws-sdk/client-sfn';
import { secretsManagerClient, secretText } from '../lib/downstream/secrets-manager.ts';
import { clientConfig } from '../lib/store/aws-config.ts';
import { lazyClient, type Sender } from '../lib/store/lazy-client.ts';
import { openStore, type Store } from '../lib/store/store.ts';
import type { Environment } from './environment.ts';
import { VARIABLES } from './variables.ts';

/** An invocation of call-tool, which must be over, and told, before the endpoint's own answer is: 50 s. */
const INVOKE_TIMEOUT_MS = 45_000;
/** A call waits for its server's secrets, an agent for those that tell who it is. */
const SECRET_TIMEOUT_MS = 5000;

export function regionOf(environment: Environment): string {
  return environment.text('AWS_REGION');
}

export function storeOf(environment: Environment): Store {
  return openStore({
    region: regionOf(environment),
    tableName: environment.text(VARIABLES.table),
    bucketName: environment.text(VARIABLES.bucket),
  });
}

export function stepFunctionsOf(environment: Environment): Sender<SFNClient> {
  const config = clientConfig({ region: regionOf(environment) });
  return lazyClient(async () => new (await import('@aws-sdk/client-sfn')).SFNClient(config));
}

/** The one that invokes call-tool. It tries once: a call whose answer did not come may have been made. */
export function lambdaOf(environment: Environment): Sender<LambdaClient> {
  const config = { ...clientConfig({ region: regionOf(environment) }, INVOKE_TIMEOUT_MS), maxAttempts: 1 };
  return lazyClient(async () => new (await import('@aws-sdk/client-lambda')).LambdaClient(config));
}

export function schedulerOf(environment: Environment): Sender<SchedulerClient> {
  const config = clientConfig({ region: regionOf(environment) });
  return lazyClient(async () => new (await import('@aws-sdk/client-scheduler')).SchedulerClient(config));
}

export function secretsManagerOf(environment: Environment): Promise<SecretsManagerClient> {
  return secretsManagerClient(clientConfig({ region: regionOf(environment) }, SECRET_TIMEOUT_MS));
}

/** A secret that is read once a process, when it is first needed. What could not be read is tried again. */
export function keptSecret(read: (arn: string) => Promise<string>, arn: string): () => Promise<string> {
  let kept: Promise<string> | undefined;
  return () => {
    kept ??= read(arn).catch((error: unknown) => {
      kept = undefined;
      throw error;
    });
    return kept;
  };
}

/** Reads the current text of a secret. Rejects where it has none, or within seconds where it cannot be read. */
export function secretReaderOf(environment: Environment): (arn: string) => Promise<string> {
  let client: Promise<SecretsManagerClient> | undefined;
  return async (arn) => {
    client ??= secretsManagerOf(environment);
    const text = await secretText(await client, arn);
    if (text === undefined) throw new Error('the secret holds bytes, not a text');
    return text;
  };
}
