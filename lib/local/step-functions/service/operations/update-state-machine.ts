/**
 * UpdateStateMachine. What changes something makes a new revision with a new id; what changes nothing answers the
 * revision there is. Running executions keep the revision they were started with.
 */
import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { JsonObject } from '../../../../blueprint/json.ts';
import { ApiError } from '../../../api-error.ts';
import { validationException } from '../api-error.ts';
import { checkRoleArn } from '../arns.ts';
import { type Operation, seconds } from '../context.ts';
import { checkDefinition } from '../definition.ts';
import { ARN, readParameters } from '../parameters.ts';
import { findMachine } from '../revisions.ts';
import type { Machine, Revision } from '../storage/machines.ts';
import { publishVersion } from '../versions.ts';

export const updateStateMachine: Operation = async (context, input) => {
  const request = readParameters(input, {
    stateMachineArn: ARN,
    definition: { type: 'string', min: 1, maxBytes: 1_048_576 },
    roleArn: { type: 'string', min: 1, max: 256 },
    loggingConfiguration: { type: 'object' },
    tracingConfiguration: { type: 'object' },
    encryptionConfiguration: { type: 'object' },
    publish: { type: 'boolean' },
    versionDescription: { type: 'string', max: 256 },
  });
  const { definition, roleArn, loggingConfiguration, tracingConfiguration, encryptionConfiguration } =
    request;
  const publish = request.publish ?? false;
  if (request.versionDescription !== undefined && !publish) {
    throw validationException('Version description can only be set when publish is true');
  }
  const known = findMachine(context.machines, request.stateMachineArn);
  const given = [definition, roleArn, loggingConfiguration, tracingConfiguration, encryptionConfiguration];
  if (given.every((each) => each === undefined) && !publish) {
    throw new ApiError(
      'MissingRequiredParameter',
      'Either the definition, the role ARN, the LoggingConfiguration, or the TracingConfiguration must be specified',
    );
  }
  if (roleArn !== undefined) checkRoleArn(roleArn);
  if (definition !== undefined) checkDefinition(definition, known.type);
  return context.turns.take(known.arn, async () => {
    const current = findMachine(context.machines, request.stateMachineArn);
    const now = context.clock.now();
    let machine: Machine = { ...current };
    if (definition !== undefined) machine.definition = await context.machines.putDefinition(definition);
    if (roleArn !== undefined) machine.roleArn = roleArn;
    if (loggingConfiguration !== undefined) machine.loggingConfiguration = loggingConfiguration;
    if (tracingConfiguration !== undefined) machine.tracingConfiguration = tracingConfiguration;
    if (encryptionConfiguration !== undefined) machine.encryptionConfiguration = encryptionConfiguration;
    if (!isDeepStrictEqual(contents(machine), contents(current))) {
      machine.revisionId = randomUUID();
      machine.updateDate = now;
    }
    const answer: JsonObject = { updateDate: seconds(now) };
    if (machine.revisionId !== undefined) answer.revisionId = machine.revisionId;
    if (publish) {
      const published = publishVersion(machine, request.versionDescription, now);
      machine = published.machine;
      answer.stateMachineVersionArn = `${machine.arn}:${published.version.number}`;
    }
    await context.machines.save(machine);
    return answer;
  });
};

function contents(revision: Revision) {
  const { definition, roleArn, loggingConfiguration, tracingConfiguration, encryptionConfiguration } =
    revision;
  return { definition, roleArn, loggingConfiguration, tracingConfiguration, encryptionConfiguration };
}
