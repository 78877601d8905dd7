/**
 * Functions, their URLs and their policies.
 *
 * A permission is a statement of the function's policy; what AddPermission makes of each field is in the Lambda API reference and
 * developer guide ("Working with resource-based IAM policies", "Control access to Lambda function URLs").
 */
import { createHash } from 'node:crypto';
import type { JsonObject } from '../../lib/blueprint/json.ts';
import { LOCAL_REGION } from '../../lib/store/aws-config.ts';
import { functionArn } from '../actions/paths.ts';
import { parsePolicy } from '../iam/policy.ts';
import { UnknownToRehearsal } from '../iam/refusal.ts';
import { checkLambdaLimits } from '../lambda-limits.ts';
import type { Resource } from '../template/template.ts';
import type { Maker } from '../world.ts';
import { demand } from './demands.ts';
import { checkProperties, objectOf, optionalText, textOf } from './properties.ts';

const lambdaFunction: Maker = (world, resource) => {
  checkProperties(
    resource,
    ['FunctionName', 'Code', 'Handler', 'Role', 'Environment', 'Timeout', 'MemorySize'],
    [
      'Architectures',
      'Description',
      'LoggingConfig',
      'ReservedConcurrentExecutions',
      'Runtime',
      'TracingConfig',
      'VpcConfig',
      'EphemeralStorage',
    ],
  );
  const name = functionName(world.template.physicalName(resource.logicalId), resource);
  const key = objectOf(resource, 'Code').S3Key;
  const folder = typeof key === 'string' ? world.assembly.assetOf(key) : undefined;
  if (folder === undefined) {
    throw new UnknownToRehearsal(
      `${resource.logicalId}/Code`,
      JSON.stringify(key),
      'assets of this assembly',
    );
  }
  const variables = objectOf(resource, 'Environment').Variables ?? {};
  checkLambdaLimits(resource.label, variables as Record<string, string>, folder);
  const role = textOf(resource, 'Role');
  if (!world.permissions.mayAssume(role, 'lambda.amazonaws.com')) {
    throw new Error(`${resource.label}: Lambda may not take the role ${role}`);
  }
  if (objectOf(resource, 'TracingConfig').Mode === 'Active') {
    const why = 'the provided execution role does not have permissions to call PutTraceSegments on XRAY';
    demand(world, resource.label, role, ['xray:PutTraceSegments'], '*', why);
  }
  world.functionRoles.set(name, role);
  world.functions.set(name, world.startFunction(resource, folder));
  return { ref: name, attributes: { Arn: functionArn(name) } };
};

/** Of a function whose name the template does not give. */
export function functionName(physicalName: string, resource: Pick<Resource, 'properties'>): string {
  const { FunctionName: name } = resource.properties;
  return typeof name === 'string' ? name : physicalName;
}

const url: Maker = (world, resource) => {
  checkProperties(resource, ['AuthType', 'TargetFunctionArn', 'InvokeMode']);
  const target = textOf(resource, 'TargetFunctionArn');
  const name = target.split(':')[6] ?? target;
  const lambda = world.functions.get(name);
  const authType = textOf(resource, 'AuthType');
  if (lambda === undefined || (authType !== 'NONE' && authType !== 'AWS_IAM')) {
    throw new UnknownToRehearsal(
      resource.logicalId,
      `${target} with ${authType}`,
      'functions; NONE and AWS_IAM',
    );
  }
  if (optionalText(resource, 'InvokeMode') !== 'RESPONSE_STREAM') {
    throw new UnknownToRehearsal(`${resource.logicalId}/InvokeMode`, 'a buffered answer', 'RESPONSE_STREAM');
  }
  const id = createHash('sha256').update(target).digest('hex').slice(0, 32);
  const domainName = `${id}.lambda-url.${LOCAL_REGION}.on.aws`;
  world.urls.push({ functionArn: functionArn(target), domainName, authType, process: lambda });
  return { ref: target, attributes: { FunctionUrl: `https://${domainName}/`, FunctionArn: target } };
};

const permission: Maker = (world, resource) => {
  checkProperties(resource, [
    'Action',
    'FunctionName',
    'Principal',
    'SourceArn',
    'SourceAccount',
    'FunctionUrlAuthType',
    'InvokedViaFunctionUrl',
  ]);
  const arn = functionArn(textOf(resource, 'FunctionName'));
  const statement = {
    Sid: resource.logicalId,
    Effect: 'Allow',
    Principal: principalOf(textOf(resource, 'Principal')),
    Action: textOf(resource, 'Action'),
    Resource: arn,
    Condition: conditionOf(resource),
  };
  const document = { Version: '2012-10-17', Statement: [statement] };
  world.permissions.protect(arn, resource.label, parsePolicy('resource', document, resource.label));
  return { ref: resource.logicalId, attributes: {} };
};

function principalOf(principal: string): string | JsonObject {
  if (principal === '*') return '*';
  return principal.endsWith('.amazonaws.com') ? { Service: principal } : { AWS: principal };
}

function conditionOf(resource: Resource): JsonObject {
  const condition: JsonObject = {};
  const source = optionalText(resource, 'SourceArn');
  const account = optionalText(resource, 'SourceAccount');
  const authType = optionalText(resource, 'FunctionUrlAuthType');
  const equals: JsonObject = {
    ...(account === undefined ? {} : { 'aws:SourceAccount': account }),
    ...(authType === undefined ? {} : { 'lambda:FunctionUrlAuthType': authType }),
  };
  if (source !== undefined) condition.ArnLike = { 'aws:SourceArn': source };
  if (Object.keys(equals).length > 0) condition.StringEquals = equals;
  if (resource.properties.InvokedViaFunctionUrl === true) {
    condition.Bool = { 'lambda:InvokedViaFunctionUrl': 'true' };
  }
  return condition;
}

export const FUNCTIONS: Readonly<Record<string, Maker>> = {
  'AWS::Lambda::Function': lambdaFunction,
  'AWS::Lambda::Url': url,
  'AWS::Lambda::Permission': permission,
};
