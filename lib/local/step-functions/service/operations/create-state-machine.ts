/**
 * CreateStateMachine. Idempotent in name, definition, type, logging, tracing, encryption, publish and versionDescription;
 * a different role or other tags are ignored then, as the API reference says.
 */
import { isDeepStrictEqual } from 'node:util';
import type { JsonObject } from '../../../../blueprint/json.ts';
import { stateMachineAlreadyExists, stateMachineDeleting, validationException } from '../api-error.ts';
import { checkName, checkRoleArn, stateMachineArn } from '../arns.ts';
import type { Operation } from '../context.ts';
import { seconds } from '../context.ts';
import { checkDefinition } from '../definition.ts';
import { ARN, readParameters } from '../parameters.ts';
import type { Machine } from '../storage/machines.ts';
import { readTags } from '../tags.ts';
import { publishVersion } from '../versions.ts';

export const LOGGING_OFF: JsonObject = { level: 'OFF', includeExecutionData: false };
export const TRACING_OFF: JsonObject = { enabled: false };

export const createStateMachine: Operation = async (context, input) => {
  const request = readParameters(input, {
    name: { type: 'string', required: true, min: 1, max: 80 },
    definition: { type: 'string', required: true, min: 1, maxBytes: 1_048_576 },
    roleArn: ARN,
    type: { type: 'string', values: ['STANDARD', 'EXPRESS'] },
    loggingConfiguration: { type: 'object' },
    tracingConfiguration: { type: 'object' },
    encryptionConfiguration: { type: 'object' },
    tags: { type: 'list' },
    publish: { type: 'boolean' },
    versionDescription: { type: 'string', max: 256 },
  });
  const publish = request.publish ?? false;
  checkName(request.name);
  checkRoleArn(request.roleArn);
  if (request.versionDescription !== undefined && !publish) {
    throw validationException('Version description can only be set when publish is true');
  }
  const tags = readTags(request.tags ?? []);
  const type = request.type === 'EXPRESS' ? 'EXPRESS' : 'STANDARD';
  checkDefinition(request.definition, type);
  const arn = stateMachineArn(context.place, request.name);
  return context.turns.take(arn, async () => {
    const now = context.clock.now();
    const machine: Machine = {
      arn,
      name: request.name,
      type,
      status: 'ACTIVE',
      creationDate: now,
      updateDate: now,
      versions: [],
      lastVersion: 0,
      created: { publish },
      tags,
      definition: await context.machines.putDefinition(request.definition),
      roleArn: request.roleArn,
      loggingConfiguration: request.loggingConfiguration ?? LOGGING_OFF,
      tracingConfiguration: request.tracingConfiguration ?? TRACING_OFF,
    };
    if (request.versionDescription !== undefined)
      machine.created.versionDescription = request.versionDescription;
    if (request.encryptionConfiguration !== undefined) {
      machine.encryptionConfiguration = request.encryptionConfiguration;
    }
    const known = context.machines.get(arn);
    if (known?.status === 'DELETING') throw stateMachineDeleting(arn);
    if (known !== undefined && !isDeepStrictEqual(identity(known), identity(machine))) {
      throw stateMachineAlreadyExists(arn);
    }
    const answered =
      known ?? (publish ? publishVersion(machine, request.versionDescription, now).machine : machine);
    if (known === undefined) await context.machines.save(answered);
    const answer: JsonObject = { stateMachineArn: arn, creationDate: seconds(answered.creationDate) };
    if (publish) answer.stateMachineVersionArn = `${arn}:${answered.versions[0]?.number ?? 1}`;
    return answer;
  });
};

function identity(machine: Machine) {
  const { definition, type, loggingConfiguration, tracingConfiguration, encryptionConfiguration, created } =
    machine;
  return { definition, type, loggingConfiguration, tracingConfiguration, encryptionConfiguration, created };
}
