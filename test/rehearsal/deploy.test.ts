/**
 * A small template of the engine's shape, deployed and judged: what its functions ask is noted under their roles, a call that no
 * policy allows is told with role, action and resource, a right that nobody uses is told too, and what the rehearsal does not know
 * it refuses by name.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../lib/blueprint/json.ts';
import { projectRoot } from '../../lib/cli/project.ts';
import { type Deployment, deploy, runtimePath } from '../../rehearsal/deploy.ts';
import { holdAgainst, judgeCalls, unusedRights } from '../../rehearsal/verdict.ts';

let folder: string;
let deployment: Deployment | undefined;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'rehearsal-deploy-'));
});
afterEach(async () => {
  await deployment?.close();
  deployment = undefined;
  await rm(folder, { recursive: true });
});

const trust = (service: string): Json => ({
  Version: '2012-10-17',
  Statement: [{ Effect: 'Allow', Principal: { Service: service }, Action: 'sts:AssumeRole' }],
});
const allow = (sid: string, action: Json, resource: Json): Json => ({
  Sid: sid,
  Effect: 'Allow',
  Action: action,
  Resource: resource,
});
const arnOf = (logicalId: string): Json => ({ 'Fn::GetAtt': [logicalId, 'Arn'] });
const below = (logicalId: string, path: string): Json => ({ 'Fn::Join': ['', [arnOf(logicalId), path]] });

function lambdaFunction(role: string, handler: string): JsonObject {
  return {
    Type: 'AWS::Lambda::Function',
    DependsOn: ['Policy'],
    Properties: {
      Code: { S3Bucket: 'assets', S3Key: 'bundles.zip' },
      Handler: handler,
      Role: arnOf(role),
      Timeout: 20,
      MemorySize: 256,
      Environment: { Variables: { TABLE: { Ref: 'Table' } } },
    },
  };
}

/** Its properties alone. */
function lambdaProperties(handler: string): JsonObject {
  return lambdaFunction('Role', handler).Properties as JsonObject;
}

/** The template with statements for the function's role, and resources more or other. */
function template(statements: Json[], more: JsonObject = {}): JsonObject {
  const policy = { Version: '2012-10-17', Statement: statements };
  const permission = (action: string, condition: JsonObject): JsonObject => ({
    Type: 'AWS::Lambda::Permission',
    Properties: { Action: action, FunctionName: arnOf('Face'), Principal: '*', ...condition },
  });
  return {
    Resources: {
      Table: {
        Type: 'AWS::DynamoDB::Table',
        Properties: {
          AttributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'S' }],
          KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
          BillingMode: 'PAY_PER_REQUEST',
        },
      },
      Bucket: { Type: 'AWS::S3::Bucket' },
      Role: {
        Type: 'AWS::IAM::Role',
        Properties: { AssumeRolePolicyDocument: trust('lambda.amazonaws.com') },
        Metadata: { 'aws:cdk:path': 'stack/Asks/Role/Resource' },
      },
      Policy: {
        Type: 'AWS::IAM::Policy',
        Properties: { PolicyName: 'own', PolicyDocument: policy, Roles: [{ Ref: 'Role' }] },
      },
      Asks: lambdaFunction('Role', 'asks.handler'),
      Face: lambdaFunction('Role', 'streams.handler'),
      Url: {
        Type: 'AWS::Lambda::Url',
        Properties: { AuthType: 'NONE', TargetFunctionArn: arnOf('Face'), InvokeMode: 'RESPONSE_STREAM' },
      },
      Open: permission('lambda:InvokeFunctionUrl', { FunctionUrlAuthType: 'NONE' }),
      OpenToo: permission('lambda:InvokeFunction', { InvokedViaFunctionUrl: true }),
      ...more,
    },
    Outputs: { Url: { Value: { 'Fn::GetAtt': ['Url', 'FunctionUrl'] } }, Table: { Value: { Ref: 'Table' } } },
  };
}

async function raise(source: JsonObject, within = 'first'): Promise<Deployment> {
  const bundles = join(projectRoot(), 'test', 'rehearsal', 'bundles');
  deployment = await deploy({
    assembly: {
      stackName: 'stack',
      template: source,
      assetOf: (key) => (key === 'bundles.zip' ? bundles : undefined),
    },
    folder: join(folder, within),
    runtime: runtimePath(projectRoot()),
    log: () => undefined,
  });
  return deployment;
}

/** Has the function ask; answers status and text. */
async function ask(made: Deployment, event: JsonObject): Promise<{ status: number; text: string }> {
  const [lambda] = [...made.world.functions]
    .filter(([name]) => name.includes('Asks'))
    .map(([, each]) => each);
  if (lambda === undefined) throw new Error('no function');
  const { payload, functionError } = await lambda.invoke(event);
  expect(functionError, payload).toBeUndefined();
  return JSON.parse(payload) as { status: number; text: string };
}

