/**
 * Deploys another template of the same stack over a deployment, as CloudFormation updates a stack: what is new is made, what differs is
 * changed, what is gone is deleted unless it is to be retained; in this order.
 *
 * It knows how to change what differs between two sets of blueprints; a change of anything else is refused with its name.
 */

import { isDeepStrictEqual } from 'node:util';
import { DeleteScheduleCommand } from '@aws-sdk/client-scheduler';
import { DeleteStateMachineCommand } from '@aws-sdk/client-sfn';
import type { Deployment } from './deploy.ts';
import { UnknownToRehearsal } from './iam/refusal.ts';
import { identityFrom, isCustom, makeResource } from './resources/makers.ts';
import { OBSERVATION } from './resources/observation.ts';
import type { Assembly } from './template/assembly.ts';
import { type Identity, type Resource, readTemplate } from './template/template.ts';
import type { World } from './world.ts';

/** Throws where a change is not known, or a resource cannot be made. */
export async function updateStack({ world }: Deployment, assembly: Assembly): Promise<void> {
  const before = world.template;
  const after = readTemplate(assembly.stackName, assembly.template);
  const known = new Set(before.order.map(({ logicalId }) => logicalId));
  world.assembly = assembly;
  for (const { logicalId } of after.order) {
    const resource = after.resourceOf(logicalId);
    after.made(
      logicalId,
      known.has(logicalId)
        ? await change(world, resource, before.resourceOf(logicalId), before.identityOf(logicalId))
        : await makeResource(world, resource),
    );
  }
  const kept = new Set(after.order.map(({ logicalId }) => logicalId));
  for (const { logicalId } of before.order.toReversed()) {
    if (!kept.has(logicalId)) await remove(world, before.resourceOf(logicalId), before.identityOf(logicalId));
  }
  world.template = after;
}

async function change(world: World, now: Resource, old: Resource, identity: Identity): Promise<Identity> {
  if (isDeepStrictEqual(now.properties, old.properties) || Object.hasOwn(OBSERVATION, now.type))
    return identity;
  if (isCustom(now)) {
    const { ServiceToken: _token, ...properties } = old.properties;
    return identityFrom(
      await world.askCustomResource(now, {
        RequestType: 'Update',
        PhysicalResourceId: identity.ref,
        OldResourceProperties: properties,
      }),
    );
  }
  if (now.type === 'AWS::Lambda::Function') {
    await world.functions.get(identity.ref)?.close();
    return makeResource(world, now);
  }
  throw new UnknownToRehearsal(
    now.logicalId,
    `a change of ${now.type}`,
    'changes of functions and custom resources',
  );
}

async function remove(
  world: World,
  { type, logicalId, properties }: Resource,
  identity: Identity,
): Promise<void> {
  switch (type) {
    case 'AWS::StepFunctions::StateMachine':
      await world.clients.sfn.send(new DeleteStateMachineCommand({ stateMachineArn: identity.ref }));
      return;
    case 'AWS::StepFunctions::StateMachineVersion':
      // Retained by the template; and gone with its machine where that is gone.
      return;
    case 'AWS::Scheduler::Schedule':
      await world.clients.scheduler.send(
        new DeleteScheduleCommand({ Name: identity.ref, GroupName: String(properties.GroupName) }),
      );
      return;
    default:
      throw new UnknownToRehearsal(
        logicalId,
        `the end of ${type}`,
        'the end of machines, versions and schedules',
      );
  }
}
