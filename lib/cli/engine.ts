/**
 * The whole engine on one machine: stand-ins, functions, endpoint. What `serve`, `run`, the demo, the benchmarks and the
 * end-to-end tests start is this, and it is the code that runs on AWS, pointed at loopback.
 *
 * Order matters: the stand-ins are up before a function can be invoked, the blueprints that ship are saved before an agent
 * can ask, and stopping goes the other way round, downstream servers last to be told and first to be gone.
 */
import { LambdaClient } from '@aws-sdk/client-lambda';
import { SchedulerClient } from '@aws-sdk/client-scheduler';
import { SFNClient } from '@aws-sdk/client-sfn';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { type CallToolHandler, createCallTool } from '../../functions/call-tool/handler.ts';
import { Environment, EnvironmentError, engineLimits } from '../../functions/environment.ts';
import { createRunEvents, type RunEventsHandler } from '../../functions/run-events/handler.ts';
import { ConfigError, loadServers } from '../downstream/config.ts';
import { createPool } from '../downstream/pool.ts';
import { readFromSecretsManager, secretsManagerClient } from '../downstream/secrets-manager.ts';
import { serversHash } from '../downstream/servers-hash.ts';
import type { EngineConfig, EngineEnvironment } from '../engine/environment.ts';
import { type EngineLimits, LOCAL_ENGINE_LIMITS } from '../engine/limits.ts';
import { LOCAL_PRINCIPAL } from '../engine/principals.ts';
import { sweepRuns } from '../engine/sweep.ts';
import { startServer } from '../local/http-server.ts';
import { startLocal } from '../local/start.ts';
import { stopAll } from '../local/stop-all.ts';
import type { Authenticator } from '../mcp/auth/authenticator.ts';
import { fixedPrincipal } from '../mcp/auth/fixed.ts';
import { createEndpoint, MCP_PATH } from '../mcp/endpoint.ts';
import type { StepsLimits } from '../steps/environment.ts';
import { LimitsError, limitsOf } from '../steps/limits.ts';
import { clientConfig, LOCAL_ACCOUNT, LOCAL_CREDENTIALS, LOCAL_REGION } from '../store/aws-config.ts';
import { closeStore, openStore } from '../store/store.ts';
import { SILENT } from '../telemetry/telemetry.ts';
import { readCursorSecret } from './cursor-secret.ts';
import { CliError } from './exit-codes.ts';
import {
  LOCAL_BUCKET,
  LOCAL_FUNCTIONS,
  LOCAL_MACHINE_PREFIX,
  LOCAL_ROLE,
  LOCAL_SCHEDULE_GROUP,
  LOCAL_SCHEDULE_ROLE,
  LOCAL_TABLE,
} from './local-names.ts';
import { seedBlueprints } from './seed-blueprints.ts';

const SWEEP_EVERY_MS = 60_000;

export interface EngineOptions {
  /** 0: any free port. */
  port: number;
  /** Path of mcp.json. */
  config: string;
  dataDir: string;
  /** Folder of blueprints that are there from the start, read-only to agents; undefined: none. */
  blueprints?: string;
  /** Who asks; default: the one local principal, whoever it is. */
  authenticator?: Authenticator;
  /** Limits of runs that differ from the design's, e.g. `maxAttempts`. */
  limits?: Partial<StepsLimits>;
  /** Limits of a principal that differ from the machine's. */
  principalLimits?: Partial<EngineLimits>;
  /** Which tools `call_tool` may try. Default: all. */
  callTool?: EngineConfig['callTool'];
  /** Longest that a request is held, in ms. Default: as long as it takes. */
  maxHeldMs?: number;
  log?: (entry: Record<string, string | number | boolean>) => void;
}

export interface Engine {
  /** URL of the MCP endpoint. */
  mcp: string;
  endpoints: {
    sfn: string;
    lambda: string;
    dynamodb: string;
    s3: string;
    scheduler: string;
    secretsmanager: string;
  };
  /** Process ids of connected stdio servers. */
  pids(): number[];
  /** Ends everything; no child process is left. Safe to call twice. */
  stop(): Promise<void>;
}

/** @throws CliError with one line that says what stands in the way. */
export async function startEngine(options: EngineOptions): Promise<Engine> {
  const log = options.log ?? (() => undefined);
  const undo: (() => Promise<void> | void)[] = [];
  let stopping: Promise<void> | undefined;
  const stop = (): Promise<void> => {
    stopping ??= stopAll(undo, 'the engine did not stop cleanly');
    return stopping;
  };
  try {
    return { ...(await assemble(options, log, undo)), stop };
  } catch (error) {
    await stop();
    throw startFault(error, options);
  }
}

