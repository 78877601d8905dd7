/** What the engine's operations stand on: the store, the two AWS services they call, and where they run. */
import type { LambdaClient } from '@aws-sdk/client-lambda';
import type { SchedulerClient } from '@aws-sdk/client-scheduler';
import type { SFNClient } from '@aws-sdk/client-sfn';
import type { Sender } from '../store/lazy-client.ts';
import type { Store } from '../store/store.ts';
import type { LogEntry, Telemetry } from '../telemetry/telemetry.ts';
import type { CursorSecret } from './cursors.ts';
import type { EngineLimits } from './limits.ts';

export interface EngineConfig {
  region: string;
  accountId: string;
  /** Prefix of the state machines' names; IAM rights are given for it. */
  machinePrefix: string;
  /** Execution role of the state machines. */
  roleArn: string;
  callToolArn: string;
  /** Time limit of the call-tool function in seconds. */
  functionTimeoutSeconds: number;
  /** Tells the configuration of the downstream servers: call-tool stores their catalog under it. */
  serversHash: string;
  /** Key that cursors are authenticated with. */
  cursorSecret: CursorSecret;
  /** Deep links into the AWS console are given only where there is one. */
  console: boolean;
  /** Which downstream tools `call_tool` may try. */
  callTool: 'off' | 'read-only' | 'all';
  /** EventBridge Scheduler's group that all schedules are in, and the role that it starts machines with. */
  schedules: { groupName: string; roleArn: string };
  limits: EngineLimits;
  /** Longest that a request is held before it is answered, in ms; absent: as long as it takes. */
  maxHeldMs?: number;
  /** Logs and traces of the machines' executions; absent: none. */
  machines?: MachineOptions;
}

export interface MachineOptions {
  /** ARN of the log group, ending in `:*`; absent: executions are not logged. */
  logGroupArn?: string;
  /** Whether the log holds inputs and outputs of states. */
  includeData: boolean;
  /** X-Ray. */
  tracing: boolean;
}

export interface EngineEnvironment {
  store: Store;
  sfn: Sender<SFNClient>;
  lambda: Sender<LambdaClient>;
  scheduler: Sender<SchedulerClient>;
  config: EngineConfig;
  /** Epoch milliseconds. */
  now(): number;
  log(entry: LogEntry): void;
  telemetry: Telemetry;
}
