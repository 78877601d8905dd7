/** State machines and their versions, schedules and their groups. */

import { readFileSync } from 'node:fs';
import {
  CreateScheduleCommand,
  type CreateScheduleCommandInput,
  CreateScheduleGroupCommand,
} from '@aws-sdk/client-scheduler';
import {
  CreateStateMachineCommand,
  type CreateStateMachineCommandInput,
  PublishStateMachineVersionCommand,
} from '@aws-sdk/client-sfn';
import type { Json } from '../../lib/blueprint/json.ts';
import { LOCAL_ACCOUNT, LOCAL_REGION } from '../../lib/store/aws-config.ts';
import { MANAGED_RULE, MANAGED_RULE_ACTIONS } from '../actions/machine.ts';
import { UnknownToRehearsal } from '../iam/refusal.ts';
import type { Resource } from '../template/template.ts';
import type { Maker, World } from '../world.ts';
import { demand, LOG_DELIVERY } from './demands.ts';
import { checkProperties, lowerCamel, objectOf, optionalText, textOf } from './properties.ts';

const stateMachine: Maker = async (world, resource) => {
  checkProperties(resource, [
    'StateMachineName',
    'StateMachineType',
    'RoleArn',
    'Definition',
    'DefinitionString',
    'DefinitionS3Location',
    'DefinitionSubstitutions',
    'LoggingConfiguration',
    'TracingConfiguration',
  ]);
  const name = optionalText(resource, 'StateMachineName') ?? world.template.physicalName(resource.logicalId);
  const roleArn = textOf(resource, 'RoleArn');
  const arn = `arn:aws:states:${LOCAL_REGION}:${LOCAL_ACCOUNT}:stateMachine:${name}`;
  if (!world.permissions.mayAssume(roleArn, 'states.amazonaws.com', arn)) {
    throw new Error(`${resource.label}: Step Functions may not take the role ${roleArn}`);
  }
  const { LoggingConfiguration: logging, TracingConfiguration: tracing } = resource.properties;
  const definition = definitionOf(world, resource);
  if (logging !== undefined) {
    const why = 'the state machine IAM Role is not authorized to access the Log Destination';
    demand(world, resource.label, roleArn, LOG_DELIVERY, '*', why);
  }
  if (definition.includes('.sync')) {
    const why = `${roleArn} is not authorized to create managed-rule`;
    demand(world, resource.label, roleArn, MANAGED_RULE_ACTIONS, MANAGED_RULE, why);
  }
  await world.clients.sfn.send(
    new CreateStateMachineCommand({
      name,
      roleArn,
      type: optionalText(resource, 'StateMachineType') ?? 'STANDARD',
      definition,
      ...(logging === undefined ? {} : { loggingConfiguration: lowerCamel(logging) }),
      ...(tracing === undefined ? {} : { tracingConfiguration: lowerCamel(tracing) }),
    } as CreateStateMachineCommandInput),
  );
  return { ref: arn, attributes: { Arn: arn, Name: name, StateMachineRevisionId: 'rehearsal' } };
};

/** From the template or from an asset, with `${names}` filled in as CloudFormation does. */
function definitionOf(world: World, resource: Resource): string {
  const { Definition: object, DefinitionS3Location: location } = resource.properties;
  let text =
    optionalText(resource, 'DefinitionString') ?? (object === undefined ? undefined : JSON.stringify(object));
  if (location !== undefined) {
    const key = objectOf(resource, 'DefinitionS3Location').Key;
    const file = typeof key === 'string' ? world.assembly.assetOf(key) : undefined;
    if (file === undefined) {
      throw new UnknownToRehearsal(
        `${resource.logicalId}/DefinitionS3Location`,
        JSON.stringify(key),
        'assets of this assembly',
      );
    }
    text = readFileSync(file, 'utf8');
  }
  if (text === undefined)
    throw new UnknownToRehearsal(resource.logicalId, 'no definition', 'state machines with one');
  const substitutions = objectOf(resource, 'DefinitionSubstitutions');
  return text.replace(/\$\{([A-Za-z0-9_]+)\}/g, (whole, name: string) => {
    const value: Json | undefined = substitutions[name];
    return value === undefined ? whole : String(value);
  });
}

const stateMachineVersion: Maker = async (world, resource) => {
  checkProperties(resource, ['StateMachineArn', 'StateMachineRevisionId', 'Description']);
  const description = optionalText(resource, 'Description');
  const published = await world.clients.sfn.send(
    new PublishStateMachineVersionCommand({
      stateMachineArn: textOf(resource, 'StateMachineArn'),
      ...(description === undefined ? {} : { description }),
    }),
  );
  const arn = published.stateMachineVersionArn ?? '';
  return { ref: arn, attributes: { Arn: arn } };
};

const scheduleGroup: Maker = async (world, resource) => {
  checkProperties(resource, ['Name']);
  const name = optionalText(resource, 'Name') ?? world.template.physicalName(resource.logicalId);
  await world.clients.scheduler.send(new CreateScheduleGroupCommand({ Name: name }));
  const arn = `arn:aws:scheduler:${LOCAL_REGION}:${LOCAL_ACCOUNT}:schedule-group/${name}`;
  return { ref: name, attributes: { Arn: arn } };
};

const schedule: Maker = async (world, resource) => {
  checkProperties(resource, [
    'Name',
    'GroupName',
    'Description',
    'ScheduleExpression',
    'ScheduleExpressionTimezone',
    'State',
    'FlexibleTimeWindow',
    'Target',
    'StartDate',
    'EndDate',
    'ActionAfterCompletion',
  ]);
  const name = optionalText(resource, 'Name') ?? world.template.physicalName(resource.logicalId);
  const group = optionalText(resource, 'GroupName') ?? 'default';
  const { StartDate: start, EndDate: end, ...properties } = resource.properties;
  await world.clients.scheduler.send(
    new CreateScheduleCommand({
      ...properties,
      Name: name,
      ...(start === undefined ? {} : { StartDate: new Date(String(start)) }),
      ...(end === undefined ? {} : { EndDate: new Date(String(end)) }),
    } as unknown as CreateScheduleCommandInput),
  );
  const arn = `arn:aws:scheduler:${LOCAL_REGION}:${LOCAL_ACCOUNT}:schedule/${group}/${name}`;
  return { ref: name, attributes: { Arn: arn } };
};

export const WORKFLOWS: Readonly<Record<string, Maker>> = {
  'AWS::StepFunctions::StateMachine': stateMachine,
  'AWS::StepFunctions::StateMachineVersion': stateMachineVersion,
  'AWS::Scheduler::ScheduleGroup': scheduleGroup,
  'AWS::Scheduler::Schedule': schedule,
};
