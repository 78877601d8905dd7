/** Every prop that a user sets reaches what it is for. */
import { beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../lib/blueprint/json.ts';
import { readable, resource, type Template, templateOf } from './synthesized.ts';

let template: Template;
beforeAll(async () => {
  template = await templateOf({
    prefix: 'team1',
    callTool: 'read-only',
    inspect: 'values',
    limits: {
      requestsPerMinute: 1,
      openRuns: 2,
      waitingRuns: 3,
      schedules: 4,
      minScheduleMinutes: 5,
      maxAttempts: 6,
      maxSubRuns: 7,
      maxDepth: 8,
      maxRunSeconds: 9,
    },
    functions: {
      mcpEndpoint: { memoryMb: 512, timeoutSeconds: 90, reservedConcurrency: 11 },
      callTool: { memoryMb: 3008, timeoutSeconds: 600, reservedConcurrency: 12 },
      runEvents: { memoryMb: 256, timeoutSeconds: 120, reservedConcurrency: 13 },
    },
    logRetentionDays: 365,
    deletionProtection: false,
    allowedOrigins: ['https://a.example.com', 'http://localhost:6274'],
  });
});

const properties = (type: string, begins: string) => resource(template, type, begins).Properties;
const variables = (id: string) =>
  readable((properties('AWS::Lambda::Function', id).Environment as JsonObject).Variables) as object;

describe('props', () => {
  it.each([
    ['McpEndpoint', 'mcp-endpoint', 512, 90, 11],
    ['CallTool', 'call-tool', 3008, 600, 12],
    ['RunEvents', 'run-events', 256, 120, 13],
  ])('size %s', (id, name, MemorySize, Timeout, ReservedConcurrentExecutions) => {
    const expected = { FunctionName: `team1-${name}`, MemorySize, Timeout, ReservedConcurrentExecutions };
    expect(properties('AWS::Lambda::Function', id)).toMatchObject(expected);
  });

  it('reach the endpoint', () => {
    expect(variables('McpEndpoint')).toMatchObject({
      MWE_MACHINE_PREFIX: 'team1-',
      MWE_CALL_TOOL: 'read-only',
      MWE_INSPECT: 'values',
      MWE_CALL_TOOL_TIMEOUT_SECONDS: '600',
      MWE_ALLOWED_ORIGINS: 'https://a.example.com,http://localhost:6274',
      MWE_SCHEDULE_GROUP: 'team1-schedules',
      MWE_REQUESTS_PER_MINUTE: '1',
      MWE_MAX_OPEN_RUNS: '2',
      MWE_MAX_WAITING_RUNS: '3',
      MWE_MAX_SCHEDULES: '4',
      MWE_MIN_SCHEDULE_MINUTES: '5',
    });
  });

  it('reach call-tool', () => {
    expect(variables('CallTool')).toMatchObject({
      MWE_INSPECT: 'values',
      MWE_MAX_ATTEMPTS: '6',
      MWE_MAX_SUB_RUNS: '7',
      MWE_MAX_DEPTH: '8',
      MWE_MAX_RUN_SECONDS: '9',
    });
  });

  it('end all logs, and leave the table open to deletion', () => {
    const retention = Object.values(template.Resources)
      .filter(({ Type }) => Type === 'AWS::Logs::LogGroup')
      .map(({ Properties }) => Properties.RetentionInDays);
    expect(retention).toEqual([365, 365, 365, 365]);
    expect(properties('AWS::DynamoDB::Table', 'Table').DeletionProtectionEnabled).toBe(false);
  });

  it('reach what the stack owns: its machines run, log and are scheduled as those of agents', () => {
    expect(readable(properties('AWS::StepFunctions::StateMachine', 'Blueprints'))).toMatchObject({
      StateMachineName: 'team1-hello_stack',
      RoleArn: '<MachinesRole.Arn>',
      LoggingConfiguration: {
        Level: 'ALL',
        IncludeExecutionData: true,
        Destinations: [{ CloudWatchLogsLogGroup: { LogGroupArn: '<MachinesExecutions.Arn>' } }],
      },
      TracingConfiguration: { Enabled: true },
      DefinitionSubstitutions: { CallToolArn: '<CallToolFunction.Arn>' },
    });
    expect(properties('AWS::StepFunctions::StateMachine', 'Blueprints').DefinitionString).toMatchObject({
      'Fn::Join': ['\n', expect.arrayContaining([expect.stringContaining('"TimeoutSeconds": 960')])],
    });
    expect(readable(properties('AWS::Scheduler::Schedule', 'Blueprints'))).toMatchObject({
      GroupName: '<SchedulesGroup>',
      Target: { RoleArn: '<SchedulesRole.Arn>' },
    });
    expect(readable(properties('Custom::StackBlueprints', 'Blueprints'))).toMatchObject({
      ServiceToken: '<RunEventsFunction.Arn>',
      ServiceTimeout: '180',
    });
  });
});
