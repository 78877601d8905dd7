/**
 * State machines with their versions, and the texts of definitions.
 *
 * A machine is one small file; definitions are files of their own, named by their hash and never rewritten, because
 * versions and executions share them. All machines are held in memory (without the texts); every change is on disk before it
 * is seen.
 */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { JsonObject } from '../../../../blueprint/json.ts';
import { hashOf, makeFolder, readIfPresent, removeFile, replaceFile } from './files.ts';

/** What a revision consists of, shared by a machine and its versions. Dates are epoch milliseconds. */
export interface Revision {
  /** Hash of the definition's text. */
  definition: string;
  roleArn: string;
  /** Absent for the first revision, as in the service. */
  revisionId?: string;
  loggingConfiguration: JsonObject;
  tracingConfiguration: JsonObject;
  encryptionConfiguration?: JsonObject;
}

export interface MachineVersion extends Revision {
  number: number;
  description?: string;
  creationDate: number;
}

export interface Machine extends Revision {
  arn: string;
  name: string;
  type: 'STANDARD' | 'EXPRESS';
  status: 'ACTIVE' | 'DELETING';
  creationDate: number;
  updateDate: number;
  /** Oldest first. */
  versions: MachineVersion[];
  /** Numbers are never used twice, not even after a version was deleted. */
  lastVersion: number;
  /** `publish` and `versionDescription` of the creation: part of its idempotency. */
  created: { publish: boolean; versionDescription?: string };
  tags: { key: string; value: string }[];
}

export interface MachineStore {
  get(arn: string): Machine | undefined;
  /** By name, as the service lists them. */
  all(): Machine[];
  save(machine: Machine): Promise<void>;
  remove(arn: string): Promise<void>;
  putDefinition(text: string): Promise<string>;
  getDefinition(hash: string): Promise<string>;
}

export async function openMachineStore(dataDir: string): Promise<MachineStore> {
  const machinesDir = join(dataDir, 'machines');
  const definitionsDir = join(dataDir, 'definitions');
  await makeFolder(machinesDir);
  await makeFolder(definitionsDir);
  const machines = new Map<string, Machine>();
  for (const file of await readdir(machinesDir)) {
    const path = join(machinesDir, file);
    if (!file.endsWith('.json')) {
      await removeFile(path); // what a crash left of a replacement
      continue;
    }
    const text = await readIfPresent(path);
    if (text === undefined) continue;
    const machine = JSON.parse(text) as Machine;
    machines.set(machine.arn, machine);
  }
  const definitions = new Map<string, string>();
  const fileOf = (arn: string) => join(machinesDir, `${hashOf(arn)}.json`);

  return {
    get: (arn) => machines.get(arn),
    all: () => [...machines.values()].sort((a, b) => (a.name < b.name ? -1 : 1)),

    async save(machine) {
      await replaceFile(fileOf(machine.arn), JSON.stringify(machine));
      machines.set(machine.arn, machine);
    },

    async remove(arn) {
      await removeFile(fileOf(arn));
      machines.delete(arn);
    },

    async putDefinition(text) {
      const hash = hashOf(text);
      const path = join(definitionsDir, `${hash}.json`);
      if (!definitions.has(hash)) {
        if ((await readIfPresent(path)) !== text) await replaceFile(path, text);
        remember(definitions, hash, text);
      }
      return hash;
    },

    async getDefinition(hash) {
      const known = definitions.get(hash);
      if (known !== undefined) return known;
      const text = await readIfPresent(join(definitionsDir, `${hash}.json`));
      if (text === undefined) throw new Error('a stored definition is missing from the data folder');
      remember(definitions, hash, text);
      return text;
    },
  };
}

const MAX_REMEMBERED = 64;

function remember(definitions: Map<string, string>, hash: string, text: string): void {
  definitions.set(hash, text);
  for (const oldest of definitions.keys()) {
    if (definitions.size <= MAX_REMEMBERED) break;
    definitions.delete(oldest);
  }
}
