/** Redriving in the console: a parent whose child failed goes on with that child, and so do the items of a distributed map. */

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { RedriveExecutionCommand } from '@aws-sdk/client-sfn';
import {
  check,
  executionEnds,
  runBecomes,
  runTo,
  type Scenario,
  type Stage,
  save,
  textAt,
} from '../stage.ts';
import { mapOver, parentOf, reading } from './blueprints.ts';
import { executionArn } from './executions.ts';

/** The file that is missing at first, beside call-tool's bundle. */
const LATE = 'late.txt';

export const redriven: Scenario = {
  name: 'failed runs are redriven in the console',
  async run(stage) {
    const agent = await stage.agent(stage.admin);
    await save(agent, {
      id: 'late-child',
      params: { path: { type: 'string' } },
      steps: [reading('late', LATE)],
    });
    await save(agent, parentOf('late-parent', 'late-child'));
    const map = mapOver('late-map', 100_000);
    await save(agent, {
      ...map,
      steps: (map.steps as { do: object }[]).map((each) => ({ ...each, do: reading('late', LATE) })),
    });
    const parent = await runTo(agent, 'FAILED', 'late-parent');
    const mapped = await runTo(agent, 'FAILED', 'late-map');

    await writeFile(join(callToolFolder(stage), LATE), 'here now');
    for (const run of [parent, mapped]) {
      const arn = executionArn(run);
      await stage.deployment.world.clients.sfn.send(new RedriveExecutionCommand({ executionArn: arn }));
      const status = await executionEnds(stage, arn);
      check(status === 'SUCCEEDED', 'a redriven execution should succeed', status);
      await runBecomes(agent, textAt(run, 'runId'), 'SUCCEEDED');
    }
  },
};

/** Where call-tool's asset lies: the one that has a configuration of servers. */
function callToolFolder({ deployment: { world } }: Stage): string {
  for (const { logicalId, type } of world.template.order) {
    if (type !== 'AWS::Lambda::Function') continue;
    const { Code, FunctionName } = world.template.resourceOf(logicalId).properties;
    const { S3Key: key } = Code as { S3Key?: string };
    const folder = world.assembly.assetOf(key ?? '');
    if (folder !== undefined && String(FunctionName).includes('call-tool')) return folder;
  }
  throw new Error('the template has no call-tool');
}
