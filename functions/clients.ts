/**
 * The AWS clients of a function. They get no endpoint from us: where they speak to follows from the region and from the SDK's
 * own `AWS_ENDPOINT_URL_*` variables, by which a rehearsal aims them at stand-ins. Credentials are the function's role.
 */
import { LambdaClient } from '@aws-sdk/client-lambda';
import { SchedulerClient } from '@aws-sdk/client-scheduler';
import { SFNClient } from '@aws-sdk/client-sfn';
import { clientConfig } from '../lib/store/aws-config.ts';
import { openStore, type Store } from '../lib/store/store.ts';
import type { Environment } from './environment.ts';
import { VARIABLES } from './variables.ts';

/** An invocation of call-tool, which must be over, and told, before the endpoint's own answer is: 50 s. */
const INVOKE_TIMEOUT_MS = 45_000;

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

export function stepFunctionsOf(environment: Environment): SFNClient {
  return new SFNClient(clientConfig({ region: regionOf(environment) }));
}

/** The one that invokes call-tool. It tries once: a call whose answer did not come may have been made. */
export function lambdaOf(environment: Environment): LambdaClient {
  const config = clientConfig({ region: regionOf(environment) }, INVOKE_TIMEOUT_MS);
  return new LambdaClient({ ...config, maxAttempts: 1 });
}

export function schedulerOf(environment: Environment): SchedulerClient {
  return new SchedulerClient(clientConfig({ region: regionOf(environment) }));
}

/** A request of an agent may wait for it. */
const OWN_SECRET_TIMEOUT_MS = 3000;

/** Reads the current text of a secret of ours. Rejects where it has none, or within seconds where it cannot be read. */
export function secretReaderOf(environment: Environment): (arn: string) => Promise<string> {
  let client: Promise<SecretsManagerClient> | undefined;
  return async (arn) => {
    const { GetSecretValueCommand } = await import('@aws-sdk/client-secrets-manager');
    client ??= secretsManagerClient(clientConfig({ region: regionOf(environment) }, OWN_SECRET_TIMEOUT_MS));
    const { SecretString } = await (await client).send(new GetSecretValueCommand({ SecretId: arn }));
    if (SecretString === undefined) throw new Error('the secret holds bytes, not a text');
    return SecretString;
  };
}
