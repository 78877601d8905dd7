/**
 * mcp-endpoint: the face to agents, behind a function URL that streams. It saves blueprints, makes machines, starts and stops
 * their executions and keeps schedules, all under the prefix; the downstream servers it asks call-tool about.
 */
import { Duration } from 'aws-cdk-lib';
import { Construct } from 'constructs';
import { VARIABLES } from '../functions/variables.ts';
import { acknowledgeWildcards } from './acknowledge.ts';
import { EndpointUrl } from './endpoint-url.ts';
import type { EngineBucket } from './engine-bucket.ts';
import { EngineFunction, type FunctionSetting } from './engine-function.ts';
import type { EngineTable } from './engine-table.ts';
import type { Machines } from './machines.ts';
import type { Arns } from './names.ts';
import type { EngineProps } from './props.ts';
import type { Schedules } from './schedules.ts';
import type { EngineSecrets } from './secrets.ts';

export interface McpEndpointProps {
  setting: FunctionSetting;
  asset: string;
  props: EngineProps;
  arns: Arns;
  table: EngineTable;
  bucket: EngineBucket;
  secrets: EngineSecrets;
  machines: Machines;
  schedules: Schedules;
  callToolArn: string;
}

export class McpEndpoint extends Construct {
  readonly function: EngineFunction;
  readonly url: EndpointUrl;

  constructor(scope: Construct, id: string, options: McpEndpointProps) {
    super(scope, id);
    const { setting, asset, props, machines, secrets } = options;
    this.function = new EngineFunction(this, 'Function', {
      setting,
      name: 'mcp-endpoint',
      description: 'MCP endpoint of the workflow engine',
      asset,
      size: props.functions.mcpEndpoint,
      timeout: Duration.seconds(props.functions.mcpEndpoint.timeoutSeconds),
      environment: {
        [VARIABLES.auth]: authVariable(props.auth, secrets),
        [VARIABLES.allowedOrigins]: props.allowedOrigins.join(','),
        [VARIABLES.cursorSecretArn]: secrets.cursorKeyArn,
        [VARIABLES.callToolMode]: props.callTool,
        [VARIABLES.inspect]: props.inspect,
        [VARIABLES.machineRoleArn]: machines.role.roleArn,
        [VARIABLES.machineLogGroupArn]: machines.logGroup.logGroupArn,
        [VARIABLES.machineTracing]: props.tracing ? 'on' : 'off',
        [VARIABLES.requestsPerMinute]: String(props.limits.requestsPerMinute),
        [VARIABLES.maxOpenRuns]: String(props.limits.openRuns),
        [VARIABLES.maxWaitingRuns]: String(props.limits.waitingRuns),
        [VARIABLES.maxSchedules]: String(props.limits.schedules),
        [VARIABLES.minScheduleMinutes]: String(props.limits.minScheduleMinutes),
      },
    });
    this.#grant(options);
    this.url = new EndpointUrl(this, 'Url', { function: this.function.function, auth: props.auth });
  }

  #grant({ table, bucket, secrets, machines, schedules, callToolArn, arns }: McpEndpointProps): void {
    const { function: own } = this;
    table.grant(
      own.role,
      ['GetItem', 'BatchGetItem', 'PutItem', 'UpdateItem', 'Query'],
      ['by-time', 'by-day', 'open-runs'],
    );
    bucket.grant(own.role, { read: ['documents', 'values'], write: ['documents', 'values'] });
    secrets.grantRead(own.role);
    own.allow('AskCallTool', ['lambda:InvokeFunction'], callToolArn);
    own.allow(
      'MakeMachines',
      // Publishing with the change is judged as PublishStateMachineVersion too.
      ['states:CreateStateMachine', 'states:UpdateStateMachine', 'states:PublishStateMachineVersion'],
      arns.machines,
    );
    // A machine keeps 1,000 versions: old ones make room (lib/engine/retire-versions.ts).
    own.allow(
      'MakeRoomForVersions',
      ['states:ListStateMachineVersions', 'states:DeleteStateMachineVersion'],
      arns.machines,
    );
    own.allow('StartRuns', ['states:StartExecution'], arns.machines);
    own.allow('FollowRuns', ['states:DescribeExecution', 'states:StopExecution'], arns.executions);
    own.allowPassRole('MachinesRole', machines.role.roleArn, 'states.amazonaws.com');
    own.allow(
      'KeepSchedules',
      [
        'scheduler:CreateSchedule',
        'scheduler:UpdateSchedule',
        'scheduler:GetSchedule',
        'scheduler:DeleteSchedule',
      ],
      arns.schedules,
    );
    own.allowPassRole('SchedulesRole', schedules.role.roleArn, 'scheduler.amazonaws.com');
    acknowledgeWildcards(
      own.role,
      "Agents' workflows, their machines, executions and schedules are made at run time under names that begin with this deployment's prefix, which no other deployment shares.",
      arns.machines,
      arns.executions,
      arns.schedules,
    );
  }
}

/** AuthConfig of lib/mcp/auth: for bearer tokens the secret is named. */
function authVariable(auth: EngineProps['auth'], secrets: EngineSecrets): string {
  if (auth.mode !== 'bearer') return JSON.stringify(auth);
  // A token of the CDK stands for the ARN; JSON.stringify leaves it as it is.
  return JSON.stringify({ mode: 'bearer', secretArn: secrets.tokensArn });
}