const getItem = (table: string): JsonObject => ({
  service: 'DYNAMODB',
  method: 'POST',
  path: '/',
  headers: { 'x-amz-target': 'DynamoDB_20120810.GetItem', 'content-type': 'application/x-amz-json-1.0' },
  body: JSON.stringify({ TableName: table, Key: { pk: { S: 'a' } } }),
});
const getObject = (bucket: string, key: string): JsonObject => ({
  service: 'S3',
  method: 'GET',
  path: `/${bucket}/${key}`,
});

const READ_TABLE = allow('Read', 'dynamodb:GetItem', arnOf('Table'));
const READ_BUCKET = allow('Objects', 's3:GetObject', below('Bucket', '/*'));
const LIST_BUCKET = allow('List', 's3:ListBucket', arnOf('Bucket'));

describe('a deployed template', () => {
  it('answers its functions from the stand-ins, and its outputs', async () => {
    const made = await raise(template([READ_TABLE]));
    const { Table: table, Url: url } = made.outputs;
    expect(url).toMatch(/^https:\/\/[0-9a-f]{32}\.lambda-url\.us-east-1\.on\.aws\/$/);
    expect(await ask(made, getItem(String(table)))).toEqual({ status: 200, text: '{}' });
    expect((await fetch(`${made.url}/teapot`)).status).toBe(418);
    expect(judgeCalls(made)).toMatchObject({
      denied: [],
      faults: [],
      rows: [{ role: 'Asks/Role', action: 'dynamodb:GetItem', calls: 1, scenarios: ['deploy'] }],
    });
  });

  it('tells a call that no policy allows', async () => {
    const made = await raise(template([LIST_BUCKET]));
    made.recorder.scenario = 'a test';
    await ask(made, getItem(String(made.outputs.Table)));
    const { denied } = judgeCalls(made);
    expect(denied).toHaveLength(1);
    expect(denied[0]).toMatch(
      /^Asks\/Role: dynamodb:GetItem on arn:aws:dynamodb:us-east-1:000000000000:table\/stack-Table-[0-9A-F]{12} is not allowed \(scenario "a test"\)$/,
    );
  });

  it('tells a call that its policy denies', async () => {
    const deny = { Effect: 'Deny', Action: 'dynamodb:*', Resource: '*' };
    const made = await raise(template([READ_TABLE, deny]));
    await ask(made, getItem(String(made.outputs.Table)));
    expect(judgeCalls(made).denied[0]).toContain('is explicitly denied');
  });

  it('tells rights that nobody used, and holds them against the justified ones', async () => {
    const made = await raise(
      template([READ_TABLE, allow('Write', ['dynamodb:PutItem', 'dynamodb:DeleteItem'], arnOf('Table'))]),
    );
    await ask(made, getItem(String(made.outputs.Table)));
    await fetch(`${made.url}/teapot`);
    judgeCalls(made);
    const unused = unusedRights([made]);
    expect(unused.map(({ owner, action }) => `${owner} ${action}`)).toEqual([
      'Asks/Role dynamodb:PutItem',
      'Asks/Role dynamodb:DeleteItem',
    ]);
    const because = 'of this test';
    expect(
      holdAgainst(unused, [
        { owner: 'Asks/Role', action: 'dynamodb:PutItem', resource: '*/stack-Table-*', because },
        { owner: 'Asks/Role', action: 'dynamodb:GetItem', because },
      ]),
    ).toEqual({
      unused: [`Asks/Role: dynamodb:DeleteItem on ${unused[1]?.resource ?? ''}`],
      idle: ['Asks/Role: dynamodb:GetItem on *'],
    });
  });

  it('a right that one deployment used is used', async () => {
    const used = await raise(template([READ_TABLE]));
    await ask(used, getItem(String(used.outputs.Table)));
    await fetch(`${used.url}/teapot`);
    judgeCalls(used);
    await used.close();
    const idle = await raise(template([READ_TABLE]), 'second');
    expect(unusedRights([idle]).map(({ action }) => action)).toContain('dynamodb:GetItem');
    expect(unusedRights([used, idle])).toEqual([]);
  });

  it.each([
    ['may list the bucket', [READ_BUCKET, LIST_BUCKET], 404, 'NoSuchKey'],
    ['may not', [READ_BUCKET], 403, 'AccessDenied'],
  ])('tells of a missing object as S3 does to who %s', async (_name, statements, status, code) => {
    const made = await raise(template(statements));
    const bucket = made.world.template.identityOf('Bucket').ref;
    const answer = await ask(made, getObject(bucket, 'missing'));
    expect(answer.status).toBe(status);
    expect(answer.text).toContain(code);
  });

  it('tells a request that it does not understand', async () => {
    const made = await raise(template([READ_TABLE]));
    const scan = getItem(String(made.outputs.Table));
    await ask(made, { ...scan, headers: { 'x-amz-target': 'DynamoDB_20120810.DeleteTable' } });
    expect(judgeCalls(made).faults[0]).toContain('dynamodb:DeleteTable');
  });

  it('delivers events by the rule, where the function lets EventBridge in', async () => {
    const rule = (name: string): JsonObject => ({
      Type: 'AWS::Events::Rule',
      Properties: {
        Name: name,
        EventPattern: { source: ['aws.states'], detail: { name: [{ prefix: name }] } },
        State: 'ENABLED',
        Targets: [{ Arn: arnOf('Asks'), Id: 'a' }],
      },
    });
    const made = await raise(
      template([READ_TABLE], {
        Good: rule('good'),
        Bad: rule('bad'),
        LetIn: {
          Type: 'AWS::Lambda::Permission',
          Properties: {
            Action: 'lambda:InvokeFunction',
            FunctionName: arnOf('Asks'),
            Principal: 'events.amazonaws.com',
            SourceArn: arnOf('Good'),
          },
        },
      }),
    );
    const event = { source: 'aws.states', ...getItem(String(made.outputs.Table)) };
    await made.events.publish({ ...event, detail: { name: 'good' } });
    expect(made.recorder.calls.map(({ action }) => action)).toEqual(['dynamodb:GetItem']);
    await made.events.publish({ ...event, detail: { name: 'bad' } });
    await made.events.publish({ ...event, detail: { name: 'other' } });
    expect(made.recorder.calls).toHaveLength(1);
    expect(made.faults).toEqual([expect.stringContaining('the rule bad may not invoke')]);
  });

  it('leaves no process', async () => {
    const made = await raise(template([READ_TABLE]));
    await ask(made, getItem(String(made.outputs.Table)));
    const pids = [...made.world.functions.values()].flatMap((each) => each.pids());
    expect(pids).toHaveLength(1);
    await made.close();
    for (const pid of pids) expect(() => process.kill(pid, 0)).toThrow('ESRCH');
  });
});

