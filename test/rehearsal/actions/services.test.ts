/** Requests as the SDK's clients really send them, and what IAM is asked about each. */
import { DynamoDBClient, GetItemCommand } from '@aws-sdk/client-dynamodb';
import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import {
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import {
  CreateScheduleCommand,
  DeleteScheduleCommand,
  GetScheduleCommand,
  ListSchedulesCommand,
  SchedulerClient,
} from '@aws-sdk/client-scheduler';
import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import {
  CreateStateMachineCommand,
  RedriveExecutionCommand,
  SFNClient,
  StartExecutionCommand,
  UpdateStateMachineCommand,
} from '@aws-sdk/client-sfn';
import { BatchGetCommand, DynamoDBDocumentClient, QueryCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isJsonObject, type JsonObject } from '../../../lib/blueprint/json.ts';
import { type RunningServer, readRequestBody, startServer } from '../../../lib/local/http-server.ts';
import { clientConfig } from '../../../lib/store/aws-config.ts';
import { machineNeeds } from '../../../rehearsal/actions/machine.ts';
import type { Needed, ServiceRequest } from '../../../rehearsal/actions/needed.ts';
import { accessKeyOf, neededBy, type ServiceName } from '../../../rehearsal/actions/services.ts';

const HERE = 'us-east-1:000000000000';
const ROLE = 'arn:aws:iam::000000000000:role/machines';
const TABLE = `arn:aws:dynamodb:${HERE}:table/mwe`;
const MACHINE = `arn:aws:states:${HERE}:stateMachine:mwe-a`;
const EXECUTION = `arn:aws:states:${HERE}:execution:mwe-a:run-1`;
const SECRET = `arn:aws:secretsmanager:${HERE}:secret:tokens-AbCdEf`;

let server: RunningServer;
let seen: ServiceRequest | undefined;

beforeAll(async () => {
  server = await startServer(async (request, response) => {
    const body = (await readRequestBody(request, 1024 * 1024)).toString('utf8');
    const json: unknown = body.startsWith('{') ? JSON.parse(body) : {};
    seen = {
      method: request.method ?? '',
      url: request.url ?? '',
      headers: Object.fromEntries(
        Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
      ),
      body: isJsonObject(json) ? json : {},
    };
    // What comes of it is of no interest: the request is.
    response.writeHead(400, { 'Content-Length': 0 }).end();
  });
});
afterAll(() => server.close());

/** Sends it with a real client and answers what was asked of IAM. */
async function asked(service: ServiceName, send: (endpoint: string) => Promise<unknown>): Promise<Needed[]> {
  seen = undefined;
  await send(server.url).catch(() => undefined);
  const request = seen as ServiceRequest | undefined;
  if (request === undefined) throw new Error('the client sent nothing');
  expect(accessKeyOf(request.headers.authorization)).toBe('role-endpoint');
  return neededBy(service, request, { secretArn: () => SECRET });
}

const config = (endpoint: string) =>
  clientConfig({
    region: 'us-east-1',
    endpoint,
    credentials: { accessKeyId: 'role-endpoint', secretAccessKey: 'x', sessionToken: 'y' },
  });
const document = (endpoint: string) => DynamoDBDocumentClient.from(new DynamoDBClient(config(endpoint)));
const need = (action: string, resource: string, context = {}): Needed => ({ action, resource, context });

describe('what a request needs allowed', () => {
  const s3 = (endpoint: string) => new S3Client({ ...config(endpoint), forcePathStyle: true });
  const target = { Arn: 'arn:aws:scheduler:::aws-sdk:sfn:startExecution', RoleArn: ROLE };
  const schedule = { Name: 'nightly', GroupName: 'mwe' };
  const cases: [string, ServiceName, (endpoint: string) => Promise<unknown>, Needed[]][] = [
    [
      'GetItem',
      'DYNAMODB',
      (at) => new DynamoDBClient(config(at)).send(new GetItemCommand({ TableName: 'mwe', Key: {} })),
      [need('dynamodb:GetItem', TABLE)],
    ],
    [
      'Query of an index',
      'DYNAMODB',
      (at) => document(at).send(new QueryCommand({ TableName: 'mwe', IndexName: 'by-time' })),
      [need('dynamodb:Query', `${TABLE}/index/by-time`)],
    ],
    [
      'Query of the table',
      'DYNAMODB',
      (at) => document(at).send(new QueryCommand({ TableName: 'mwe' })),
      [need('dynamodb:Query', TABLE)],
    ],
    [
      'BatchGetItem',
      'DYNAMODB',
      (at) => document(at).send(new BatchGetCommand({ RequestItems: { mwe: { Keys: [{ a: '1' }] } } })),
      [need('dynamodb:BatchGetItem', TABLE)],
    ],
    [
      'GetObject with a key of many parts',
      'S3',
      (at) => s3(at).send(new GetObjectCommand({ Bucket: 'docs', Key: 'blueprints/a b/c.json' })),
      [need('s3:GetObject', 'arn:aws:s3:::docs/blueprints/a b/c.json')],
    ],
    [
      'HeadObject',
      'S3',
      (at) => s3(at).send(new HeadObjectCommand({ Bucket: 'docs', Key: 'k' })),
      [need('s3:GetObject', 'arn:aws:s3:::docs/k')],
    ],
    [
      'PutObject',
      'S3',
      (at) => s3(at).send(new PutObjectCommand({ Bucket: 'docs', Key: 'k', Body: 'x', IfNoneMatch: '*' })),
      [need('s3:PutObject', 'arn:aws:s3:::docs/k')],
    ],
    [
      'ListObjectsV2',
      'S3',
      (at) => s3(at).send(new ListObjectsV2Command({ Bucket: 'docs', Prefix: 'values/' })),
      [need('s3:ListBucket', 'arn:aws:s3:::docs', { 's3:prefix': 'values/' })],
    ],
    [
      'CreateStateMachine that publishes',
      'SFN',
      (at) =>
        new SFNClient(config(at)).send(
          new CreateStateMachineCommand({ name: 'mwe-a', definition: '{}', roleArn: ROLE, publish: true }),
        ),
      [
        need('states:CreateStateMachine', MACHINE),
        need('states:PublishStateMachineVersion', MACHINE),
        need('iam:PassRole', ROLE, { 'iam:PassedToService': 'states.amazonaws.com' }),
      ],
    ],
    [
      'UpdateStateMachine',
      'SFN',
      (at) => new SFNClient(config(at)).send(new UpdateStateMachineCommand({ stateMachineArn: MACHINE })),
      [need('states:UpdateStateMachine', MACHINE)],
    ],
    [
      'StartExecution of a version',
      'SFN',
      (at) => new SFNClient(config(at)).send(new StartExecutionCommand({ stateMachineArn: `${MACHINE}:3` })),
      [need('states:StartExecution', MACHINE, { 'states:StateMachineQualifier': '3' })],
    ],
    [
      'RedriveExecution',
      'SFN',
      (at) => new SFNClient(config(at)).send(new RedriveExecutionCommand({ executionArn: EXECUTION })),
      [need('states:RedriveExecution', EXECUTION)],
    ],
    [
      'Invoke by ARN',
      'LAMBDA',
      (at) =>
        new LambdaClient(config(at)).send(
          new InvokeCommand({ FunctionName: `arn:aws:lambda:${HERE}:function:f`, Payload: '{}' }),
        ),
      [need('lambda:InvokeFunction', `arn:aws:lambda:${HERE}:function:f`)],
    ],
    [
      'Invoke by name',
      'LAMBDA',
      (at) => new LambdaClient(config(at)).send(new InvokeCommand({ FunctionName: 'f' })),
      [need('lambda:InvokeFunction', `arn:aws:lambda:${HERE}:function:f`)],
    ],
    [
      'CreateSchedule',
      'SCHEDULER',
      (at) =>
        new SchedulerClient(config(at)).send(
          new CreateScheduleCommand({
            ...schedule,
            ScheduleExpression: 'rate(1 day)',
            FlexibleTimeWindow: { Mode: 'OFF' },
            Target: target,
          }),
        ),
      [
        need('scheduler:CreateSchedule', `arn:aws:scheduler:${HERE}:schedule/mwe/nightly`),
        need('iam:PassRole', ROLE, { 'iam:PassedToService': 'scheduler.amazonaws.com' }),
      ],
    ],
    [
      'GetSchedule',
      'SCHEDULER',
      (at) => new SchedulerClient(config(at)).send(new GetScheduleCommand(schedule)),
      [need('scheduler:GetSchedule', `arn:aws:scheduler:${HERE}:schedule/mwe/nightly`)],
    ],
    [
      'DeleteSchedule',
      'SCHEDULER',
      (at) => new SchedulerClient(config(at)).send(new DeleteScheduleCommand(schedule)),
      [need('scheduler:DeleteSchedule', `arn:aws:scheduler:${HERE}:schedule/mwe/nightly`)],
    ],
    [
      'ListSchedules',
      'SCHEDULER',
      (at) => new SchedulerClient(config(at)).send(new ListSchedulesCommand({ GroupName: 'mwe' })),
      [need('scheduler:ListSchedules', '*')],
    ],
    [
      'GetSecretValue by name',
      'SECRETS_MANAGER',
      (at) => new SecretsManagerClient(config(at)).send(new GetSecretValueCommand({ SecretId: 'tokens' })),
      [need('secretsmanager:GetSecretValue', SECRET)],
    ],
  ];
  it.each(cases)('%s', async (_name, service, send, expected) => {
    expect(await asked(service, send)).toEqual(expected);
  });

  const refused: [string, ServiceName, Partial<ServiceRequest>, string][] = [
    [
      'an operation',
      'DYNAMODB',
      { headers: { 'x-amz-target': 'DynamoDB_20120810.DeleteTable' } },
      'dynamodb:DeleteTable',
    ],
    ['another protocol', 'SFN', { headers: { 'x-amz-target': 'Other.StartExecution' } }, 'X-Amz-Target'],
    ['a sub-resource', 'S3', { url: '/docs/k?tagging' }, 'with tagging'],
    ['a version of an object', 'S3', { url: '/docs/k?versionId=1' }, 'with versionId'],
    [
      'tags',
      'S3',
      { method: 'PUT', url: '/docs/k', headers: { 'x-amz-tagging': 'a=b' } },
      'with x-amz-tagging',
    ],
    ['a bucket of its own', 'S3', { method: 'PUT', url: '/docs' }, 'PUT /docs'],
    ['a list of functions', 'LAMBDA', { url: '/2015-03-31/functions/' }, 'GET /2015-03-31/functions/'],
    ['a group', 'SCHEDULER', { method: 'POST', url: '/schedule-groups/a' }, 'POST /schedule-groups/a'],
  ];
  it.each(refused)('refuses %s', (_name, service, request, message) => {
    const whole: ServiceRequest = { method: 'GET', url: '/', headers: {}, body: {}, ...request };
    expect(() => neededBy(service, whole, { secretArn: () => SECRET })).toThrow(message);
  });
});

describe("what a state machine's role needs", () => {
  const nameless = (needs: Needed[]): JsonObject =>
    Object.fromEntries(needs.map(({ action, resource }) => [action, resource]));
  it('an invocation', () => {
    expect(machineNeeds({ kind: 'invoke', functionName: 'f' })).toEqual([
      need('lambda:InvokeFunction', `arn:aws:lambda:${HERE}:function:f`),
    ]);
  });
  it('a nested execution, its end and the managed rule', () => {
    const rule = `arn:aws:events:${HERE}:rule/StepFunctionsGetEventsForStepFunctionsExecutionRule`;
    const call = { kind: 'nested', stateMachineArn: `${MACHINE}:2`, executionArn: EXECUTION } as const;
    expect(nameless(machineNeeds(call))).toEqual({
      'states:StartExecution': MACHINE,
      'states:DescribeExecution': EXECUTION,
      'states:StopExecution': EXECUTION,
      'events:PutRule': rule,
      'events:PutTargets': rule,
      'events:DescribeRule': rule,
    });
  });
  it("a distributed map's children", () => {
    const child = {
      kind: 'mapChild',
      mapRunArn: `arn:aws:states:${HERE}:mapRun:mwe-a/items:1-2`,
      executionArn: `arn:aws:states:${HERE}:execution:mwe-a/items:x`,
    } as const;
    expect(nameless(machineNeeds({ ...child, redriven: false }))).toEqual({
      'states:StartExecution': MACHINE,
    });
    expect(nameless(machineNeeds({ ...child, redriven: true }))).toEqual({
      'states:RedriveExecution': child.executionArn,
    });
  });
});
