/** Rules of the event bus, queues for what could not be delivered, and what a failing function's events come to. */
import { isJsonObject } from '../../lib/blueprint/json.ts';
import { LOCAL_ACCOUNT, LOCAL_REGION } from '../../lib/store/aws-config.ts';
import { checkPattern } from '../event-pattern.ts';
import { parsePolicy } from '../iam/policy.ts';
import { UnknownToRehearsal } from '../iam/refusal.ts';
import type { Maker } from '../world.ts';
import { demand } from './demands.ts';
import { checkProperties, listOf, objectOf, optionalText, textOf } from './properties.ts';

const rule: Maker = (world, resource) => {
  checkProperties(
    resource,
    ['Name', 'EventPattern', 'ScheduleExpression', 'State', 'Targets'],
    ['Description'],
  );
  const name = optionalText(resource, 'Name') ?? world.template.physicalName(resource.logicalId);
  const arn = `arn:aws:events:${LOCAL_REGION}:${LOCAL_ACCOUNT}:rule/${name}`;
  const state = optionalText(resource, 'State') ?? 'ENABLED';
  if (state !== 'ENABLED') throw new UnknownToRehearsal(`${resource.logicalId}/State`, state, 'ENABLED');
  const pattern =
    resource.properties.EventPattern === undefined ? undefined : objectOf(resource, 'EventPattern');
  if (pattern !== undefined) checkPattern(pattern, `${resource.logicalId}/EventPattern`);
  const targets = listOf(resource, 'Targets').map((target) => {
    // What reaches the target is the event itself; Input and InputTransformer would change it.
    const known = ['Arn', 'Id', 'DeadLetterConfig', 'RetryPolicy'];
    const other = isJsonObject(target)
      ? Object.keys(target).find((each) => !known.includes(each))
      : 'no object';
    if (!isJsonObject(target) || other !== undefined || typeof target.Arn !== 'string') {
      throw new UnknownToRehearsal(`${resource.logicalId}/Targets`, String(other), known.join(', '));
    }
    return target.Arn;
  });
  world.rules.push({ arn, name, targets, ...(pattern === undefined ? {} : { pattern }) });
  return { ref: name, attributes: { Arn: arn } };
};

const queue: Maker = (world, resource) => {
  checkProperties(
    resource,
    ['QueueName'],
    ['MessageRetentionPeriod', 'SqsManagedSseEnabled', 'VisibilityTimeout'],
  );
  const name = optionalText(resource, 'QueueName') ?? world.template.physicalName(resource.logicalId);
  return {
    ref: `https://sqs.${LOCAL_REGION}.amazonaws.com/${LOCAL_ACCOUNT}/${name}`,
    attributes: { Arn: `arn:aws:sqs:${LOCAL_REGION}:${LOCAL_ACCOUNT}:${name}`, QueueName: name },
  };
};

const queuePolicy: Maker = (world, resource) => {
  checkProperties(resource, ['PolicyDocument', 'Queues']);
  const statements = parsePolicy('resource', resource.properties.PolicyDocument, resource.label);
  for (const url of listOf(resource, 'Queues')) {
    const arn = `arn:aws:sqs:${LOCAL_REGION}:${LOCAL_ACCOUNT}:${String(url).split('/').at(-1) ?? ''}`;
    world.permissions.protect(arn, resource.label, statements);
  }
  return { ref: resource.logicalId, attributes: {} };
};

const eventInvokeConfig: Maker = (world, resource) => {
  checkProperties(
    resource,
    ['DestinationConfig', 'FunctionName'],
    ['MaximumEventAgeInSeconds', 'MaximumRetryAttempts', 'Qualifier'],
  );
  const { OnFailure: onFailure, ...other } = objectOf(resource, 'DestinationConfig');
  const destination = isJsonObject(onFailure) ? onFailure.Destination : undefined;
  const role = world.functionRoles.get(textOf(resource, 'FunctionName'));
  if (Object.keys(other).length > 0 || typeof destination !== 'string' || role === undefined) {
    throw new UnknownToRehearsal(
      `${resource.logicalId}/DestinationConfig`,
      JSON.stringify(resource.properties),
      'OnFailure of a function of the template',
    );
  }
  const why = 'the function execution role does not have permissions to call SendMessage on SQS';
  demand(world, resource.label, role, ['sqs:SendMessage'], destination, why);
  return { ref: resource.logicalId, attributes: {} };
};

export const EVENTS: Readonly<Record<string, Maker>> = {
  'AWS::Events::Rule': rule,
  'AWS::SQS::Queue': queue,
  'AWS::SQS::QueuePolicy': queuePolicy,
  'AWS::Lambda::EventInvokeConfig': eventInvokeConfig,
};
