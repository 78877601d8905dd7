/** What the stack makes with its defaults, definition by definition. */
import { beforeAll, describe, expect, it } from 'vitest';
import { createTableInput } from '../../lib/store/table.ts';
import { type Resource, readable, resource, type Template, templateOf } from './synthesized.ts';

let template: Template;
beforeAll(async () => {
  template = await templateOf();
});

const properties = (type: string, begins: string) => readable(resource(template, type, begins).Properties);
const policies = ({ DeletionPolicy, UpdateReplacePolicy }: Resource) => ({
  DeletionPolicy,
  UpdateReplacePolicy,
});
const KEPT = { DeletionPolicy: 'Retain', UpdateReplacePolicy: 'Retain' };
const GONE = { DeletionPolicy: 'Delete', UpdateReplacePolicy: 'Delete' };

describe('the table', () => {
  it('is the one that the store describes, with time to live, recovery and protection', () => {
    const { TableName: _, ...input } = createTableInput('');
    expect(properties('AWS::DynamoDB::Table', 'Table')).toEqual({
      ...input,
      TimeToLiveSpecification: { AttributeName: 'expiresAt', Enabled: true },
      PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
      DeletionProtectionEnabled: true,
    });
    expect(policies(resource(template, 'AWS::DynamoDB::Table', 'Table'))).toEqual(KEPT);
  });
});

describe('the buckets', () => {
  const SAFE = {
    BucketEncryption: {
      ServerSideEncryptionConfiguration: [{ ServerSideEncryptionByDefault: { SSEAlgorithm: 'AES256' } }],
    },
    OwnershipControls: { Rules: [{ ObjectOwnership: 'BucketOwnerEnforced' }] },
    PublicAccessBlockConfiguration: {
      BlockPublicAcls: true,
      BlockPublicPolicy: true,
      IgnorePublicAcls: true,
      RestrictPublicBuckets: true,
    },
  };
  const expiring = (name: string) => ({
    Id: `expire-${name}`,
    Prefix: `${name}/`,
    Status: 'Enabled',
    ExpirationInDays: 97,
    NoncurrentVersionExpiration: { NoncurrentDays: 1 },
  });
  const abandoned = { AbortIncompleteMultipartUpload: { DaysAfterInitiation: 1 } };

  it('keep documents, and values a week longer than their records', () => {
    expect(properties('AWS::S3::Bucket', 'StorageBucket')).toEqual({
      ...SAFE,
      VersioningConfiguration: { Status: 'Enabled' },
      LoggingConfiguration: { DestinationBucketName: '<StorageAccessLogs>', LogFilePrefix: 'bucket/' },
      LifecycleConfiguration: {
        Rules: [
          expiring('values'),
          expiring('blobs'),
          {
            Id: 'old-documents',
            Prefix: 'blueprints/',
            Status: 'Enabled',
            NoncurrentVersionExpiration: { NoncurrentDays: 30 },
          },
          { Id: 'abandoned-uploads', Status: 'Enabled', ...abandoned },
        ],
      },
    });
    expect(properties('AWS::S3::Bucket', 'StorageAccessLogs')).toEqual({
      ...SAFE,
      LifecycleConfiguration: {
        Rules: [{ Id: 'expire', Status: 'Enabled', ExpirationInDays: 90, ...abandoned }],
      },
    });
    for (const id of ['StorageBucket', 'StorageAccessLogs']) {
      expect(policies(resource(template, 'AWS::S3::Bucket', id))).toEqual(KEPT);
    }
  });

  const deny = (bucket: string, Condition: object) => ({
    Effect: 'Deny',
    Principal: { AWS: '*' },
    Action: 's3:*',
    Resource: [`<${bucket}.Arn>`, `<${bucket}.Arn>/*`],
    Condition,
  });
  const transport = (bucket: string) => [
    deny(bucket, { Bool: { 'aws:SecureTransport': 'false' } }),
    deny(bucket, { NumericLessThan: { 's3:TlsVersion': 1.2 } }),
  ];

  it('refuse what is not TLS 1.2; access logs come from the one bucket alone', () => {
    expect(properties('AWS::S3::BucketPolicy', 'StorageBucket')).toEqual({
      Bucket: '<StorageBucket>',
      PolicyDocument: { Version: '2012-10-17', Statement: transport('StorageBucket') },
    });
    expect(properties('AWS::S3::BucketPolicy', 'StorageAccessLogs')).toEqual({
      Bucket: '<StorageAccessLogs>',
      PolicyDocument: {
        Version: '2012-10-17',
        Statement: [
          ...transport('StorageAccessLogs'),
          {
            Effect: 'Allow',
            Principal: { Service: 'logging.s3.amazonaws.com' },
            Action: 's3:PutObject',
            Resource: '<StorageAccessLogs.Arn>/bucket/*',
            Condition: {
              ArnLike: { 'aws:SourceArn': '<StorageBucket.Arn>' },
              StringEquals: { 'aws:SourceAccount': '<AccountId>' },
            },
          },
        ],
      },
    });
  });
});

