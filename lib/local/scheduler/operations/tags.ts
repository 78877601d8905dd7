/** TagResource, UntagResource, ListTagsForResource. Only schedule groups have tags. */
import { invalid, missing } from '../api-error.ts';
import { GROUPS_TURN, type Operation, type SchedulerContext } from '../context.ts';
import type { Group, Tag } from '../records.ts';
import { REQUESTS, readRequest } from '../requests.ts';

export const tagResource: Operation = async (context, input) => {
  const { ResourceArn, Tags } = readRequest(REQUESTS.tags, input);
  await changeTags(context, ResourceArn, (tags) => [
    ...tags.filter(({ Key }) => !Tags.some((tag) => tag.Key === Key)),
    ...Tags,
  ]);
  return {};
};

export const untagResource: Operation = async (context, input) => {
  const { ResourceArn, TagKeys } = readRequest(REQUESTS.untag, input);
  await changeTags(context, ResourceArn, (tags) => tags.filter(({ Key }) => !TagKeys.includes(Key)));
  return {};
};

export const listTagsForResource: Operation = async (context, input) => {
  const { ResourceArn } = readRequest(REQUESTS.listTags, input);
  return { Tags: groupOf(context, ResourceArn).tags.map(({ Key, Value }) => ({ Key, Value })) };
};

async function changeTags(
  context: SchedulerContext,
  arn: string,
  change: (tags: readonly Tag[]) => Tag[],
): Promise<void> {
  await context.turns.take(GROUPS_TURN, async () => {
    const group = groupOf(context, arn);
    await context.store.groups.save({ ...group, tags: change(group.tags) });
  });
}

function groupOf({ store }: SchedulerContext, arn: string): Group {
  const name = /^arn:aws[a-z-]*:scheduler:[a-z0-9-]+:\d{12}:schedule-group\/([0-9a-zA-Z-_.]{1,64})$/.exec(
    arn,
  )?.[1];
  if (name === undefined) throw invalid(`${arn} is not the ARN of a schedule group.`);
  const group = store.groups.get(name);
  if (group === undefined || group.arn !== arn) throw missing('Schedule group', name);
  return group;
}
