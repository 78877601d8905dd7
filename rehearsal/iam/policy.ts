/**
 * Reads a policy document (identity, resource or trust) into statements. Everything is looked at, whether or not a request will
 * ever need it: an element that is not known is refused here and not passed over.
 * Source: IAM user guide, "IAM JSON policy elements reference".
 */
import { isJsonObject, type Json, type JsonObject } from '../../lib/blueprint/json.ts';
import { type Condition, parseConditions, refuseVariables } from './conditions.ts';
import { checkAction, checkArnPattern } from './patterns.ts';
import { UnknownToRehearsal } from './refusal.ts';

/** Who a resource's policy speaks of. */
export type PrincipalPattern =
  | { kind: 'everyone' }
  | { kind: 'aws'; arn: string }
  | { kind: 'service'; name: string };

export interface Statement {
  /** Where it stands, for people: policy and Sid, or position. */
  place: string;
  effect: 'Allow' | 'Deny';
  /** Absent in an identity policy. */
  principals?: readonly PrincipalPattern[];
  actions: readonly string[];
  /** `*` in a trust policy, whose resource is the role itself. */
  resources: readonly string[];
  conditions: readonly Condition[];
}

export type PolicyKind = 'identity' | 'resource' | 'trust';

const ELEMENTS: Readonly<Record<PolicyKind, readonly string[]>> = {
  identity: ['Sid', 'Effect', 'Action', 'Resource', 'Condition'],
  resource: ['Sid', 'Effect', 'Principal', 'Action', 'Resource', 'Condition'],
  trust: ['Sid', 'Effect', 'Principal', 'Action', 'Condition'],
};

/** Throws `UnknownToRehearsal`, naming place and element, for whatever it cannot judge. */
export function parsePolicy(kind: PolicyKind, document: Json | undefined, place: string): Statement[] {
  if (!isJsonObject(document))
    throw new UnknownToRehearsal(place, JSON.stringify(document), 'a policy document');
  refuseOthers(document, ['Version', 'Id', 'Statement'], place);
  if (document.Version !== '2012-10-17') {
    throw new UnknownToRehearsal(`${place}/Version`, JSON.stringify(document.Version), '"2012-10-17"');
  }
  return listOf(document.Statement).map((statement, index) => {
    if (!isJsonObject(statement)) {
      throw new UnknownToRehearsal(`${place}/Statement/${index}`, JSON.stringify(statement), 'an object');
    }
    const name = typeof statement.Sid === 'string' ? statement.Sid : String(index);
    return parseStatement(kind, statement, `${place}/${name}`);
  });
}

function parseStatement(kind: PolicyKind, statement: JsonObject, place: string): Statement {
  refuseOthers(statement, ELEMENTS[kind], place);
  const { Effect: effect } = statement;
  if (effect !== 'Allow' && effect !== 'Deny') {
    throw new UnknownToRehearsal(`${place}/Effect`, JSON.stringify(effect), '"Allow" and "Deny"');
  }
  const actions = textsOf(statement.Action, `${place}/Action`);
  for (const action of actions) checkAction(action, `${place}/Action`);
  const resources = kind === 'trust' ? ['*'] : textsOf(statement.Resource, `${place}/Resource`);
  for (const resource of resources) {
    refuseVariables(resource, `${place}/Resource`);
    checkArnPattern(resource, `${place}/Resource`);
  }
  return {
    place,
    effect,
    ...(kind === 'identity' ? {} : { principals: parsePrincipal(statement.Principal, `${place}/Principal`) }),
    actions,
    resources,
    conditions: parseConditions(statement.Condition, `${place}/Condition`),
  };
}

function parsePrincipal(element: Json | undefined, place: string): PrincipalPattern[] {
  if (element === '*') return [{ kind: 'everyone' }];
  if (!isJsonObject(element))
    throw new UnknownToRehearsal(place, JSON.stringify(element), '"*", AWS and Service');
  return Object.entries(element).flatMap(([type, value]) =>
    textsOf(value, `${place}/${type}`).map((text): PrincipalPattern => {
      if (type === 'Service' && /^[a-z0-9.-]+\.amazonaws\.com$/.test(text))
        return { kind: 'service', name: text };
      if (type === 'AWS') {
        if (text === '*') return { kind: 'everyone' };
        if (/^\d{12}$/.test(text)) return { kind: 'aws', arn: `arn:aws:iam::${text}:root` };
        if (/^arn:aws:iam::\d{12}:(root|role\/.+|user\/.+)$/.test(text)) return { kind: 'aws', arn: text };
      }
      throw new UnknownToRehearsal(
        place,
        `${type} ${JSON.stringify(text)}`,
        'services, accounts, roles and users by ARN, "*"',
      );
    }),
  );
}

function refuseOthers(element: JsonObject, known: readonly string[], place: string): void {
  for (const name of Object.keys(element)) {
    if (!known.includes(name)) throw new UnknownToRehearsal(place, `the element ${name}`, known.join(', '));
  }
}

function listOf(value: Json | undefined): readonly Json[] {
  if (value === undefined) return [];
  return Array.isArray(value) ? value : [value];
}

function textsOf(value: Json | undefined, place: string): string[] {
  const texts = listOf(value).filter((each): each is string => typeof each === 'string');
  if (texts.length === 0 || texts.length !== listOf(value).length) {
    throw new UnknownToRehearsal(place, JSON.stringify(value) ?? 'nothing', 'a string or a list of strings');
  }
  return texts;
}
