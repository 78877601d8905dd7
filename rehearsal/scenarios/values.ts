/** What the bucket's lifecycle does in time: the values of a run are gone. */
import { DeleteObjectCommand, ListObjectsV2Command } from '@aws-sdk/client-s3';
import { check, type Stage } from '../stage.ts';

export async function forgetValues({ deployment: { world } }: Stage, runId: string): Promise<void> {
  const { s3 } = world.clients;
  let forgotten = 0;
  for (const { logicalId, type } of world.template.order) {
    if (type !== 'AWS::S3::Bucket') continue;
    const bucket = world.template.identityOf(logicalId).ref;
    const found = await s3.send(new ListObjectsV2Command({ Bucket: bucket, Prefix: `values/${runId}` }));
    for (const { Key: key } of found.Contents ?? []) {
      await s3.send(new DeleteObjectCommand({ Bucket: bucket, Key: key }));
      forgotten += 1;
    }
  }
  check(forgotten > 0, `the run ${runId} should have values in the bucket`);
}
