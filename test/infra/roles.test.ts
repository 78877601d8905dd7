/** What each role may do: every statement of every policy, and who may take the role. A right that is added shows here. */
import { beforeAll, describe, expect, it } from 'vitest';
import { readable, resource, statementsOf, type Template, templateOf } from './synthesized.ts';

let template: Template;
beforeAll(async () => {
  template = await templateOf();
});

const STATES = 'arn:<Partition>:states:<Region>:<AccountId>';
const MACHINES = `${STATES}:stateMachine:mwe-*`;
const EXECUTIONS = `${STATES}:execution:mwe-*`;
const SCHEDULES = 'arn:<Partition>:scheduler:<Region>:<AccountId>:schedule/mwe-schedules/*';
const SECRETS = 'arn:<Partition>:secretsmanager:<Region>:<AccountId>:secret';
const OBJECTS = '<StorageBucket.Arn>';

const allow = (Action: string | string[], Resource: string | string[], Condition?: object) => ({
  Effect: 'Allow',
  Action,
  Resource,
  ...(Condition === undefined ? {} : { Condition }),
});
const passed = (service: string) => ({ StringEquals: { 'iam:PassedToService': service } });
const logs = (name: string) =>
  allow(['logs:CreateLogStream', 'logs:PutLogEvents'], `<${name}FunctionLogs.Arn>`);
const TRACE = allow(['xray:PutTraceSegments', 'xray:PutTelemetryRecords'], '*');
const RECORDS = allow(
  ['dynamodb:GetItem', 'dynamodb:BatchGetItem', 'dynamodb:PutItem', 'dynamodb:UpdateItem', 'dynamodb:Query'],
  '<Table.Arn>',
);

