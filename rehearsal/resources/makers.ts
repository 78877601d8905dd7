/** The resource types that the rehearsal knows; a template with another one is not deployed. */
import type { JsonObject } from '../../lib/blueprint/json.ts';
import { UnknownToRehearsal } from '../iam/refusal.ts';
import type { Identity, Resource } from '../template/template.ts';
import type { Maker, World } from '../world.ts';
import { EVENTS } from './events.ts';
import { FUNCTIONS } from './functions.ts';
import { IDENTITY } from './identity.ts';
import { OBSERVATION } from './observation.ts';
import { STORAGE } from './storage.ts';
import { WORKFLOWS } from './workflows.ts';

const MAKERS: Readonly<Record<string, Maker>> = {
  ...STORAGE,
  ...IDENTITY,
  ...FUNCTIONS,
  ...WORKFLOWS,
  ...EVENTS,
  ...OBSERVATION,
};

/** Makes a resource of whatever type; throws for one that is not known. */
export async function makeResource(world: World, resource: Resource): Promise<Identity> {
  const { type } = resource;
  const maker = Object.hasOwn(MAKERS, type) ? MAKERS[type] : undefined;
  if (maker !== undefined) return maker(world, resource);
  if (isCustom(resource))
    return identityFrom(await world.askCustomResource(resource, { RequestType: 'Create' }));
  throw new UnknownToRehearsal(
    resource.logicalId,
    `the resource type ${type}`,
    Object.keys(MAKERS).join(', '),
  );
}

export function isCustom({ type, properties }: Resource): boolean {
  const named = type.startsWith('Custom::') || type === 'AWS::CloudFormation::CustomResource';
  return named && typeof properties.ServiceToken === 'string';
}

/** From what a custom resource's function told. */
export function identityFrom(told: JsonObject): Identity {
  return { ref: String(told.PhysicalResourceId), attributes: (told.Data ?? {}) as JsonObject };
}
