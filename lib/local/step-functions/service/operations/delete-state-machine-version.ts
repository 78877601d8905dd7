/** DeleteStateMachineVersion. Deleting what is not there succeeds; running executions of the version go on. */
import { validationException } from '../api-error.ts';
import { parseStateMachineArn } from '../arns.ts';
import type { Operation } from '../context.ts';
import { LONG_ARN, readParameters } from '../parameters.ts';

export const deleteStateMachineVersion: Operation = async (context, input) => {
  const request = readParameters(input, { stateMachineVersionArn: LONG_ARN });
  const { machineArn, version } = parseStateMachineArn(request.stateMachineVersionArn);
  if (version === undefined)
    throw validationException('The state machine version ARN must include a version number');
  return context.turns.take(machineArn, async () => {
    const machine = context.machines.get(machineArn);
    const versions = machine?.versions.filter((each) => each.number !== version);
    if (machine !== undefined && versions !== undefined && versions.length < machine.versions.length) {
      await context.machines.save({ ...machine, versions });
    }
    return {};
  });
};
