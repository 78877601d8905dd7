/** TagResource, UntagResource and ListTagsForResource, for state machines. */
import { resourceNotFound, validationException } from '../api-error.ts';
import { parseStateMachineArn } from '../arns.ts';
import type { Operation, ServiceContext } from '../context.ts';
import { ARN, readParameters } from '../parameters.ts';
import type { Machine } from '../storage/machines.ts';
import { mergeTags, readTags } from '../tags.ts';

export const tagResource: Operation = async (context, input) => {
  const request = readParameters(input, { resourceArn: ARN, tags: { type: 'list', required: true } });
  const added = readTags(request.tags);
  return change(context, request.resourceArn, (machine) => ({
    ...machine,
    tags: mergeTags(machine.tags, added),
  }));
};

export const untagResource: Operation = async (context, input) => {
  const request = readParameters(input, { resourceArn: ARN, tagKeys: { type: 'list', required: true } });
  if (!request.tagKeys.every((key) => typeof key === 'string')) {
    throw validationException(
      "1 validation error detected: Value at 'tagKeys' failed to satisfy constraint: Member must be a list of strings",
    );
  }
  return change(context, request.resourceArn, (machine) => ({
    ...machine,
    tags: machine.tags.filter((tag) => !request.tagKeys.includes(tag.key)),
  }));
};

export const listTagsForResource: Operation = async (context, input) => {
  const request = readParameters(input, { resourceArn: ARN });
  return { tags: find(context, request.resourceArn).tags.map((tag) => ({ ...tag })) };
};

function change(context: ServiceContext, arn: string, make: (machine: Machine) => Machine) {
  return context.turns.take(arn, async () => {
    await context.machines.save(make(find(context, arn)));
    return {};
  });
}

function find(context: ServiceContext, arn: string): Machine {
  parseStateMachineArn(arn);
  const machine = context.machines.get(arn);
  if (machine === undefined) throw resourceNotFound(arn);
  return machine;
}
