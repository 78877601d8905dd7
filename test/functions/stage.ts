/**
 * What the functions stand on when they are loaded from their bundles: the stand-ins, the secrets that the stack makes, and the
 * environment that it gives.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { CreateSecretCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { VARIABLES } from '../../functions/variables.ts';
import {
  LOCAL_BUCKET,
  LOCAL_FUNCTIONS,
  LOCAL_MACHINE_PREFIX,
  LOCAL_ROLE,
  LOCAL_SCHEDULE_GROUP,
  LOCAL_SCHEDULE_ROLE,
  LOCAL_TABLE,
} from '../../lib/cli/local-names.ts';
import { projectRoot } from '../../lib/cli/project.ts';
import { SCOPES, type Scope } from '../../lib/engine/principals.ts';
import type { LambdaHandler } from '../../lib/local/lambda/functions.ts';
import { type Local, startLocal } from '../../lib/local/start.ts';
import { formatTokenSecret, mintToken } from '../../lib/mcp/auth/tokens.ts';
import { clientConfig, LOCAL_CREDENTIALS, LOCAL_REGION } from '../../lib/store/aws-config.ts';

export type FunctionName = 'mcp-endpoint' | 'call-tool' | 'run-events';

export interface Stage {
  local: Local;
  /** Bearer token that may do everything. */
  token: string;
  /** The environment of a function, whole. */
  environment(more?: Record<string, string>): Record<string, string>;
  /** Folder of a function's asset; bundled when it is first asked for. */
  asset(name: FunctionName): Promise<string>;
  /** Gone at the end. */
  folder: string;
  stop(): Promise<void>;
}

export interface StageOptions {
  functions?: Record<string, LambdaHandler>;
  /** Text of the call-tool asset's mcp.json. Default: no servers. */
  mcpJson?: string;
}

export async function openStage(options: StageOptions = {}): Promise<Stage> {
  const folder = await mkdtemp(join(tmpdir(), 'mwe-functions-'));
  const unused: LambdaHandler = () => Promise.reject(new Error('this function is not there'));
  const local = await startLocal({
    dataDir: join(folder, 'data'),
    tableName: LOCAL_TABLE,
    bucketName: LOCAL_BUCKET,
    functions: {
      [LOCAL_FUNCTIONS.callTool]: unused,
      [LOCAL_FUNCTIONS.runEvents]: unused,
      ...options.functions,
    },
    scheduleGroups: [LOCAL_SCHEDULE_GROUP],
  });
  const secrets = new SecretsManagerClient(
    clientConfig({
      region: LOCAL_REGION,
      credentials: LOCAL_CREDENTIALS,
      endpoint: local.endpoints.secretsmanager,
    }),
  );
  const { text: token, secret } = tokenSecret(SCOPES);
  const arnOf = async (Name: string, SecretString: string): Promise<string> =>
    (await secrets.send(new CreateSecretCommand({ Name, SecretString }))).ARN ?? '';
  const tokens = await arnOf('tokens', secret);
  const cursors = await arnOf('cursors', 'k'.repeat(43));
  secrets.destroy();
  const assets = new Map<FunctionName, Promise<string>>();
  return {
    local,
    token,
    folder,
    environment: (more = {}) => ({ ...variables(local, tokens, cursors), TMPDIR: folder, ...more }),
    asset(name) {
      const known = assets.get(name) ?? bundled(join(folder, name), name, options.mcpJson);
      assets.set(name, known);
      return known;
    },
    async stop() {
      await local.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Loaded from where it stands, also where this is part of a bundle: it finds the project by its own place. */
export function bundler(): Promise<typeof import('../../scripts/functions.js')> {
  return import(pathToFileURL(join(projectRoot(), 'scripts', 'functions.js')).href);
}

async function bundled(folder: string, name: FunctionName, mcpJson = '{"mcpServers":{}}'): Promise<string> {
  const { bundleFunction } = await bundler();
  await bundleFunction(name, folder);
  if (name === 'call-tool') await writeFile(join(folder, 'mcp.json'), mcpJson);
  return folder;
}

function tokenSecret(scopes: readonly Scope[]): { text: string; secret: string } {
  const { text, id, hash } = mintToken();
  const createdAt = new Date().toISOString();
  return {
    text,
    secret: formatTokenSecret([{ id, hash, principal: 'tester', scopes: [...scopes], createdAt }]),
  };
}

/** As infra/ gives them, and where the SDK finds the stand-ins. */
function variables({ endpoints }: Local, tokens: string, cursors: string): Record<string, string> {
  return {
    PATH: process.env.PATH ?? '',
    AWS_REGION: LOCAL_REGION,
    AWS_ACCESS_KEY_ID: LOCAL_CREDENTIALS.accessKeyId,
    AWS_SECRET_ACCESS_KEY: LOCAL_CREDENTIALS.secretAccessKey,
    AWS_LAMBDA_FUNCTION_NAME: 'mwe-function',
    AWS_ENDPOINT_URL_DYNAMODB: endpoints.dynamodb,
    AWS_ENDPOINT_URL_S3: endpoints.s3,
    AWS_ENDPOINT_URL_SFN: endpoints.sfn,
    AWS_ENDPOINT_URL_LAMBDA: endpoints.lambda,
    AWS_ENDPOINT_URL_SCHEDULER: endpoints.scheduler,
    AWS_ENDPOINT_URL_SECRETS_MANAGER: endpoints.secretsmanager,
    [VARIABLES.table]: LOCAL_TABLE,
    [VARIABLES.bucket]: LOCAL_BUCKET,
    [VARIABLES.machinePrefix]: LOCAL_MACHINE_PREFIX,
    [VARIABLES.machineRoleArn]: LOCAL_ROLE,
    [VARIABLES.callToolArn]: LOCAL_FUNCTIONS.callToolArn,
    [VARIABLES.callToolTimeoutSeconds]: String(LOCAL_FUNCTIONS.timeoutSeconds),
    [VARIABLES.serversHash]: 'none',
    [VARIABLES.auth]: JSON.stringify({ mode: 'bearer', secretArn: tokens }),
    [VARIABLES.cursorSecretArn]: cursors,
    [VARIABLES.scheduleGroup]: LOCAL_SCHEDULE_GROUP,
    [VARIABLES.scheduleRoleArn]: LOCAL_SCHEDULE_ROLE,
  };
}