describe('statements', () => {
  it('of the machines: what the issue names, and redrive of the children of distributed maps', () => {
    expect(statementsOf(template, 'MachinesRole')).toEqual({
      CallTool: allow('lambda:InvokeFunction', '<CallToolFunction.Arn>'),
      StartSubWorkflows: allow('states:StartExecution', MACHINES),
      FollowSubWorkflows: allow(['states:DescribeExecution', 'states:StopExecution'], EXECUTIONS),
      RedriveMapChildren: allow('states:RedriveExecution', `${EXECUTIONS}/*`),
      HearOfSubWorkflows: allow(
        ['events:PutTargets', 'events:PutRule', 'events:DescribeRule'],
        'arn:<Partition>:events:<Region>:<AccountId>:rule/StepFunctionsGetEventsForStepFunctionsExecutionRule',
      ),
      DeliverLogs: allow(
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
      Trace: allow(
        [
          'xray:PutTraceSegments',
          'xray:PutTelemetryRecords',
          'xray:GetSamplingRules',
          'xray:GetSamplingTargets',
        ],
        '*',
      ),
    });
  });

  it('of mcp-endpoint', () => {
    expect(statementsOf(template, 'McpEndpointFunctionRole')).toEqual({
      WriteLogs: logs('McpEndpoint'),
      Trace: TRACE,
      Records: RECORDS,
      ListsByTime: allow('dynamodb:Query', [
        '<Table.Arn>/index/by-time',
        '<Table.Arn>/index/by-day',
        '<Table.Arn>/index/open-runs',
      ]),
      ReadObjects: allow('s3:GetObject', [`${OBJECTS}/blueprints/*`, `${OBJECTS}/values/*`]),
      TellMissingObjects: allow('s3:ListBucket', OBJECTS),
      WriteObjects: allow('s3:PutObject', [`${OBJECTS}/blueprints/*`, `${OBJECTS}/values/*`]),
      OwnSecrets: allow('secretsmanager:GetSecretValue', ['<SecretsCursorKey>', '<SecretsTokens>']),
      AskCallTool: allow('lambda:InvokeFunction', '<CallToolFunction.Arn>'),
      MakeMachines: allow(
        ['states:CreateStateMachine', 'states:UpdateStateMachine', 'states:PublishStateMachineVersion'],
        MACHINES,
      ),
      MakeRoomForVersions: allow(
        ['states:ListStateMachineVersions', 'states:DeleteStateMachineVersion'],
        MACHINES,
      ),
      StartRuns: allow('states:StartExecution', MACHINES),
      FollowRuns: allow(['states:DescribeExecution', 'states:StopExecution'], EXECUTIONS),
      MachinesRole: allow('iam:PassRole', '<MachinesRole.Arn>', passed('states.amazonaws.com')),
      KeepSchedules: allow(
        [
          'scheduler:CreateSchedule',
          'scheduler:UpdateSchedule',
          'scheduler:GetSchedule',
          'scheduler:DeleteSchedule',
        ],
        SCHEDULES,
      ),
      SchedulesRole: allow('iam:PassRole', '<SchedulesRole.Arn>', passed('scheduler.amazonaws.com')),
    });
  });

  it('of call-tool: it makes and starts nothing', () => {
    expect(statementsOf(template, 'CallToolFunctionRole')).toEqual({
      WriteLogs: logs('CallTool'),
      Trace: TRACE,
      Records: RECORDS,
      ReadObjects: allow('s3:GetObject', [`${OBJECTS}/blueprints/*`, `${OBJECTS}/values/*`]),
      TellMissingObjects: allow('s3:ListBucket', OBJECTS),
      WriteObjects: allow('s3:PutObject', [`${OBJECTS}/values/*`, `${OBJECTS}/blobs/*`]),
      FollowSubWorkflows: allow(['states:DescribeExecution', 'states:RedriveExecution'], EXECUTIONS),
      ServerSecret0: allow('secretsmanager:GetSecretValue', `${SECRETS}:k8s-token-??????`),
      ServerSecret1: allow('secretsmanager:GetSecretValue', `${SECRETS}:team/db-??????`),
    });
  });

  it('of run-events', () => {
    expect(statementsOf(template, 'RunEventsFunctionRole')).toEqual({
      WriteLogs: logs('RunEvents'),
      Trace: TRACE,
      Records: RECORDS,
      ListsByTime: allow('dynamodb:Query', '<Table.Arn>/index/open-runs'),
      WriteObjects: allow('s3:PutObject', `${OBJECTS}/blueprints/*`),
      KeepFailedEvents: allow('sqs:SendMessage', '<RunEventsFailed.Arn>'),
      FollowRuns: allow('states:DescribeExecution', EXECUTIONS),
      KeepSchedules: allow(
        ['scheduler:GetSchedule', 'scheduler:UpdateSchedule', 'scheduler:DeleteSchedule'],
        SCHEDULES,
      ),
      SchedulesRole: allow('iam:PassRole', '<SchedulesRole.Arn>', passed('scheduler.amazonaws.com')),
    });
  });

  it('of schedules', () => {
    expect(statementsOf(template, 'SchedulesRole')).toEqual({
      StartWorkflows: allow('states:StartExecution', MACHINES),
    });
  });

  it('are all there are: no role has a managed or an inline policy, and none is unknown here', () => {
    const roles = Object.entries(template.Resources).filter(([, { Type }]) => Type === 'AWS::IAM::Role');
    expect(roles.map(([id]) => readable({ Ref: id })).sort()).toEqual([
      '<CallToolFunctionRole>',
      '<MachinesRole>',
      '<McpEndpointFunctionRole>',
      '<RunEventsFunctionRole>',
      '<SchedulesRole>',
    ]);
    for (const [, { Properties }] of roles) {
      expect(Properties).not.toHaveProperty('ManagedPolicyArns');
      expect(Properties).not.toHaveProperty('Policies');
    }
  });
});

describe('who may take a role', () => {
  const assume = (Service: string, Condition?: object) => [
    {
      Effect: 'Allow',
      Action: 'sts:AssumeRole',
      Principal: { Service },
      ...(Condition === undefined ? {} : { Condition }),
    },
  ];
  const account = { 'aws:SourceAccount': '<AccountId>' };
  const group = 'arn:<Partition>:scheduler:<Region>:<AccountId>:schedule-group/mwe-schedules';
  it.each([
    [
      'MachinesRole',
      assume('states.amazonaws.com', { StringEquals: account, ArnLike: { 'aws:SourceArn': MACHINES } }),
    ],
    [
      'SchedulesRole',
      assume('scheduler.amazonaws.com', { StringEquals: { ...account, 'aws:SourceArn': group } }),
    ],
    ['McpEndpointFunctionRole', assume('lambda.amazonaws.com')],
    ['CallToolFunctionRole', assume('lambda.amazonaws.com')],
    ['RunEventsFunctionRole', assume('lambda.amazonaws.com')],
  ])('%s', (id, statement) => {
    const { Properties } = resource(template, 'AWS::IAM::Role', id);
    expect(readable(Properties.AssumeRolePolicyDocument)).toEqual({
      Version: '2012-10-17',
      Statement: statement,
    });
  });
});

describe('in a network, without tracing', () => {
  const vpc = {
    subnetIds: ['subnet-0a1b2c3d', 'subnet-1a1b2c3d'],
    securityGroupIds: ['sg-0a1b2c3d'],
  };
  const NETWORK = [
    'ec2:CreateNetworkInterface',
    'ec2:DescribeNetworkInterfaces',
    'ec2:DescribeSubnets',
    'ec2:DeleteNetworkInterface',
    'ec2:AssignPrivateIpAddresses',
    'ec2:UnassignPrivateIpAddresses',
  ];
  beforeAll(async () => {
    template = await templateOf({ vpc, tracing: false, prefix: 'other' });
  });

  it('Lambda may make interfaces with the role of call-tool, and its code may not', () => {
    const statements = statementsOf(template, 'CallToolFunctionRole');
    expect(statements.JoinNetwork).toEqual(allow(NETWORK, '*'));
    expect(statements.CodeStaysOffTheNetwork).toEqual({
      Effect: 'Deny',
      Action: NETWORK,
      Resource: '*',
      Condition: { ArnEquals: { 'lambda:SourceFunctionArn': '<CallToolFunction.Arn>' } },
    });
    const { Properties } = resource(template, 'AWS::Lambda::Function', 'CallTool');
    expect(Properties.VpcConfig).toEqual({
      SubnetIds: vpc.subnetIds,
      SecurityGroupIds: vpc.securityGroupIds,
    });
  });

  it('no other function is in it', () => {
    for (const id of ['McpEndpoint', 'RunEvents']) {
      expect(resource(template, 'AWS::Lambda::Function', id).Properties).not.toHaveProperty('VpcConfig');
      expect(statementsOf(template, `${id}FunctionRole`)).not.toHaveProperty('JoinNetwork');
    }
  });

  it('no role may write traces, and neither function nor machine does', () => {
    expect(JSON.stringify(template).includes('xray:')).toBe(false);
    for (const id of ['McpEndpoint', 'CallTool', 'RunEvents']) {
      expect(resource(template, 'AWS::Lambda::Function', id).Properties).not.toHaveProperty('TracingConfig');
    }
    const machine = resource(template, 'AWS::StepFunctions::StateMachine', 'Blueprints');
    expect(machine.Properties.TracingConfiguration).toEqual({ Enabled: false });
  });

  it('every right is under the other prefix', () => {
    expect(JSON.stringify(template.Resources).includes('mwe-')).toBe(false);
  });
});
