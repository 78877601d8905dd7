/** A stack with nothing but what StackBlueprints needs, and its template. */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App, Duration, Stack } from 'aws-cdk-lib';
import { Role } from 'aws-cdk-lib/aws-iam';
import { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import { CfnScheduleGroup } from 'aws-cdk-lib/aws-scheduler';
import { StackBlueprints, type StackBlueprintsProps } from '../../../infra/blueprints/stack-blueprints.ts';

export interface Template {
  Resources: Record<string, Resource>;
}
export interface Resource {
  Type: string;
  Properties: Record<string, unknown>;
  DependsOn?: string[];
  DeletionPolicy?: string;
  UpdateReplacePolicy?: string;
}

const ARN = 'arn:aws:lambda:eu-west-1:000000000000:function';

export function folderOf(files: Record<string, unknown>): string {
  const folder = mkdtempSync(join(tmpdir(), 'mwe-blueprints-'));
  for (const [name, content] of Object.entries(files)) {
    const text = typeof content === 'string' ? content : JSON.stringify(content);
    writeFileSync(join(folder, name), text);
  }
  return folder;
}

/** The template, and the files of assets by their names in it. */
export function synthesize(
  folder: string,
  props: Partial<StackBlueprintsProps> = {},
): { template: Template; messages: string[]; directory: string } {
  const app = new App({ analyticsReporting: false });
  const stack = new Stack(app, 'Test', { env: { region: 'eu-west-1', account: '000000000000' } });
  new StackBlueprints(stack, 'Blueprints', {
    folder,
    target: { callToolArn: `${ARN}:call-tool`, functionTimeoutSeconds: 900 },
    prefix: 'mwe-',
    machineRole: Role.fromRoleArn(stack, 'Role', 'arn:aws:iam::000000000000:role/machines'),
    logGroup: LogGroup.fromLogGroupName(stack, 'Logs', 'executions'),
    includeData: false,
    scheduleGroup: new CfnScheduleGroup(stack, 'Group', { name: 'mwe-schedules' }),
    scheduleRole: Role.fromRoleArn(stack, 'ScheduleRole', 'arn:aws:iam::000000000000:role/schedules'),
    runEvents: LambdaFunction.fromFunctionArn(stack, 'RunEvents', `${ARN}:run-events`),
    runEventsTimeout: Duration.seconds(300),
    ...props,
  });
  const assembly = app.synth();
  const artifact = assembly.getStackByName('Test');
  return {
    template: artifact.template as Template,
    messages: artifact.messages.map(({ entry }) => String(entry.data)),
    directory: assembly.directory,
  };
}
