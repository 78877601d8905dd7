/**
 * What every state machine of the engine runs with, whether the endpoint made it or the stack: the execution role and the log
 * group of executions.
 *
 * The role may invoke call-tool, start, describe and stop executions under the prefix, run the managed rule of `.sync:2`, deliver
 * logs and traces. Nothing else can happen in a machine.
 */
import { Aws, RemovalPolicy } from 'aws-cdk-lib';
import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { acknowledgeWildcards } from './acknowledge.ts';
import { type Arns, executionLogName, roleName } from './names.ts';

export interface MachinesProps {
  prefix: string;
  arns: Arns;
  callToolArn: string;
  logRetentionDays: number;
  tracing: boolean;
}

export class Machines extends Construct {
  readonly role: Role;
  readonly logGroup: LogGroup;

  constructor(scope: Construct, id: string, props: MachinesProps) {
    super(scope, id);
    const { prefix, arns, callToolArn } = props;
    this.logGroup = new LogGroup(this, 'Executions', {
      logGroupName: executionLogName(prefix),
      retention: props.logRetentionDays,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    // Source: Step Functions developer guide, "Creating an IAM role for your state machine": confused deputy.
    const trust = new ServicePrincipal('states.amazonaws.com', {
      conditions: {
        StringEquals: { 'aws:SourceAccount': Aws.ACCOUNT_ID },
        ArnLike: { 'aws:SourceArn': arns.machines },
      },
    });
    this.role = new Role(this, 'Role', {
      roleName: roleName(prefix, 'machines'),
      description: 'Execution role of the state machines of the workflow engine',
      assumedBy: trust,
    });
    for (const statement of statements(arns, callToolArn, props.tracing)) this.role.addToPolicy(statement);
    acknowledgeWildcards(
      this.role,
      'Machines are made at run time under the prefix, which no other deployment shares: their sub-workflows and the children of their distributed maps have no other name that is known now.',
      arns.machines,
      arns.executions,
      arns.mapChildren,
    );
    acknowledgeWildcards(
      this.role,
      'The actions of log delivery and of X-Ray know no resources; the IAM policies of the Step Functions developer guide have "*" as well.',
      '*',
    );
  }
}

/** Source: Step Functions developer guide, the IAM policies of "Lambda", "Step Functions", "Distributed Map", "CloudWatch Logs", "X-Ray". */
function statements(arns: Arns, callToolArn: string, tracing: boolean): PolicyStatement[] {
  const allow = (sid: string, actions: string[], ...resources: string[]) =>
    new PolicyStatement({ sid, actions, resources });
  return [
    allow('CallTool', ['lambda:InvokeFunction'], callToolArn),
    allow('StartSubWorkflows', ['states:StartExecution'], arns.machines),
    allow('FollowSubWorkflows', ['states:DescribeExecution', 'states:StopExecution'], arns.executions),
    allow('RedriveMapChildren', ['states:RedriveExecution'], arns.mapChildren),
    allow(
      'HearOfSubWorkflows',
      ['events:PutTargets', 'events:PutRule', 'events:DescribeRule'],
      arns.syncRule,
    ),
    allow(
      'DeliverLogs',
      [
        'logs:CreateLogDelivery',
        'logs:GetLogDelivery',
        'logs:UpdateLogDelivery',
        'logs:DeleteLogDelivery',
        'logs:ListLogDeliveries',
        'logs:PutResourcePolicy',
        'logs:DescribeResourcePolicies',
        'logs:DescribeLogGroups',
      ],
      '*',
    ),
    ...(tracing
      ? [
          allow(
            'Trace',
            [
              'xray:PutTraceSegments',
              'xray:PutTelemetryRecords',
              'xray:GetSamplingRules',
              'xray:GetSamplingTargets',
            ],
            '*',
          ),
        ]
      : []),
  ];
}
