/** The engine's environment on the stand-ins alone, with a clock of its own, for what needs neither endpoint nor tools. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LambdaClient } from '@aws-sdk/client-lambda';
import { SchedulerClient } from '@aws-sdk/client-scheduler';
import {
  CreateStateMachineCommand,
  DescribeExecutionCommand,
  SFNClient,
  StartExecutionCommand,
} from '@aws-sdk/client-sfn';
import type { JsonObject } from '../../lib/blueprint/json.ts';
import type { EngineConfig, EngineEnvironment } from '../../lib/engine/environment.ts';
import { DEFAULT_ENGINE_LIMITS } from '../../lib/engine/limits.ts';
import { startLocal } from '../../lib/local/start.ts';
import { clientConfig, LOCAL_ACCOUNT, LOCAL_CREDENTIALS, LOCAL_REGION } from '../../lib/store/aws-config.ts';
import { closeStore, openStore } from '../../lib/store/store.ts';
import { SILENT } from '../../lib/telemetry/telemetry.ts';

export interface TestEnvironment {
  env: EngineEnvironment;
  /** Moves the clock on. */
  pass(ms: number): void;
  /** Creates a machine with one version. */
  machine(name: string, states: JsonObject): Promise<{ stateMachineArn: string; versionArn: string }>;
  start(stateMachineArn: string, name: string): Promise<string>;
  statusOf(executionArn: string): Promise<string | undefined>;
  stop(): Promise<void>;
}

const ROLE = `arn:aws:iam::${LOCAL_ACCOUNT}:role/mwe`;

/** Of an engine on the stand-ins. */
export const TEST_CONFIG: EngineConfig = {
  region: LOCAL_REGION,
  accountId: LOCAL_ACCOUNT,
  machinePrefix: 'mwe-',
  roleArn: ROLE,
  callToolArn: `arn:aws:lambda:${LOCAL_REGION}:${LOCAL_ACCOUNT}:function:mwe-call-tool`,
  functionTimeoutSeconds: 900,
  serversHash: 'none',
  cursorSecret: () => Promise.resolve('secret'),
  console: false,
  callTool: 'all',
  schedules: { groupName: 'mwe', roleArn: ROLE },
  limits: DEFAULT_ENGINE_LIMITS,
};

export async function startEnvironment(): Promise<TestEnvironment> {
  const dataDir = await mkdtemp(join(tmpdir(), 'mwe-engine-'));
  const local = await startLocal({
    dataDir,
    tableName: 'mwe',
    bucketName: 'mwe-bucket',
    functions: {},
    scheduleGroups: ['mwe'],
  });
  const store = openStore({
    tableName: 'mwe',
    bucketName: 'mwe-bucket',
    region: LOCAL_REGION,
    endpoints: { dynamodb: local.endpoints.dynamodb, s3: local.endpoints.s3 },
    credentials: LOCAL_CREDENTIALS,
  });
  const aws = (endpoint: string) =>
    clientConfig({ region: LOCAL_REGION, credentials: LOCAL_CREDENTIALS, endpoint });
  const sfn = new SFNClient(aws(local.endpoints.sfn));
  const lambda = new LambdaClient(aws(local.endpoints.lambda));
  const scheduler = new SchedulerClient(aws(local.endpoints.scheduler));
  let clock = Date.now();
  const env: EngineEnvironment = {
    store,
    sfn,
    lambda,
    scheduler,
    config: TEST_CONFIG,
    now: () => clock,
    log: () => undefined,
    telemetry: SILENT,
  };
  return {
    env,
    pass: (ms) => {
      clock += ms;
    },
    async machine(name, states) {
      const [first] = Object.keys(states);
      const definition = JSON.stringify({ QueryLanguage: 'JSONata', StartAt: first, States: states });
      const made = await sfn.send(
        new CreateStateMachineCommand({ name, definition, roleArn: ROLE, publish: true }),
      );
      return {
        stateMachineArn: made.stateMachineArn ?? '',
        versionArn: made.stateMachineVersionArn ?? '',
      };
    },
    async start(stateMachineArn, name) {
      const started = await sfn.send(new StartExecutionCommand({ stateMachineArn, name, input: '{}' }));
      return started.executionArn ?? '';
    },
    async statusOf(executionArn) {
      return (await sfn.send(new DescribeExecutionCommand({ executionArn }))).status;
    },
    async stop() {
      sfn.destroy();
      lambda.destroy();
      scheduler.destroy();
      closeStore(store);
      await local.stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