describe('secrets', () => {
  // A change here makes CloudFormation write the first text over the tokens of deployments that there are.
  it('hold nothing that the template tells', () => {
    expect(properties('AWS::SecretsManager::Secret', 'SecretsTokens')).toEqual({
      Description: 'Hashes of the bearer tokens of the MCP endpoint; changed by "mwe token"',
      SecretString: '{"version":1,"tokens":[]}',
    });
    expect(properties('AWS::SecretsManager::Secret', 'SecretsCursorKey')).toEqual({
      Description: 'Key that the MCP endpoint authenticates its cursors with',
      GenerateSecretString: { PasswordLength: 64, ExcludePunctuation: true },
    });
  });
});

describe('functions', () => {
  const COMMON = {
    Architectures: ['arm64'],
    Runtime: 'nodejs24.x',
    Handler: 'index.handler',
    TracingConfig: { Mode: 'Active' },
  };
  const ENVIRONMENT = {
    POWERTOOLS_SERVICE_NAME: 'mwe',
    MWE_TABLE: '<Table>',
    MWE_BUCKET: '<StorageBucket>',
    MWE_MACHINE_PREFIX: 'mwe-',
    MWE_SERVERS_HASH: 'placeholder',
  };
  const ENGINE = {
    MWE_CALL_TOOL_ARN: '<CallToolFunction.Arn>',
    MWE_CALL_TOOL_TIMEOUT_SECONDS: '900',
    MWE_SCHEDULE_GROUP: 'mwe-schedules',
    MWE_SCHEDULE_ROLE_ARN: '<SchedulesRole.Arn>',
  };
  it.each([
    [
      'McpEndpoint',
      'mcp-endpoint',
      'MCP endpoint of the workflow engine',
      { MemorySize: 1024, Timeout: 60 },
      {
        ...ENGINE,
        MWE_AUTH: '{"mode":"bearer","secretArn":"<SecretsTokens>"}',
        MWE_ALLOWED_ORIGINS: '',
        MWE_CURSOR_SECRET_ARN: '<SecretsCursorKey>',
        MWE_CALL_TOOL: 'off',
        MWE_INSPECT: 'links',
        MWE_MACHINE_ROLE_ARN: '<MachinesRole.Arn>',
        MWE_MACHINE_LOG_GROUP_ARN: '<MachinesExecutions.Arn>',
        MWE_MACHINE_TRACING: 'on',
        MWE_REQUESTS_PER_MINUTE: '600',
        MWE_MAX_OPEN_RUNS: '100',
        MWE_MAX_WAITING_RUNS: '20',
        MWE_MAX_SCHEDULES: '10',
        MWE_MIN_SCHEDULE_MINUTES: '5',
      },
    ],
    [
      'CallTool',
      'call-tool',
      'Calls downstream MCP servers for the tasks of state machines',
      { MemorySize: 1769, Timeout: 900 },
      {
        MWE_INSPECT: 'links',
        MWE_MAX_ATTEMPTS: '100000',
        MWE_MAX_SUB_RUNS: '1000',
        MWE_MAX_DEPTH: '10',
        MWE_MAX_RUN_SECONDS: '86400',
      },
    ],
    [
      'RunEvents',
      'run-events',
      'Keeps run records true to their executions, and the blueprints of the stack published',
      { MemorySize: 512, Timeout: 300 },
      ENGINE,
    ],
  ])('%s', (id, name, Description, size, environment) => {
    const { Code: _, ...rest } = properties('AWS::Lambda::Function', id) as Record<string, unknown>;
    expect(rest).toEqual({
      ...COMMON,
      ...size,
      Description,
      FunctionName: `mwe-${name}`,
      Role: `<${id}FunctionRole.Arn>`,
      LoggingConfig: { LogFormat: 'JSON', LogGroup: `<${id}FunctionLogs>` },
      Environment: { Variables: { ...ENVIRONMENT, ...environment } },
    });
    expect(properties('AWS::Logs::LogGroup', `${id}Function`)).toEqual({
      LogGroupName: `/aws/lambda/mwe-${name}`,
      RetentionInDays: 30,
    });
    expect(policies(resource(template, 'AWS::Logs::LogGroup', `${id}Function`))).toEqual(GONE);
  });

  it('and what executions log has an end too', () => {
    expect(properties('AWS::Logs::LogGroup', 'Machines')).toEqual({
      LogGroupName: '/aws/vendedlogs/states/mwe',
      RetentionInDays: 30,
    });
  });
});