async function assemble(
  options: EngineOptions,
  log: NonNullable<EngineOptions['log']>,
  undo: (() => Promise<void> | void)[],
): Promise<Omit<Engine, 'stop'>> {
  const limits = { ...limitsOf(process.env), ...options.limits };
  const servers = loadServers({ file: options.config, dataFolder: options.dataDir });
  const hash = serversHash(servers);
  const pool = createPool(servers, {
    readSecret: readFromSecretsManager({
      // Asked for when a server is first connected to: by then the stand-ins are up.
      client: async () => {
        const client = await secretsManagerClient(aws(local.endpoints.secretsmanager));
        undo.push(() => client.destroy());
        return client;
      },
      hint: (name) =>
        `; make "${name}" with the AWS CLI (secretsmanager create-secret) at the endpoint "secretsmanager" of endpoints.json`,
    }),
  });
  undo.push(() => pool.close());

  // The functions need clients of the stand-ins, which are up only later; an event that comes earlier waits for them.
  let provide: (functions: Functions) => void = () => undefined;
  const functions = new Promise<Functions>((resolve) => {
    provide = resolve;
  });
  const local = await startLocal({
    dataDir: options.dataDir,
    tableName: LOCAL_TABLE,
    bucketName: LOCAL_BUCKET,
    functions: {
      [LOCAL_FUNCTIONS.callTool]: async (event, context) => (await functions).callTool(event, context),
      [LOCAL_FUNCTIONS.runEvents]: async (event) => (await functions).runEvents(event),
    },
    statusEvents: LOCAL_FUNCTIONS.runEvents,
    scheduleGroups: [LOCAL_SCHEDULE_GROUP],
    onError: (error) => log({ level: 'error', event: 'local-aws', message: String(error) }),
  });
  undo.push(() => local.stop());

  const store = openStore({
    tableName: LOCAL_TABLE,
    bucketName: LOCAL_BUCKET,
    region: LOCAL_REGION,
    endpoints: { dynamodb: local.endpoints.dynamodb, s3: local.endpoints.s3 },
    credentials: LOCAL_CREDENTIALS,
  });
  undo.push(() => closeStore(store));
  const aws = (endpoint: string, timeoutMs?: number) =>
    clientConfig({ region: LOCAL_REGION, credentials: LOCAL_CREDENTIALS, endpoint }, timeoutMs);
  const sfn = new SFNClient(aws(local.endpoints.sfn));
  const lambda = new LambdaClient(aws(local.endpoints.lambda, (LOCAL_FUNCTIONS.timeoutSeconds + 10) * 1000));
  const scheduler = new SchedulerClient(aws(local.endpoints.scheduler));
  undo.push(() => {
    sfn.destroy();
    scheduler.destroy();
    lambda.destroy();
  });

  const cursorSecret = await readCursorSecret(options.dataDir);
  const env: EngineEnvironment = {
    store,
    sfn,
    lambda,
    scheduler,
    config: {
      region: LOCAL_REGION,
      accountId: LOCAL_ACCOUNT,
      machinePrefix: LOCAL_MACHINE_PREFIX,
      roleArn: LOCAL_ROLE,
      callToolArn: LOCAL_FUNCTIONS.callToolArn,
      functionTimeoutSeconds: LOCAL_FUNCTIONS.timeoutSeconds,
      serversHash: hash,
      cursorSecret: () => Promise.resolve(cursorSecret),
      console: false,
      callTool: options.callTool ?? 'all',
      schedules: { groupName: LOCAL_SCHEDULE_GROUP, roleArn: LOCAL_SCHEDULE_ROLE },
      limits: {
        ...engineLimits(new Environment(process.env), LOCAL_ENGINE_LIMITS),
        ...options.principalLimits,
      },
      ...(options.maxHeldMs === undefined ? {} : { maxHeldMs: options.maxHeldMs }),
    },
    now: Date.now,
    log,
    telemetry: SILENT,
  };
  provide({
    callTool: createCallTool({
      store,
      pool,
      sfn,
      serversHash: hash,
      boot: local.boot,
      limits,
      now: Date.now,
      log,
    }),
    runEvents: createRunEvents(env),
  });
  if (options.blueprints !== undefined) await seedBlueprints(env, options.blueprints);

  undo.push(sweepEveryMinute(env));
  const endpoint = createEndpoint(env, options.authenticator ?? fixedPrincipal(LOCAL_PRINCIPAL));
  undo.push(() => endpoint.close());
  const face = await startServer(toNodeHandler({ fetch: (request) => endpoint.fetch(request) }), {
    port: options.port,
  });
  undo.push(() => face.close());
  const mcp = `${face.url}${MCP_PATH}`;
  await local.writeEndpoints({ mcp });
  return { mcp, endpoints: local.endpoints, pids: () => pool.pids() };
}

/** On AWS a timer invokes run-events. @returns what ends it. */
function sweepEveryMinute(env: EngineEnvironment): () => Promise<void> {
  let sweeping: Promise<unknown> = Promise.resolve();
  const timer = setInterval(() => {
    sweeping = sweepRuns(env).catch((error: unknown) =>
      env.log({ level: 'error', event: 'sweep', message: String(error) }),
    );
  }, SWEEP_EVERY_MS);
  timer.unref();
  return async () => {
    clearInterval(timer);
    await sweeping;
  };
}

interface Functions {
  callTool: CallToolHandler;
  runEvents: RunEventsHandler;
}

/** What stands in the way of starting, in one line. */
function startFault(error: unknown, options: EngineOptions): unknown {
  if (error instanceof ConfigError || error instanceof LimitsError || error instanceof EnvironmentError) {
    return new CliError(error.message, undefined, { cause: error });
  }
  if (!(error instanceof Error) || !('code' in error)) return error;
  if ('syscall' in error && error.syscall === 'listen') {
    const why = error.code === 'EADDRINUSE' ? 'is in use' : `cannot be listened on (${error.code})`;
    return new CliError(`port ${options.port} ${why}; choose another with --port (0: any free one)`);
  }
  // ENOENT of anything but a folder to be made is a fault of ours.
  if (error.code === 'ENOENT' && !('syscall' in error && error.syscall === 'mkdir')) return error;
  switch (error.code) {
    case 'EDATAINUSE':
      return new CliError(error.message, undefined, { cause: error });
    case 'EACCES':
    case 'EEXIST':
    case 'ENOENT':
    case 'ENOSPC':
    case 'EROFS':
    case 'EPERM':
    case 'ENOTDIR':
      return new CliError(
        `data folder ${options.dataDir}: it cannot be written (${error.code}); choose another with --data`,
      );
    default:
      return error;
  }
}
