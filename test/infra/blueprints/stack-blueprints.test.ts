// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the placeholder of the template is what is tested
/** What a blueprint of the stack is in the template: whole resources. */
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { readBlueprints, targetOf } from '../../../infra/blueprints/read-folder.ts';
import { stackMachineName } from '../../../infra/blueprints/stack-blueprints.ts';
import { compileDocument } from '../../../lib/compile/compile.ts';
import { awsScheduleName } from '../../../lib/store/schedules.ts';
import { folderOf, type Resource, synthesize, type Template } from './stack.ts';

const sub = {
  id: 'sub',
  steps: [{ id: 'say', type: 'call', tool: 'server/echo', params: {}, parse: 'text' }],
};
const sync = {
  id: 'sync-all',
  description: 'Says ${CallToolArn} and "quotes"',
  steps: [{ id: 'child', type: 'call', workflow: 'sub' }],
  schedules: [
    { name: 'nightly', schedule: 'cron(0 2 * * ? *)', timezone: 'Europe/Vienna' },
    { name: 'off', schedule: 'rate(1 day)', enabled: false },
  ],
};
const folder = folderOf({ 'sub.json': sub, 'sync-all.json': sync });
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const { template } = synthesize(folder);

const ofType = (type: string, from: Template = template): [id: string, resource: Resource][] =>
  Object.entries(from.Resources).filter(([, { Type }]) => Type === type);
const byName = (name: string, from: Template = template): [string, Resource] => {
  const found = ofType('AWS::StepFunctions::StateMachine', from).find(
    ([, { Properties }]) => Properties.StateMachineName === name,
  );
  if (found === undefined) throw new Error(`no machine ${name}`);
  return found;
};
const [subDocument, syncDocument] = readBlueprints(folder, 900);
const CALL_TOOL = 'arn:aws:lambda:eu-west-1:000000000000:function:call-tool';

/** The text that Step Functions gets. */
function definitionOf({ Properties }: Resource): string {
  const { DefinitionString: text, DefinitionSubstitutions: substitutions } = Properties as {
    DefinitionString: { 'Fn::Join': [string, string[]] };
    DefinitionSubstitutions: Record<string, string>;
  };
  const [delimiter, lines] = text['Fn::Join'];
  const filled = Object.entries(substitutions).reduce(
    (whole, [key, value]) => whole.replaceAll(`\${${key}}`, value),
    lines.join(delimiter),
  );
  return filled;
}

describe('a machine', () => {
  it('is compiled as saving compiles it, with the ARN that the template knows', () => {
    const target = { callToolArn: CALL_TOOL, functionTimeoutSeconds: 900 };
    for (const [name, document] of [
      ['mwe-sub_stack', subDocument],
      ['mwe-sync-all_stack', syncDocument],
    ] as const) {
      if (document === undefined) throw new Error('compiled');
      const { definition } = compileDocument(document.document, document.hash, target);
      const [, resource] = byName(name);
      // What an author writes is a comment, and may be changed by it.
      const plain = (value: unknown) => JSON.stringify(value).replaceAll('${CallToolArn}', CALL_TOOL);
      expect(JSON.stringify(JSON.parse(definitionOf(resource)))).toBe(plain(definition));
    }
  });

  it('has role, logs and traces, and a name that no endpoint gives', () => {
    const [, { Properties }] = byName('mwe-sub_stack');
    const { DefinitionString: _, ...properties } = Properties;
    expect(properties).toEqual({
      DefinitionSubstitutions: { CallToolArn: CALL_TOOL },
      LoggingConfiguration: {
        Destinations: [
          {
            CloudWatchLogsLogGroup: {
              LogGroupArn: {
                'Fn::Join': [
                  '',
                  ['arn:', { Ref: 'AWS::Partition' }, ':logs:eu-west-1:000000000000:log-group:executions:*'],
                ],
              },
            },
          },
        ],
        IncludeExecutionData: false,
        Level: 'ALL',
      },
      RoleArn: 'arn:aws:iam::000000000000:role/machines',
      StateMachineName: 'mwe-sub_stack',
      StateMachineType: 'STANDARD',
      TracingConfiguration: { Enabled: true },
    });
    expect(stackMachineName('mwe-', 'a')).toBe('mwe-a_stack');
  });

  it('is an asset where the template has no place for it', () => {
    const small = synthesize(folder, { inlineBytes: 8000 });
    const inline = ofType('AWS::StepFunctions::StateMachine', small.template).filter(
      ([, { Properties }]) => Properties.DefinitionString !== undefined,
    );
    expect(inline.length).toBe(1);
    const none = synthesize(folder, { inlineBytes: 0 });
    const [, { Properties }] = byName('mwe-sub_stack', none.template);
    const { text } = compileDocument(subDocument?.document as never, subDocument?.hash ?? '', targetOf(900));
    expect(Properties.DefinitionString).toBeUndefined();
    expect(Properties.DefinitionS3Location).toMatchObject({
      Bucket: expect.anything(),
      Key: expect.any(String),
    });
    expect(Properties.DefinitionSubstitutions).toEqual({ CallToolArn: CALL_TOOL });
    const { Key: key } = Properties.DefinitionS3Location as { Key: string };
    expect(readFileSync(join(none.directory, `asset.${key}`), 'utf8')).toBe(text);
  });
});

