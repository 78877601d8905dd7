/** PublishStateMachineVersion, optionally only if the current revision is the one that the caller knows. */
import { ApiError } from '../../../api-error.ts';
import { type Operation, seconds } from '../context.ts';
import { ARN, readParameters } from '../parameters.ts';
import { findMachine } from '../revisions.ts';
import { publishVersion } from '../versions.ts';

/** What the first revision, which has no id, is called in a request. */
const INITIAL = 'INITIAL';

export const publishStateMachineVersion: Operation = async (context, input) => {
  const request = readParameters(input, {
    stateMachineArn: ARN,
    revisionId: { type: 'string' },
    description: { type: 'string', max: 256 },
  });
  const arn = findMachine(context.machines, request.stateMachineArn).arn;
  return context.turns.take(arn, async () => {
    const machine = findMachine(context.machines, request.stateMachineArn);
    const current = machine.revisionId ?? INITIAL;
    if (request.revisionId !== undefined && request.revisionId !== current) {
      throw new ApiError(
        'ConflictException',
        `Failed to publish the State Machine version for revision ${request.revisionId}. The current State Machine revision is ${current}.`,
        409,
      );
    }
    const published = publishVersion(machine, request.description, context.clock.now());
    if (published.machine !== machine) await context.machines.save(published.machine);
    return {
      creationDate: seconds(published.version.creationDate),
      stateMachineVersionArn: `${arn}:${published.version.number}`,
    };
  });
};
