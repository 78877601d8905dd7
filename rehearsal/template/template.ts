/**
 * A template's resources in the order in which they can be made, each with its properties resolved from what those before it
 * turned out to be. Names that the template does not give are made as CloudFormation makes them, but the same each time.
 */
import { createHash } from 'node:crypto';
import { isJsonObject, type Json, type JsonObject } from '../../lib/blueprint/json.ts';
import { LOCAL_ACCOUNT, LOCAL_REGION } from '../../lib/store/aws-config.ts';
import { UnknownToRehearsal } from '../iam/refusal.ts';
import { type Names, resolve } from './intrinsics.ts';

export interface Resource {
  logicalId: string;
  /** Where the CDK makes it, e.g. `CallTool/Function/Role`; the logical id where it does not say. */
  label: string;
  type: string;
  properties: JsonObject;
}

/** What a made resource is to those that name it: its `Ref` and its attributes. */
export interface Identity {
  ref: string;
  attributes: Readonly<Record<string, Json>>;
}

export interface Template {
  stackName: string;
  /** Logical ids with their types, those left out whose condition is false; whatever one names comes before it. */
  order: readonly { logicalId: string; type: string }[];
  /** A resource with its properties resolved; throws where it names one that `made` has not been told of. */
  resourceOf(logicalId: string): Resource;
  /** A property as the template writes it, unresolved. */
  property(logicalId: string, name: string): Json | undefined;
  made(logicalId: string, identity: Identity): void;
  /** What a resource was made as; throws where it was not. */
  identityOf(logicalId: string): Identity;
  /** The stack's outputs, once everything is made. */
  outputs(): JsonObject;
  /** A name for a resource that was given none, e.g. `mwe-Table-1A2B3C4D5E6F`. */
  physicalName(logicalId: string): string;
}

const SECTIONS = [
  'Description',
  'Metadata',
  'Parameters',
  'Conditions',
  'Resources',
  'Outputs',
  'Rules',
  'Mappings',
];
const FIELDS = [
  'Type',
  'Properties',
  'DependsOn',
  'Condition',
  'Metadata',
  'DeletionPolicy',
  'UpdateReplacePolicy',
];

/** Reads a template; throws where it has what nobody here knows. */
export function readTemplate(stackName: string, source: JsonObject): Template {
  refuseOthers(source, SECTIONS, 'template');
  const resources = new Map(
    Object.entries(section(source, 'Resources')).map(([logicalId, resource]) => {
      if (!isJsonObject(resource) || typeof resource.Type !== 'string') {
        throw new UnknownToRehearsal(logicalId, JSON.stringify(resource), 'resources with a Type');
      }
      refuseOthers(resource, FIELDS, logicalId);
      return [logicalId, resource];
    }),
  );
  const identities = new Map<string, Identity>();
  const names: Names = {
    ref(name, place) {
      const known = PSEUDO[name] ?? (name === 'AWS::StackName' ? stackName : undefined);
      if (known !== undefined) return known;
      if (name === 'AWS::StackId') {
        return `arn:aws:cloudformation:${LOCAL_REGION}:${LOCAL_ACCOUNT}:stack/${stackName}/rehearsal`;
      }
      const parameter = section(source, 'Parameters')[name];
      if (isJsonObject(parameter) && parameter.Type === 'String' && parameter.Default !== undefined) {
        return parameter.Default;
      }
      return identityOf(name, place).ref;
    },
    attribute(resource, attribute, place) {
      const value = identityOf(resource, place).attributes[attribute];
      if (value !== undefined) return value;
      const type = String(resources.get(resource)?.Type);
      throw new UnknownToRehearsal(
        place,
        `the attribute ${attribute} of ${type}`,
        'what rehearsal/deploy answers',
      );
    },
    condition(name, place) {
      const condition = section(source, 'Conditions')[name];
      if (condition === undefined) throw new UnknownToRehearsal(place, `the condition ${name}`, 'Conditions');
      return resolve({ 'Fn::And': [condition] }, names, `Conditions/${name}`) === true;
    },
  };
  function identityOf(name: string, place: string): Identity {
    const identity = identities.get(name);
    if (identity === undefined)
      throw new UnknownToRehearsal(place, `the name ${name}`, 'resources made before it');
    return identity;
  }

  for (const [logicalId, resource] of resources) {
    const { Condition: condition } = resource;
    if (typeof condition === 'string' && !names.condition(condition, logicalId)) resources.delete(logicalId);
  }
  return {
    stackName,
    order: ordered(resources).map((logicalId) => ({
      logicalId,
      type: String(resources.get(logicalId)?.Type),
    })),
    resourceOf(logicalId) {
      const resource = resources.get(logicalId) ?? {};
      const properties = resolve(resource.Properties ?? {}, names, logicalId);
      return {
        logicalId,
        label: labelOf(logicalId, resource),
        type: String(resource.Type),
        properties: isJsonObject(properties) ? properties : {},
      };
    },
    property: (logicalId, name) => section(resources.get(logicalId) ?? {}, 'Properties')[name],
    made: (logicalId, identity) => void identities.set(logicalId, identity),
    identityOf: (logicalId) => identityOf(logicalId, stackName),
    outputs() {
      const outputs = Object.entries(section(source, 'Outputs'));
      return Object.fromEntries(
        outputs.map(([name, output]) => {
          const value = isJsonObject(output) ? (output.Value ?? null) : null;
          return [name, resolve(value, names, `Outputs/${name}`)];
        }),
      );
    },
    physicalName(logicalId) {
      const hash = createHash('sha256').update(`${stackName}/${logicalId}`).digest('hex').slice(0, 12);
      return `${stackName.slice(0, 16)}-${logicalId.slice(0, 24)}-${hash.toUpperCase()}`;
    },
  };
}

