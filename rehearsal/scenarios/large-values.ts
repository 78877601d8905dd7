/** Values that no record holds: parameters, results and outputs over 8 KiB, and one that is gone when it is asked for. */
import { DeleteObjectCommand, ListObjectsV2Command } from '@aws-sdk/client-s3';
import type { JsonObject } from '../../lib/blueprint/json.ts';
import { ask, check, runTo, type Scenario, type Stage, save, textAt } from '../stage.ts';
import { reading } from './blueprints.ts';

const BLUEPRINT: JsonObject = {
  id: 'large',
  params: { texts: { type: 'array', default: [] } },
  steps: [
    reading('bundle', 'index.mjs'),
    { ...reading('again', 'index.mjs'), when: '{{ length(steps.bundle) > `0` }}' },
  ],
  output: { bundle: '{{ steps.bundle }}', given: '{{ length(params.texts) }}' },
};

export const largeValues: Scenario = {
  name: 'large parameters, results and outputs go through the bucket',
  async run(stage) {
    const agent = await stage.agent(stage.admin);
    await save(agent, BLUEPRINT);
    const texts = Array.from({ length: 400 }, (_, index) => `text ${index} that is long enough to count`);
    const run = await runTo(agent, 'SUCCEEDED', 'large', { texts });
    const output = run.output as JsonObject;
    check(String(output.bundle).length > 8 * 1024 && output.given === 400, 'the output should be whole');
    const runId = textAt(run, 'runId');
    await ask(agent, 'get_run', { runId, step: 'bundle' });

    await forget(stage, runId);
    const { isError, answer } = await agent.call('get_run', { runId, step: 'bundle' });
    check(
      !JSON.stringify(answer).includes('InternalError'),
      'a value that is gone should be told as such',
      answer,
    );
    void isError;
  },
};

/** What the bucket's lifecycle does in time. */
async function forget({ deployment }: Stage, runId: string): Promise<void> {
  const { s3 } = deployment.world.clients;
  for (const { logicalId, type } of deployment.world.template.order) {
    if (type !== 'AWS::S3::Bucket') continue;
    const bucket = deployment.world.template.identityOf(logicalId).ref;
    const found = await s3.send(new ListObjectsV2Command({ Bucket: bucket }));
    for (const { Key: key } of found.Contents ?? []) {
      if (key?.includes(runId) === true) await s3.send(new DeleteObjectCommand({ Bucket: bucket, Key: key }));
    }
  }
}
