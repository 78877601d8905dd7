/**
 * The services that name their operation in `X-Amz-Target`: DynamoDB, Step Functions, Secrets Manager.
 *
 * Sources: service authorization reference of each; Step Functions developer guide, "Authorization for versions and aliases"
 * (a version is authorized as its machine, the qualifier is a context key); Secrets Manager user guide (ARNs end in six
 * random characters).
 */
import { isJsonObject, type Json, type JsonObject } from '../../lib/blueprint/json.ts';
import { LOCAL_ACCOUNT, LOCAL_REGION } from '../../lib/store/aws-config.ts';
import { UnknownToRehearsal } from '../iam/refusal.ts';
import { type Needed, passRole } from './needed.ts';

const ITEM_OPERATIONS = ['GetItem', 'PutItem', 'UpdateItem', 'DeleteItem', 'DescribeTable'];
const BATCH_OPERATIONS = ['BatchGetItem', 'BatchWriteItem'];
const READ_OPERATIONS = ['Query', 'Scan'];

/** A read of an index needs the index, of everything else the table. */
export function dynamoDbNeeds(operation: string, body: JsonObject): Needed[] {
  const one = (table: Json | undefined, index?: Json): Needed => ({
    action: `dynamodb:${operation}`,
    resource: `${tableArn(text('dynamodb', operation, 'TableName', table))}${typeof index === 'string' ? `/index/${index}` : ''}`,
    context: {},
  });
  if (ITEM_OPERATIONS.includes(operation)) return [one(body.TableName)];
  if (READ_OPERATIONS.includes(operation)) return [one(body.TableName, body.IndexName)];
  if (BATCH_OPERATIONS.includes(operation) && isJsonObject(body.RequestItems)) {
    return Object.keys(body.RequestItems).map((table) => one(table));
  }
  throw unknown('dynamodb', operation);
}

function tableArn(name: string): string {
  return name.startsWith('arn:') ? name : `arn:aws:dynamodb:${LOCAL_REGION}:${LOCAL_ACCOUNT}:table/${name}`;
}

const ON_MACHINE = [
  'StartExecution',
  'DescribeStateMachine',
  'DeleteStateMachine',
  'DeleteStateMachineVersion',
];
const LISTS_MACHINE = ['ListStateMachineVersions', 'ListExecutions', 'PublishStateMachineVersion'];
const ON_EXECUTION = [
  'DescribeExecution',
  'StopExecution',
  'RedriveExecution',
  'GetExecutionHistory',
  'DescribeStateMachineForExecution',
  'ListMapRuns',
];

export function stepFunctionsNeeds(operation: string, body: JsonObject): Needed[] {
  const need = (action: string, arn: string): Needed => onMachine(`states:${action}`, arn);
  const given = (field: string): string => text('states', operation, field, body[field]);
  if (operation === 'CreateStateMachine' || operation === 'UpdateStateMachine') {
    const arn = operation === 'CreateStateMachine' ? machineArn(given('name')) : given('stateMachineArn');
    return [
      need(operation, arn),
      ...(body.publish === true ? [need('PublishStateMachineVersion', arn)] : []),
      ...(Array.isArray(body.tags) && body.tags.length > 0 ? [need('TagResource', arn)] : []),
      ...(typeof body.roleArn === 'string' ? [passRole(body.roleArn, 'states.amazonaws.com')] : []),
    ];
  }
  if (operation === 'DeleteStateMachineVersion') return [need(operation, given('stateMachineVersionArn'))];
  if (ON_MACHINE.includes(operation) || LISTS_MACHINE.includes(operation)) {
    return [need(operation, given('stateMachineArn'))];
  }
  if (ON_EXECUTION.includes(operation)) {
    return [{ action: `states:${operation}`, resource: given('executionArn'), context: {} }];
  }
  if (operation === 'DescribeMapRun') {
    return [{ action: `states:${operation}`, resource: given('mapRunArn'), context: {} }];
  }
  if (operation === 'ListStateMachines' || operation === 'ValidateStateMachineDefinition') {
    return [{ action: `states:${operation}`, resource: '*', context: {} }];
  }
  throw unknown('states', operation);
}

function machineArn(name: string): string {
  return `arn:aws:states:${LOCAL_REGION}:${LOCAL_ACCOUNT}:stateMachine:${name}`;
}

/** A machine by its ARN with or without a version. */
export function onMachine(action: string, arn: string): Needed {
  const [, , , , , kind, name, qualifier] = arn.split(':');
  if (kind !== 'stateMachine' || name === undefined) {
    throw new UnknownToRehearsal(action, JSON.stringify(arn), 'ARNs of state machines');
  }
  return {
    action,
    resource: machineArn(name),
    context: qualifier === undefined ? {} : { 'states:StateMachineQualifier': qualifier },
  };
}

const SECRET_OPERATIONS = ['GetSecretValue', 'PutSecretValue', 'DescribeSecret', 'UpdateSecret'];

/** A secret is authorized by its ARN, also where it is asked for by name: `arnOf` knows it. */
export function secretsNeeds(operation: string, body: JsonObject, arnOf: (name: string) => string): Needed[] {
  if (!SECRET_OPERATIONS.includes(operation)) throw unknown('secretsmanager', operation);
  const id = text('secretsmanager', operation, 'SecretId', body.SecretId);
  return [
    { action: `secretsmanager:${operation}`, resource: id.startsWith('arn:') ? id : arnOf(id), context: {} },
  ];
}

function unknown(service: string, operation: string): UnknownToRehearsal {
  return new UnknownToRehearsal(`${service}:${operation}`, 'what it needs allowed', 'rehearsal/actions/');
}

function text(service: string, operation: string, field: string, value: Json | undefined): string {
  if (typeof value === 'string' && value !== '') return value;
  throw new UnknownToRehearsal(
    `${service}:${operation}/${field}`,
    JSON.stringify(value) ?? 'nothing',
    'a text',
  );
}
