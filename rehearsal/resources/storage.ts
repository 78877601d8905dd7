/** Tables, buckets and secrets: what the deployment keeps. */
import { randomBytes, randomUUID } from 'node:crypto';
import { CreateTableCommand, type CreateTableCommandInput } from '@aws-sdk/client-dynamodb';
import { CreateBucketCommand } from '@aws-sdk/client-s3';
import { CreateSecretCommand } from '@aws-sdk/client-secrets-manager';
import { isJsonObject } from '../../lib/blueprint/json.ts';
import { LOCAL_ACCOUNT, LOCAL_REGION } from '../../lib/store/aws-config.ts';
import { parsePolicy } from '../iam/policy.ts';
import { UnknownToRehearsal } from '../iam/refusal.ts';
import type { Resource } from '../template/template.ts';
import type { Maker, World } from '../world.ts';
import { checkProperties, objectOf, optionalText, textOf } from './properties.ts';

const table: Maker = async (world, resource) => {
  const used = ['TableName', 'AttributeDefinitions', 'KeySchema', 'GlobalSecondaryIndexes', 'BillingMode'];
  checkProperties(resource, used, [
    'DeletionProtectionEnabled',
    'PointInTimeRecoverySpecification',
    // The stand-in has none; what the engine must not read any more it looks at itself.
    'TimeToLiveSpecification',
  ]);
  const name = optionalText(resource, 'TableName') ?? world.template.physicalName(resource.logicalId);
  const given = Object.fromEntries(Object.entries(resource.properties).filter(([key]) => used.includes(key)));
  await world.clients.dynamodb.send(
    new CreateTableCommand({ ...given, TableName: name } as CreateTableCommandInput),
  );
  return {
    ref: name,
    attributes: { Arn: `arn:aws:dynamodb:${LOCAL_REGION}:${LOCAL_ACCOUNT}:table/${name}` },
  };
};

const bucket: Maker = async (world, resource) => {
  checkProperties(
    resource,
    ['BucketName'],
    [
      'BucketEncryption',
      'LifecycleConfiguration',
      'LoggingConfiguration',
      'OwnershipControls',
      'PublicAccessBlockConfiguration',
      'VersioningConfiguration',
    ],
  );
  const name =
    optionalText(resource, 'BucketName') ?? world.template.physicalName(resource.logicalId).toLowerCase();
  await world.clients.s3.send(new CreateBucketCommand({ Bucket: name }));
  return {
    ref: name,
    attributes: {
      Arn: `arn:aws:s3:::${name}`,
      DomainName: `${name}.s3.amazonaws.com`,
      RegionalDomainName: `${name}.s3.${LOCAL_REGION}.amazonaws.com`,
    },
  };
};

const bucketPolicy: Maker = (world, resource) => {
  checkProperties(resource, ['Bucket', 'PolicyDocument']);
  const name = textOf(resource, 'Bucket');
  const statements = parsePolicy('resource', resource.properties.PolicyDocument, resource.label);
  world.permissions.protect(`arn:aws:s3:::${name}`, resource.label, statements);
  return { ref: resource.logicalId, attributes: {} };
};

const secret: Maker = async (world, resource) => {
  checkProperties(resource, ['Name', 'SecretString', 'GenerateSecretString'], ['Description']);
  const name = optionalText(resource, 'Name') ?? world.template.physicalName(resource.logicalId);
  const value = optionalText(resource, 'SecretString') ?? generated(resource);
  const made = await world.clients.secrets.send(
    new CreateSecretCommand({ Name: name, SecretString: value, ClientRequestToken: randomUUID() }),
  );
  const arn = made.ARN ?? '';
  world.secrets.set(name, arn);
  return { ref: arn, attributes: { Id: arn } };
};

/** Letters and digits alone: what is left out by name or kind cannot be in it. */
function generated(resource: Resource): string {
  const options = objectOf(resource, 'GenerateSecretString');
  const known = [
    'PasswordLength',
    'ExcludePunctuation',
    'ExcludeCharacters',
    'IncludeSpace',
    'SecretStringTemplate',
    'GenerateStringKey',
  ];
  for (const name of Object.keys(options)) {
    if (!known.includes(name))
      throw new UnknownToRehearsal(`${resource.logicalId}/GenerateSecretString`, name, known.join(', '));
  }
  const length = typeof options.PasswordLength === 'number' ? options.PasswordLength : 32;
  const password = randomBytes(length).toString('hex').slice(0, length);
  const { SecretStringTemplate: template, GenerateStringKey: key } = options;
  if (typeof template !== 'string' || typeof key !== 'string') return password;
  const value: unknown = JSON.parse(template);
  return JSON.stringify({ ...(isJsonObject(value) ? value : {}), [key]: password });
}

export const STORAGE: Readonly<Record<string, Maker>> = {
  'AWS::DynamoDB::Table': table,
  'AWS::S3::Bucket': bucket,
  'AWS::S3::BucketPolicy': bucketPolicy,
  'AWS::SecretsManager::Secret': secret,
};

/** ARN of a secret by its name; throws where the template made none of that name. */
export function secretArn(world: Pick<World, 'secrets'>, name: string): string {
  const arn = world.secrets.get(name);
  if (arn === undefined)
    throw new UnknownToRehearsal(
      'secretsmanager',
      `the secret ${name}`,
      [...world.secrets.keys()].join(', '),
    );
  return arn;
}
