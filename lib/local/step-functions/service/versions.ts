/**
 * Publishing a version: a frozen copy of the machine's current revision under the next number.
 *
 * Idempotent as in the service: where the newest version is of the current revision already, that one is the answer.
 */
import { ApiError } from '../../api-error.ts';
import type { Machine, MachineVersion } from './storage/machines.ts';

const MAX_VERSIONS = 1000;

/** Returns a changed copy of the machine (the same one where nothing is to be done) and the version. */
export function publishVersion(
  machine: Machine,
  description: string | undefined,
  now: number,
): { machine: Machine; version: MachineVersion } {
  const newest = machine.versions.at(-1);
  if (newest !== undefined && newest.revisionId === machine.revisionId) return { machine, version: newest };
  if (machine.versions.length >= MAX_VERSIONS) {
    throw new ApiError(
      'ServiceQuotaExceededException',
      `The maximum number of versions (${MAX_VERSIONS}) has been reached for '${machine.arn}'`,
      402,
    );
  }
  const number = machine.lastVersion + 1;
  const version: MachineVersion = {
    number,
    creationDate: now,
    definition: machine.definition,
    roleArn: machine.roleArn,
    loggingConfiguration: machine.loggingConfiguration,
    tracingConfiguration: machine.tracingConfiguration,
  };
  if (machine.revisionId !== undefined) version.revisionId = machine.revisionId;
  if (machine.encryptionConfiguration !== undefined)
    version.encryptionConfiguration = machine.encryptionConfiguration;
  if (description !== undefined) version.description = description;
  return { machine: { ...machine, versions: [...machine.versions, version], lastVersion: number }, version };
}
