/**
 * Which revision of which machine an ARN names: the machine's current one, or that of a published version.
 */
import { stateMachineDeleting, stateMachineDoesNotExist } from './api-error.ts';
import { parseStateMachineArn } from './arns.ts';
import type { Machine, MachineStore, Revision } from './storage/machines.ts';

export interface FoundRevision {
  machine: Machine;
  revision: Revision;
  /** Present where the ARN names a version. */
  version?: number;
}

/** Throws `InvalidArn`, `StateMachineDoesNotExist` or `StateMachineDeleting`. */
export function findRevision(machines: MachineStore, arn: string): FoundRevision {
  const { machineArn, version } = parseStateMachineArn(arn);
  const machine = machines.get(machineArn);
  if (machine === undefined) throw stateMachineDoesNotExist(arn);
  if (machine.status === 'DELETING') throw stateMachineDeleting(arn);
  if (version === undefined) return { machine, revision: machine };
  const revision = machine.versions.find((each) => each.number === version);
  if (revision === undefined) throw stateMachineDoesNotExist(arn);
  return { machine, revision, version };
}

/** The machine itself, for operations that take no version. Throws as `findRevision` does. */
export function findMachine(machines: MachineStore, arn: string): Machine {
  const { machineArn, version } = parseStateMachineArn(arn);
  const machine = machines.get(machineArn);
  if (machine === undefined || version !== undefined) throw stateMachineDoesNotExist(arn);
  if (machine.status === 'DELETING') throw stateMachineDeleting(arn);
  return machine;
}
