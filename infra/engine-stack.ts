/**
 * The deployment: what there is, and who is told of whom. Each construct is a file beside this one, with the rights that it
 * needs; here they are only wired.
 *
 *     agents ─▶ McpEndpoint ─▶ Machines ─▶ CallTool ─▶ downstream servers
 *                   │  └─▶ Schedules ─▶ Machines
 *                   ▼                      │ status changes
 *             Table, Bucket ◀── RunEvents ◀┘
 */
import { Duration, Stack } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { VARIABLES } from '../functions/variables.ts';
import { acknowledge } from './acknowledge.ts';
import type { Assets } from './assets.ts';
import { StackBlueprints } from './blueprints/stack-blueprints.ts';
import { CallTool } from './call-tool.ts';
import { EngineBucket } from './engine-bucket.ts';
import type { FunctionSetting } from './engine-function.ts';
import { EngineTable } from './engine-table.ts';
import { Machines } from './machines.ts';
import { McpEndpoint } from './mcp-endpoint.ts';
import { Monitoring } from './monitoring.ts';
import { arnsOf, machinePrefix } from './names.ts';
import { addOutputs } from './outputs.ts';
import type { EngineProps } from './props.ts';
import { RunEvents } from './run-events.ts';
import { Schedules } from './schedules.ts';
import { EngineSecrets } from './secrets.ts';
import type { PreparedServers } from './servers/prepare-servers.ts';

export interface EngineStackProps {
  props: EngineProps;
  assets: Assets;
  /** Tells the downstream configuration in the call-tool asset, and the secrets that it names. */
  servers: PreparedServers;
  /** Folder of the blueprints that the stack owns. */
  blueprints: string;
}

export class EngineStack extends Stack {
  constructor(scope: Construct, id: string, { props, assets, servers, blueprints }: EngineStackProps) {
    super(scope, id, { description: 'MCP workflow engine' });
    const { prefix } = props;
    const arns = arnsOf(this, prefix);
    const table = new EngineTable(this, 'Table', { deletionProtection: props.deletionProtection });
    const bucket = new EngineBucket(this, 'Storage');
    const secrets = new EngineSecrets(this, 'Secrets', { tokens: props.auth.mode === 'bearer' });
    const schedules = new Schedules(this, 'Schedules', { prefix, arns });
    const setting: FunctionSetting = {
      prefix,
      logRetentionDays: props.logRetentionDays,
      tracing: props.tracing,
      environment: {
        [VARIABLES.table]: table.tableName,
        [VARIABLES.bucket]: bucket.bucket.bucketName,
        [VARIABLES.machinePrefix]: machinePrefix(prefix),
        [VARIABLES.serversHash]: servers.serversHash,
      },
    };
    const shared = { props, arns, table, bucket };

    const callTool = new CallTool(this, 'CallTool', {
      ...shared,
      setting,
      asset: assets['call-tool'],
      secrets: servers.secrets,
    });
    const { functionArn: callToolArn } = callTool;
    const machines = new Machines(this, 'Machines', {
      prefix,
      arns,
      callToolArn,
      logRetentionDays: props.logRetentionDays,
      tracing: props.tracing,
    });
    // The two functions with the engine in them.
    const engineSetting: FunctionSetting = {
      ...setting,
      environment: {
        ...setting.environment,
        [VARIABLES.callToolArn]: callToolArn,
        [VARIABLES.callToolTimeoutSeconds]: String(props.functions.callTool.timeoutSeconds),
        [VARIABLES.scheduleGroup]: schedules.groupName,
        [VARIABLES.scheduleRoleArn]: schedules.role.roleArn,
      },
    };
    const endpoint = new McpEndpoint(this, 'McpEndpoint', {
      ...shared,
      setting: engineSetting,
      asset: assets['mcp-endpoint'],
      secrets,
      machines,
      schedules,
      callToolArn,
    });
    const runEvents = new RunEvents(this, 'RunEvents', {
      ...shared,
      setting: engineSetting,
      asset: assets['run-events'],
      schedules,
    });
    const owned = new StackBlueprints(this, 'Blueprints', {
      folder: blueprints,
      target: { callToolArn, functionTimeoutSeconds: props.functions.callTool.timeoutSeconds },
      prefix: machinePrefix(prefix),
      machineRole: machines.role,
      logGroup: machines.logGroup,
      includeData: props.inspect === 'values',
      tracing: props.tracing,
      scheduleGroup: schedules.group,
      scheduleRole: schedules.role,
      runEvents: runEvents.function.function,
      runEventsTimeout: Duration.seconds(props.functions.runEvents.timeoutSeconds),
    });
    if (!props.tracing) {
      acknowledge(
        owned,
        'Whoever deploys has switched tracing off by the prop "tracing"; executions are logged and have their history.',
        'AwsSolutions-SF2',
      );
    }
    const monitoring = new Monitoring(this, 'Monitoring', {
      prefix,
      functions: {
        'mcp-endpoint': endpoint.function,
        'call-tool': callTool.function,
        'run-events': runEvents.function,
      },
      failedEvents: runEvents.failed,
      tableName: table.tableName,
      alarmTopicArn: props.alarmTopicArn,
    });
    addOutputs(this, {
      url: endpoint.url.url,
      tableName: table.tableName,
      bucketName: bucket.bucket.bucketName,
      tokensArn: secrets.tokensArn,
      scheduleGroupName: schedules.groupName,
      scheduleRoleArn: schedules.role.roleArn,
      arns,
      machinePrefix: machinePrefix(prefix),
      executionLogName: machines.logGroup.logGroupName,
      dashboardName: monitoring.dashboardName,
    });
  }
}
