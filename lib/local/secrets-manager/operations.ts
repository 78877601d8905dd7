/**
 * The operations that the engine, `mwe token` and a person with the AWS CLI need. Whatever else is asked for is no operation
 * of this stand-in, and no parameter that changes what a secret holds is passed over in silence.
 *
 * Source: Secrets Manager API reference, one page an operation.
 */
import { randomInt } from 'node:crypto';
import { z } from 'zod';
import { LOCAL_ACCOUNT, LOCAL_REGION } from '../../store/aws-config.ts';
import {
  invalidParameter,
  invalidRequest,
  secretExists,
  validationException,
  valueNotFound,
} from './errors.ts';
import type { Secrets } from './secrets.ts';
import {
  addVersion,
  CURRENT,
  moveStage,
  type Secret,
  type SecretValue,
  type SecretVersion,
  versionAt,
} from './versions.ts';

export type Operation = (secrets: Secrets, input: unknown) => object | Promise<object>;

const MAX_VALUE_BYTES = 65_536;

const name = z.string().regex(/^[A-Za-z0-9/_+=.@-]{1,512}$/);
const token = z.string().min(32).max(64);
const stage = z.string().min(1).max(256);
const value = { SecretString: z.string().optional(), SecretBinary: z.string().optional() };

const createInput = z.object({
  Name: name,
  Description: z.string().max(2048).optional(),
  ClientRequestToken: token.optional(),
  ...value,
});
const getInput = z.object({
  SecretId: z.string().min(1),
  VersionId: token.optional(),
  VersionStage: stage.optional(),
});
const putInput = z.object({
  SecretId: z.string().min(1),
  ClientRequestToken: token.optional(),
  VersionStages: z.array(stage).min(1).max(20).optional(),
  ...value,
});
const describeInput = z.object({ SecretId: z.string().min(1) });
const moveInput = z.object({
  SecretId: z.string().min(1),
  VersionStage: stage,
  RemoveFromVersionId: token.optional(),
  MoveToVersionId: token.optional(),
});

function createSecret(secrets: Secrets, given: unknown): Promise<object> {
  const input = parse(createInput, given);
  const first = readValue(input);
  const id = input.ClientRequestToken;
  if (first !== undefined && id === undefined) throw tokenMissing();
  return secrets.create(() => {
    // The SDK makes a token a call; only a repeat of the same request has the same one.
    if (secrets.has(input.Name)) {
      const secret = structuredClone(secrets.find(input.Name));
      const same = id !== undefined && secret.versions.some((version) => version.id === id);
      if (!same || first === undefined || id === undefined) throw secretExists(input.Name);
      addVersion(secret, { id, value: first }, now());
      return { secret, answer: { ARN: secret.arn, Name: secret.name, VersionId: id } };
    }
    const at = now();
    const secret: Secret = {
      arn: `arn:aws:secretsmanager:${LOCAL_REGION}:${LOCAL_ACCOUNT}:secret:${input.Name}-${suffix()}`,
      name: input.Name,
      ...(input.Description === undefined ? {} : { description: input.Description }),
      createdAt: at,
      changedAt: at,
      versions: [],
    };
    if (first === undefined || id === undefined) {
      return { secret, answer: { ARN: secret.arn, Name: secret.name } };
    }
    addVersion(secret, { id, value: first }, at);
    return { secret, answer: { ARN: secret.arn, Name: secret.name, VersionId: id } };
  });
}

function getSecretValue(secrets: Secrets, given: unknown): object {
  const input = parse(getInput, given);
  const secret = secrets.find(input.SecretId);
  const version = versionFor(secret, input.VersionId, input.VersionStage);
  return {
    ARN: secret.arn,
    Name: secret.name,
    VersionId: version.id,
    VersionStages: version.stages,
    CreatedDate: seconds(version.createdAt),
    ...('text' in version.value
      ? { SecretString: version.value.text }
      : { SecretBinary: version.value.binary }),
  };
}