describe('a template that is not understood is not deployed', () => {
  const cases: [string, Json[], JsonObject, string][] = [
    [
      'a resource type',
      [READ_TABLE],
      { Q: { Type: 'AWS::Kinesis::Stream' } },
      'Q: the resource type AWS::Kinesis::Stream',
    ],
    [
      'a property',
      [READ_TABLE],
      { B: { Type: 'AWS::S3::Bucket', Properties: { ReplicationConfiguration: {} } } },
      'B/ReplicationConfiguration',
    ],
    [
      'a condition key',
      [{ ...(READ_TABLE as JsonObject), Condition: { StringEquals: { 'aws:userid': 'x' } } }],
      {},
      'the context key aws:userid',
    ],
    [
      'an element of a policy',
      [{ Effect: 'Allow', NotAction: 's3:*', Resource: '*' }],
      {},
      'the element NotAction',
    ],
    [
      'a role that Lambda may not take',
      [READ_TABLE],
      {
        Role: {
          Type: 'AWS::IAM::Role',
          Properties: { AssumeRolePolicyDocument: trust('states.amazonaws.com') },
        },
      },
      'Lambda may not take the role',
    ],
    [
      'a right to trace that comes too late',
      [READ_TABLE],
      {
        Early: {
          ...lambdaFunction('Role', 'a.b'),
          Properties: { ...lambdaProperties('a.b'), TracingConfig: { Mode: 'Active' } },
        },
      },
      'does not have permissions to call PutTraceSegments on XRAY (xray:PutTraceSegments on * is not allowed',
    ],
    [
      'a machine whose role may not deliver logs',
      [READ_TABLE],
      {
        MachineRole: {
          Type: 'AWS::IAM::Role',
          Properties: { AssumeRolePolicyDocument: trust('states.amazonaws.com') },
        },
        Machine: {
          Type: 'AWS::StepFunctions::StateMachine',
          Properties: {
            RoleArn: arnOf('MachineRole'),
            DefinitionString: '{"StartAt":"A","States":{"A":{"Type":"Succeed"}}}',
            LoggingConfiguration: { Level: 'ALL' },
          },
        },
      },
      'not authorized to access the Log Destination (logs:CreateLogDelivery on * is not allowed',
    ],
    [
      'an asset that is not there',
      [READ_TABLE],
      {
        Other: {
          ...lambdaFunction('Role', 'a.b'),
          Properties: { ...lambdaProperties('a.b'), Code: { S3Key: 'x.zip' } },
        },
      },
      'Other/Code: "x.zip"',
    ],
  ];
  it.each(cases)('%s', async (_name, statements, more, message) => {
    await expect(raise(template(statements, more))).rejects.toThrow(message);
  });
});
