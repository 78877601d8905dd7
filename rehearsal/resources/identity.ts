/** Roles and policies. */
import { isJsonObject } from '../../lib/blueprint/json.ts';
import { LOCAL_ACCOUNT } from '../../lib/store/aws-config.ts';
import { parsePolicy } from '../iam/policy.ts';
import { UnknownToRehearsal } from '../iam/refusal.ts';
import type { Maker } from '../world.ts';
import { checkProperties, listOf, optionalText } from './properties.ts';

const role: Maker = ({ template, permissions }, resource) => {
  checkProperties(
    resource,
    ['AssumeRolePolicyDocument', 'RoleName', 'Policies', 'Path'],
    ['Description', 'MaxSessionDuration'],
  );
  const name = optionalText(resource, 'RoleName') ?? template.physicalName(resource.logicalId);
  const path = optionalText(resource, 'Path') ?? '/';
  const arn = `arn:aws:iam::${LOCAL_ACCOUNT}:role${path}${name}`;
  const trust = parsePolicy(
    'trust',
    resource.properties.AssumeRolePolicyDocument,
    `${resource.label} (trust)`,
  );
  permissions.addRole({ arn, name, label: resource.label, trust });
  for (const policy of listOf(resource, 'Policies')) {
    if (!isJsonObject(policy))
      throw new UnknownToRehearsal(resource.label, JSON.stringify(policy), 'policies');
    permissions.attach(
      name,
      parsePolicy('identity', policy.PolicyDocument, `${resource.label}/${String(policy.PolicyName)}`),
    );
  }
  return {
    ref: name,
    attributes: { Arn: arn, RoleId: `AROA${name.toUpperCase().replace(/[^A-Z0-9]/g, '')}` },
  };
};

const policy: Maker = ({ permissions }, resource) => {
  checkProperties(resource, ['PolicyDocument', 'Roles'], ['PolicyName']);
  const statements = parsePolicy('identity', resource.properties.PolicyDocument, resource.label);
  for (const name of listOf(resource, 'Roles')) permissions.attach(String(name), statements);
  return { ref: resource.logicalId, attributes: {} };
};

export const IDENTITY: Readonly<Record<string, Maker>> = {
  'AWS::IAM::Role': role,
  'AWS::IAM::Policy': policy,
};