describe('status events', () => {
  it('of the machines under the prefix come to run-events, those that fail into the queue', () => {
    expect(properties('AWS::Events::Rule', 'RunEventsStatusChange')).toEqual({
      Name: 'mwe-status-change',
      Description: 'Executions of the workflow engine start, are redriven and end',
      State: 'ENABLED',
      EventPattern: {
        source: ['aws.states'],
        'detail-type': ['Step Functions Execution Status Change'],
        detail: {
          stateMachineArn: [{ prefix: 'arn:<Partition>:states:<Region>:<AccountId>:stateMachine:mwe-' }],
          executionArn: [{ 'anything-but': { wildcard: '*/*' } }],
        },
      },
      Targets: [
        {
          Id: 'Target0',
          Arn: '<RunEventsFunction.Arn>',
          DeadLetterConfig: { Arn: '<RunEventsFailed.Arn>' },
          RetryPolicy: { MaximumEventAgeInSeconds: 3600, MaximumRetryAttempts: 8 },
        },
      ],
    });
    expect(properties('AWS::Lambda::EventInvokeConfig', 'RunEvents')).toEqual({
      FunctionName: '<RunEventsFunction>',
      Qualifier: '$LATEST',
      MaximumEventAgeInSeconds: 3600,
      MaximumRetryAttempts: 2,
      DestinationConfig: { OnFailure: { Destination: '<RunEventsFailed.Arn>' } },
    });
  });

  it('are swept after every five minutes', () => {
    expect(properties('AWS::Events::Rule', 'RunEventsSweep')).toEqual({
      Name: 'mwe-sweep',
      Description: 'Closes runs of the workflow engine whose end no event told of',
      State: 'ENABLED',
      ScheduleExpression: 'rate(5 minutes)',
      Targets: [
        {
          Id: 'Target0',
          Arn: '<RunEventsFunction.Arn>',
          RetryPolicy: { MaximumEventAgeInSeconds: 300, MaximumRetryAttempts: 0 },
        },
      ],
    });
  });

  it('are let in from the two rules alone', () => {
    const permissions = Object.entries(template.Resources)
      .filter(([id, { Type }]) => Type === 'AWS::Lambda::Permission' && id.startsWith('RunEvents'))
      .map(([, { Properties }]) => readable(Properties));
    const from = (rule: string) => ({
      Action: 'lambda:InvokeFunction',
      FunctionName: '<RunEventsFunction.Arn>',
      Principal: 'events.amazonaws.com',
      SourceArn: `<${rule}.Arn>`,
    });
    expect(permissions).toEqual([from('RunEventsStatusChange'), from('RunEventsSweep')]);
  });

  it('that failed are encrypted, come by TLS and from the one rule, and stay two weeks', () => {
    expect(properties('AWS::SQS::Queue', 'RunEventsFailed')).toEqual({
      MessageRetentionPeriod: 1_209_600,
      SqsManagedSseEnabled: true,
    });
    expect(properties('AWS::SQS::QueuePolicy', 'RunEventsFailed')).toEqual({
      Queues: ['<RunEventsFailed>'],
      PolicyDocument: {
        Version: '2012-10-17',
        Statement: [
          {
            Effect: 'Deny',
            Principal: { AWS: '*' },
            Action: 'sqs:*',
            Resource: '<RunEventsFailed.Arn>',
            Condition: { Bool: { 'aws:SecureTransport': 'false' } },
          },
          {
            Sid: expect.stringMatching(/^AllowEventRule/),
            Effect: 'Allow',
            Principal: { Service: 'events.amazonaws.com' },
            Action: 'sqs:SendMessage',
            Resource: '<RunEventsFailed.Arn>',
            Condition: { ArnEquals: { 'aws:SourceArn': '<RunEventsStatusChange.Arn>' } },
          },
        ],
      },
    });
  });
});

describe('schedules', () => {
  it('have a group of their own', () => {
    expect(properties('AWS::Scheduler::ScheduleGroup', 'Schedules')).toEqual({ Name: 'mwe-schedules' });
  });
});