describe('a version', () => {
  it('is kept, carries the hash, and has a name that follows from what it freezes', () => {
    const [machine] = byName('mwe-sub_stack');
    const versions = ofType('AWS::StepFunctions::StateMachineVersion').filter(
      ([, { Properties }]) => Properties.Description === subDocument?.hash,
    );
    expect(versions).toEqual([
      [
        expect.stringMatching(/^BlueprintssubVersion[0-9a-f]{16}[0-9A-F]{8}$/),
        {
          Type: 'AWS::StepFunctions::StateMachineVersion',
          Properties: {
            Description: subDocument?.hash,
            StateMachineArn: { 'Fn::GetAtt': [machine, 'Arn'] },
          },
          DeletionPolicy: 'Retain',
          UpdateReplacePolicy: 'Retain',
        },
      ],
    ]);
  });

  const idsOf = (from: Template) =>
    ofType('AWS::StepFunctions::StateMachineVersion', from)
      .map(([id]) => id)
      .sort();
  it('is the same for the same, and another where anything that it freezes changes', () => {
    const before = idsOf(template);
    expect(idsOf(synthesize(folder).template)).toEqual(before);
    expect(idsOf(synthesize(folder, { includeData: true }).template)).not.toEqual(before);
    expect(idsOf(synthesize(folder, { tracing: false }).template)).not.toEqual(before);
    const target = { callToolArn: CALL_TOOL, functionTimeoutSeconds: 600 };
    // A machine outlives the function's time limit, so it does not hold it.
    expect(idsOf(synthesize(folder, { target }).template)).toEqual(before);
    // Where its definition stands is no change.
    expect(idsOf(synthesize(folder, { inlineBytes: 0 }).template)).toEqual(before);
  });
});

describe('the custom resource', () => {
  const [[current, resource] = ['', undefined]] = ofType('Custom::StackBlueprints');

  it('names every blueprint, sub-workflows first', () => {
    const entry = (hash: string | undefined, id: string, name: string) => ({
      id,
      hash,
      stateMachineArn: { 'Fn::GetAtt': [byName(name)[0], 'Arn'] },
      versionArn: {
        'Fn::GetAtt': [
          ofType('AWS::StepFunctions::StateMachineVersion').find(
            ([, { Properties }]) => Properties.Description === hash,
          )?.[0],
          'Arn',
        ],
      },
    });
    expect(resource?.Properties).toEqual({
      ServiceToken: 'arn:aws:lambda:eu-west-1:000000000000:function:run-events',
      ServiceTimeout: '360',
      blueprints: [
        entry(subDocument?.hash, 'sub', 'mwe-sub_stack'),
        entry(syncDocument?.hash, 'sync-all', 'mwe-sync-all_stack'),
      ],
    });
  });

  it('is there for an empty folder too, so that what was shipped before is removed', () => {
    const empty = folderOf({});
    const [[, none] = ['', undefined]] = ofType('Custom::StackBlueprints', synthesize(empty).template);
    expect(none?.Properties.blueprints).toEqual([]);
    rmSync(empty, { recursive: true });
  });

  it('comes before the schedules', () => {
    const schedules = ofType('AWS::Scheduler::Schedule');
    expect(schedules.length).toBe(2);
    for (const [, { DependsOn }] of schedules) expect(DependsOn).toEqual([current]);
  });
});

describe('a schedule', () => {
  it('starts the version by the universal target, and is as its blueprint says', () => {
    const [version] = ofType('AWS::StepFunctions::StateMachineVersion').find(
      ([, { Properties }]) => Properties.Description === syncDocument?.hash,
    ) ?? [''];
    const properties = (name: string, more: object) => ({
      Name: awsScheduleName('sync-all', name),
      GroupName: { Ref: 'Group' },
      Description: `sync-all: ${name}`,
      FlexibleTimeWindow: { Mode: 'OFF' },
      Target: {
        Arn: 'arn:aws:scheduler:::aws-sdk:sfn:startExecution',
        RoleArn: 'arn:aws:iam::000000000000:role/schedules',
        Input: {
          'Fn::Join': [
            '',
            [
              '{"StateMachineArn":"',
              { 'Fn::GetAtt': [version, 'Arn'] },
              '","Name":"<aws.scheduler.execution-id>","Input":"{\\"schedule\\":{\\"arn\\":\\"<aws.scheduler.schedule-arn>\\",\\"time\\":\\"<aws.scheduler.scheduled-time>\\",\\"execution\\":\\"<aws.scheduler.execution-id>\\"}}"}',
            ],
          ],
        },
        RetryPolicy: { MaximumEventAgeInSeconds: 3600, MaximumRetryAttempts: 3 },
      },
      ...more,
    });
    expect(ofType('AWS::Scheduler::Schedule').map(([, { Properties }]) => Properties)).toEqual([
      properties('nightly', {
        ScheduleExpression: 'cron(0 2 * * ? *)',
        ScheduleExpressionTimezone: 'Europe/Vienna',
        State: 'ENABLED',
      }),
      properties('off', {
        ScheduleExpression: 'rate(1 day)',
        ScheduleExpressionTimezone: 'UTC',
        State: 'DISABLED',
      }),
    ]);
  });
});

it('warnings are told with their file', () => {
  const unused = folderOf({
    'a.json': { ...sub, id: 'a', params: { nobody: { type: 'string', default: '' } } },
  });
  const { messages } = synthesize(unused);
  expect(messages).toEqual([expect.stringMatching(/^a\.json: params\/nobody: /)]);
  rmSync(unused, { recursive: true });
});

it('a name that Step Functions would not take is refused', () => {
  const long = `a${'b'.repeat(47)}`;
  const made = folderOf({ [`${long}.json`]: { ...sub, id: long } });
  const prefix = `${'p'.repeat(30)}-`;
  expect(() => synthesize(made, { prefix })).toThrow(
    `${long}.json: its state machine would be named "${prefix}${long}_stack", which has 85 characters, and 80 are allowed; choose a shorter id or prefix`,
  );
  rmSync(made, { recursive: true });
});