function versionFor(secret: Readonly<Secret>, id: string | undefined, stageName?: string): SecretVersion {
  if (id === undefined) {
    const wanted = stageName ?? CURRENT;
    const version = versionAt(secret, wanted);
    if (version === undefined) throw valueNotFound(`staging label: ${wanted}`);
    return version;
  }
  const version = secret.versions.find((each) => each.id === id);
  if (version === undefined) throw valueNotFound(`VersionId: ${id}`);
  if (stageName !== undefined && !version.stages.includes(stageName)) {
    throw invalidRequest('You provided a VersionStage that is not associated to the provided VersionId.');
  }
  return version;
}

function putSecretValue(secrets: Secrets, given: unknown): Promise<object> {
  const input = parse(putInput, given);
  const next = readValue(input);
  if (next === undefined) throw invalidRequest('You must provide either SecretString or SecretBinary.');
  const id = input.ClientRequestToken;
  if (id === undefined) throw tokenMissing();
  return secrets.change(input.SecretId, (secret) => {
    const stages = input.VersionStages === undefined ? {} : { stages: input.VersionStages };
    const version = addVersion(secret, { id, value: next, ...stages }, now());
    return { ARN: secret.arn, Name: secret.name, VersionId: version.id, VersionStages: version.stages };
  });
}

function describeSecret(secrets: Secrets, given: unknown): object {
  const secret = secrets.find(parse(describeInput, given).SecretId);
  const labelled = secret.versions.filter(({ stages }) => stages.length > 0);
  return {
    ARN: secret.arn,
    Name: secret.name,
    ...(secret.description === undefined ? {} : { Description: secret.description }),
    CreatedDate: seconds(secret.createdAt),
    LastChangedDate: seconds(secret.changedAt),
    ...(labelled.length === 0
      ? {}
      : { VersionIdsToStages: Object.fromEntries(labelled.map(({ id, stages }) => [id, stages])) }),
  };
}

function updateSecretVersionStage(secrets: Secrets, given: unknown): Promise<object> {
  const input = parse(moveInput, given);
  return secrets.change(input.SecretId, (secret) => {
    moveStage(secret, input.VersionStage, input.RemoveFromVersionId, input.MoveToVersionId, now());
    return { ARN: secret.arn, Name: secret.name };
  });
}

export const OPERATIONS: Readonly<Record<string, Operation>> = {
  CreateSecret: createSecret,
  GetSecretValue: getSecretValue,
  PutSecretValue: putSecretValue,
  DescribeSecret: describeSecret,
  UpdateSecretVersionStage: updateSecretVersionStage,
};

/** Names places, never what stands there: it may be the secret. */
function parse<T>(schema: z.ZodType<T>, given: unknown): T {
  const parsed = schema.safeParse(given);
  if (parsed.success) return parsed.data;
  const places = parsed.error.issues.map((issue) => `'${issue.path.join('.')}' (${issue.code})`);
  throw validationException(
    `${places.length} validation error(s) detected: Value at ${places.join(', ')} failed to satisfy constraint`,
  );
}

function readValue(input: {
  SecretString?: string | undefined;
  SecretBinary?: string | undefined;
}): SecretValue | undefined {
  const { SecretString: text, SecretBinary: binary } = input;
  if (text !== undefined && binary !== undefined) {
    throw invalidParameter(
      "You can't specify both a binary secret value and a string secret value in the same secret.",
    );
  }
  const bytes = text === undefined ? Buffer.byteLength(binary ?? '', 'base64') : Buffer.byteLength(text);
  if (bytes > MAX_VALUE_BYTES) {
    throw validationException(`The secret value must have length less than or equal to ${MAX_VALUE_BYTES}.`);
  }
  if (text !== undefined) return { text };
  return binary === undefined ? undefined : { binary };
}

function tokenMissing() {
  return invalidRequest('You must provide a ClientRequestToken value. We recommend a UUID-type value.');
}

function suffix(): string {
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
  return Array.from({ length: 6 }, () => letters.charAt(randomInt(letters.length))).join('');
}

function now(): string {
  return new Date().toISOString();
}

/** Epoch seconds with milliseconds, as the JSON protocol writes a time. */
function seconds(iso: string): number {
  return Date.parse(iso) / 1000;
}
