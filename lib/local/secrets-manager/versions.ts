/**
 * One secret with its versions and their staging labels. A label stands on one version at a time; whenever AWSCURRENT moves,
 * AWSPREVIOUS goes to the version that it left. A version's value never changes.
 *
 * Source: Secrets Manager API reference, "PutSecretValue" and "UpdateSecretVersionStage".
 */
import { invalidParameter, versionExists } from './errors.ts';

export const CURRENT = 'AWSCURRENT';
const PREVIOUS = 'AWSPREVIOUS';
/** Of versions without a label as many are kept as AWS promises to. */
const MAX_VERSIONS = 100;

/** `binary` is base64, as it is sent. */
export type SecretValue = { text: string } | { binary: string };

export interface SecretVersion {
  id: string;
  value: SecretValue;
  stages: string[];
  /** ISO time. */
  createdAt: string;
}

export interface Secret {
  arn: string;
  name: string;
  description?: string;
  /** ISO times. */
  createdAt: string;
  changedAt: string;
  /** In the order they were made. */
  versions: SecretVersion[];
}

export function versionAt(secret: Secret, stage: string): SecretVersion | undefined {
  return secret.versions.find((version) => version.stages.includes(stage));
}

/**
 * Adds a version. Without `stages` it becomes the current one, as the first of a secret always does. The same id with the
 * same value changes nothing; with another it is an error.
 * @throws ApiError ResourceExistsException
 */
export function addVersion(
  secret: Secret,
  version: { id: string; value: SecretValue; stages?: readonly string[] },
  now: string,
): SecretVersion {
  const existing = secret.versions.find(({ id }) => id === version.id);
  if (existing !== undefined) {
    if (!sameValue(existing.value, version.value)) throw versionExists(version.id);
    return existing;
  }
  const added: SecretVersion = { id: version.id, value: version.value, stages: [], createdAt: now };
  const isFirst = versionAt(secret, CURRENT) === undefined;
  secret.versions.push(added);
  for (const stage of new Set([...(version.stages ?? [CURRENT]), ...(isFirst ? [CURRENT] : [])])) {
    attach(secret, stage, added);
  }
  secret.changedAt = now;
  dropOld(secret);
  return added;
}

/**
 * Moves a label. Where another version has it, `from` must name that version: the one compare-and-set that the service has.
 * @throws ApiError InvalidParameterException
 */
export function moveStage(
  secret: Secret,
  stage: string,
  from: string | undefined,
  to: string | undefined,
  now: string,
): void {
  const holder = versionAt(secret, stage);
  const target = secret.versions.find(({ id }) => id === to);
  if (to !== undefined && target === undefined) {
    throw invalidParameter(`Not a valid version: ${to}`);
  }
  if (target === undefined && from === undefined) {
    throw invalidParameter('You must specify either RemoveFromVersionId or MoveToVersionId.');
  }
  if (target === undefined && stage === CURRENT) {
    throw invalidParameter(`You can't remove the staging label ${CURRENT}; move it to another version.`);
  }
  if (holder !== undefined && holder !== target && from === undefined) {
    throw invalidParameter(
      `The parameter RemoveFromVersionId can't be empty. Staging label ${stage} is currently attached to version ${holder.id}, so you must explicitly reference that version in RemoveFromVersionId.`,
    );
  }
  if (from !== undefined && holder?.id !== from) {
    throw invalidParameter(
      `When you move staging label ${stage}, if you specify RemoveFromVersionId, it must be set to the version that currently has the staging label ${stage}.`,
    );
  }
  if (target === undefined) detach(secret, stage);
  else attach(secret, stage, target);
  secret.changedAt = now;
}

function attach(secret: Secret, stage: string, target: SecretVersion): void {
  const holder = versionAt(secret, stage);
  if (holder === target) return;
  detach(secret, stage);
  target.stages.push(stage);
  if (stage !== CURRENT || holder === undefined) return;
  detach(secret, PREVIOUS);
  holder.stages.push(PREVIOUS);
}

function detach(secret: Secret, stage: string): void {
  for (const version of secret.versions) version.stages = version.stages.filter((each) => each !== stage);
}

function dropOld(secret: Secret): void {
  const unlabelled = secret.versions.filter(({ stages }) => stages.length === 0);
  const tooMany = new Set(unlabelled.slice(0, Math.max(0, secret.versions.length - MAX_VERSIONS)));
  secret.versions = secret.versions.filter((version) => !tooMany.has(version));
}

function sameValue(a: SecretValue, b: SecretValue): boolean {
  if ('text' in a) return 'text' in b && a.text === b.text;
  return 'binary' in b && a.binary === b.binary;
}