/** `stack/CallTool/Function/Role/Resource` → `CallTool/Function/Role`. */
function labelOf(logicalId: string, resource: JsonObject): string {
  const path = isJsonObject(resource.Metadata) ? resource.Metadata['aws:cdk:path'] : undefined;
  if (typeof path !== 'string') return logicalId;
  return path.replace(/^[^/]+\//, '').replace(/\/Resource$/, '');
}

const PSEUDO: Readonly<Record<string, string>> = {
  'AWS::Partition': 'aws',
  'AWS::Region': LOCAL_REGION,
  'AWS::AccountId': LOCAL_ACCOUNT,
  'AWS::URLSuffix': 'amazonaws.com',
};

/** Depth first along what each names and its DependsOn; throws where that goes in a circle. */
function ordered(resources: ReadonlyMap<string, JsonObject>): string[] {
  const done = new Set<string>();
  const open: string[] = [];
  const visit = (logicalId: string): void => {
    if (done.has(logicalId)) return;
    if (open.includes(logicalId))
      throw new Error(`The template goes in a circle: ${[...open, logicalId].join(' → ')}`);
    const resource = resources.get(logicalId);
    if (resource === undefined) return;
    open.push(logicalId);
    const named = new Set<string>([...dependsOn(resource), ...namesIn(resource.Properties ?? null)]);
    for (const name of named) visit(name);
    open.pop();
    done.add(logicalId);
  };
  for (const logicalId of resources.keys()) visit(logicalId);
  return [...done];
}

function dependsOn(resource: JsonObject): string[] {
  const { DependsOn: before } = resource;
  const list = before === undefined ? [] : Array.isArray(before) ? before : [before];
  return list.filter((each): each is string => typeof each === 'string');
}

/** Logical ids that a value names by Ref, GetAtt or Sub. */
function namesIn(value: Json): string[] {
  if (Array.isArray(value)) return value.flatMap(namesIn);
  if (!isJsonObject(value)) return [];
  return Object.entries(value).flatMap(([key, each]) => {
    if (key === 'Ref' && typeof each === 'string') return [each];
    if (key === 'Fn::GetAtt') return [String(Array.isArray(each) ? each[0] : each).split('.')[0] ?? ''];
    const text = key === 'Fn::Sub' ? (Array.isArray(each) ? each[0] : each) : undefined;
    const inText =
      typeof text === 'string'
        ? [...text.matchAll(/\$\{([^!}.][^}.]*)/g)].map((match) => match[1] ?? '')
        : [];
    return [...inText, ...namesIn(each)];
  });
}

function section(source: JsonObject, name: string): JsonObject {
  const found = source[name];
  return isJsonObject(found) ? found : {};
}

function refuseOthers(element: JsonObject, known: readonly string[], place: string): void {
  for (const name of Object.keys(element)) {
    if (!known.includes(name)) throw new UnknownToRehearsal(place, `the field ${name}`, known.join(', '));
  }
}
