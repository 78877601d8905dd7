/** What `cdk deploy` tells at its end: what an agent, a schedule made by hand and an operator need. No secret is among it. */
import { Aws, CfnOutput, type Stack } from 'aws-cdk-lib';
import { handMadeTargetInput, SCHEDULE_TARGET_ARN } from '../lib/engine/schedule-target.ts';
import { MCP_PATH } from '../lib/mcp/endpoint.ts';
import type { Arns } from './names.ts';

export interface OutputValues {
  /** Of the function, with a slash at its end. */
  url: string;
  tableName: string;
  bucketName: string;
  tokensArn: string | undefined;
  scheduleGroupName: string;
  scheduleRoleArn: string;
  arns: Arns;
  machinePrefix: string;
  executionLogName: string;
  dashboardName: string;
}

export function addOutputs(stack: Stack, values: OutputValues): void {
  const output = (id: string, value: string, description: string) =>
    new CfnOutput(stack, id, { value, description });
  output('McpUrl', `${values.url}${MCP_PATH.slice(1)}`, 'The MCP endpoint, for agents');
  if (values.tokensArn !== undefined) {
    output('TokenSecret', values.tokensArn, 'The secret with the hashes of tokens, for "mwe token"');
  }
  output('TableName', values.tableName, 'The engine table; it stays when the stack is deleted');
  output('BucketName', values.bucketName, 'Documents and large values; it stays when the stack is deleted');
  output(
    'MachinePrefix',
    values.machinePrefix,
    "What state machines' names begin with; the rest is the workflow's id, and _stack where the stack owns it",
  );
  output('ScheduleGroup', values.scheduleGroupName, 'The Scheduler group of all schedules');
  output('ScheduleRole', values.scheduleRoleArn, 'The role of a schedule made by hand, in the group');
  output('ScheduleTarget', SCHEDULE_TARGET_ARN, 'The target of a schedule made by hand');
  output(
    'ScheduleInput',
    handMadeTargetInput(`${values.arns.machinePrefix}WORKFLOW-ID`),
    'The input of a schedule made by hand: put in the name of the state machine (or the ARN of a version), and parameters',
  );
  output('ExecutionLogs', values.executionLogName, 'The log group of executions');
  output(
    'Dashboard',
    `https://${Aws.REGION}.console.aws.amazon.com/cloudwatch/home?region=${Aws.REGION}#dashboards/dashboard/${values.dashboardName}`,
    'What runs, calls and fails',
  );
}
