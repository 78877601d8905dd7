/** DescribeStateMachine, of a machine's current revision or of a version. */
import type { JsonObject } from '../../../../blueprint/json.ts';
import { stateMachineDoesNotExist } from '../api-error.ts';
import { parseStateMachineArn } from '../arns.ts';
import { type Operation, seconds } from '../context.ts';
import { ARN, INCLUDED_DATA, readParameters } from '../parameters.ts';

export const describeStateMachine: Operation = async (context, input) => {
  const request = readParameters(input, { stateMachineArn: ARN, includedData: INCLUDED_DATA });
  const { machineArn, version } = parseStateMachineArn(request.stateMachineArn);
  const machine = context.machines.get(machineArn);
  const published = machine?.versions.find((each) => each.number === version);
  const revision = version === undefined ? machine : published;
  if (machine === undefined || revision === undefined)
    throw stateMachineDoesNotExist(request.stateMachineArn);
  const answer: JsonObject = {
    stateMachineArn: request.stateMachineArn,
    name: machine.name,
    status: machine.status,
    definition:
      request.includedData === 'METADATA_ONLY'
        ? '{}'
        : await context.machines.getDefinition(revision.definition),
    roleArn: revision.roleArn,
    type: machine.type,
    creationDate: seconds(published?.creationDate ?? machine.creationDate),
    loggingConfiguration: revision.loggingConfiguration,
    tracingConfiguration: revision.tracingConfiguration,
  };
  if (revision.revisionId !== undefined) answer.revisionId = revision.revisionId;
  if (published?.description !== undefined) answer.description = published.description;
  if (revision.encryptionConfiguration !== undefined)
    answer.encryptionConfiguration = revision.encryptionConfiguration;
  return answer;
};