describe('what has a name of its own', () => {
  // CloudFormation makes the new one before it deletes the old: under another logical id an update ends with "already exists".
  it('keeps its logical id', () => {
    const NAMES = [
      'FunctionName',
      'RoleName',
      'LogGroupName',
      'AlarmName',
      'DashboardName',
      'StateMachineName',
    ];
    const named = Object.entries(template.Resources).flatMap(([id, { Type, Properties }]) => {
      const ownName = /^AWS::(Scheduler|Events)::/.test(Type);
      return ownName || NAMES.some((name) => Properties[name] !== undefined) ? [`${Type} ${id}`] : [];
    });
    expect(named.sort()).toMatchInlineSnapshot(`
      [
        "AWS::CloudWatch::Alarm MonitoringCallToolThrottles21634937",
        "AWS::CloudWatch::Alarm MonitoringEndpointErrors70DFD396",
        "AWS::CloudWatch::Alarm MonitoringEndpointThrottles8506B3A5",
        "AWS::CloudWatch::Alarm MonitoringEventsFailed5F246C81",
        "AWS::CloudWatch::Alarm MonitoringRequestsFailed1BFD7B77",
        "AWS::CloudWatch::Alarm MonitoringRunEventsErrors4E62DC10",
        "AWS::CloudWatch::Alarm MonitoringRunEventsThrottlesC9A5D63C",
        "AWS::CloudWatch::Alarm MonitoringRunsFailed5AF0A1CE",
        "AWS::CloudWatch::Alarm MonitoringSchedulesDropped0652856C",
        "AWS::CloudWatch::Dashboard MonitoringDashboard0C3675C6",
        "AWS::Events::Rule RunEventsStatusChange484DCF84",
        "AWS::Events::Rule RunEventsSweep41E032D4",
        "AWS::IAM::Role MachinesRoleF49D2AE3",
        "AWS::IAM::Role SchedulesRole523D57EE",
        "AWS::Lambda::EventInvokeConfig RunEventsRetries01CA88A1",
        "AWS::Lambda::Function CallToolFunction8F264E25",
        "AWS::Lambda::Function McpEndpointFunction1A8121E2",
        "AWS::Lambda::Function RunEventsFunction15C6A41B",
        "AWS::Lambda::Permission McpEndpointUrlInvokeByUrl0ADE222A6",
        "AWS::Lambda::Permission McpEndpointUrlInvokeUrl08AEF32C1",
        "AWS::Lambda::Permission RunEventsStatusChangeAllowEventRulemweRunEventsFunction5292B005D581533D",
        "AWS::Lambda::Permission RunEventsSweepAllowEventRulemweRunEventsFunction5292B005BD5282BE",
        "AWS::Logs::LogGroup CallToolFunctionLogs8B3772C9",
        "AWS::Logs::LogGroup MachinesExecutions7F31796E",
        "AWS::Logs::LogGroup McpEndpointFunctionLogs385B902D",
        "AWS::Logs::LogGroup RunEventsFunctionLogsD36A28E1",
        "AWS::Scheduler::Schedule BlueprintshelloSchedulenightly7D8D83C5",
        "AWS::Scheduler::ScheduleGroup SchedulesGroupC7F67308",
        "AWS::StepFunctions::StateMachine BlueprintshelloMachine5739E03B",
      ]
    `);
  });
});

describe('outputs', () => {
  it('tell what an agent, a schedule made by hand and an operator need', () => {
    const values = Object.entries(template.Outputs).map(([id, { Value }]) => [id, readable(Value)]);
    expect(Object.fromEntries(values)).toEqual({
      McpUrl: '<McpEndpointUrl.FunctionUrl>mcp',
      TokenSecret: '<SecretsTokens>',
      TableName: '<Table>',
      BucketName: '<StorageBucket>',
      MachinePrefix: 'mwe-',
      ScheduleGroup: 'mwe-schedules',
      ScheduleRole: '<SchedulesRole.Arn>',
      ScheduleTarget: 'arn:aws:scheduler:::aws-sdk:sfn:startExecution',
      ScheduleInput: JSON.stringify({
        StateMachineArn: 'arn:<Partition>:states:<Region>:<AccountId>:stateMachine:mwe-WORKFLOW-ID',
        Name: '<aws.scheduler.execution-id>',
        Input: JSON.stringify({
          schedule: {
            arn: '<aws.scheduler.schedule-arn>',
            time: '<aws.scheduler.scheduled-time>',
            execution: '<aws.scheduler.execution-id>',
          },
          params: {},
        }),
      }),
      ExecutionLogs: '<MachinesExecutions>',
      Dashboard:
        'https://<Region>.console.aws.amazon.com/cloudwatch/home?region=<Region>#dashboards/dashboard/mwe-<Region>',
    });
  });
});
