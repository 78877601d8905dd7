/** Loops whose items are states: inline, and distributed, where each item is an execution of its own. */
import { ListMapRunsCommand } from '@aws-sdk/client-sfn';
import type { JsonObject } from '../../lib/blueprint/json.ts';
import { check, runTo, type Scenario, save } from '../stage.ts';
import { mapOver } from './blueprints.ts';
import { executionArn } from './executions.ts';

export const mapped: Scenario = {
  name: 'maps run inline and distributed',
  async run(stage) {
    const agent = await stage.agent(stage.admin);
    const { sfn } = stage.deployment.world.clients;
    for (const [id, maxItems, mapRuns] of [
      ['map-inline', 10, 0],
      ['map-distributed', 100_000, 1],
    ] as const) {
      await save(agent, mapOver(id, maxItems));
      const run = await runTo(agent, 'SUCCEEDED', id);
      const { counts } = run.output as { counts?: JsonObject[] };
      check(counts?.length === 2, 'both items should have been listed', run.output);
      const found = await sfn.send(new ListMapRunsCommand({ executionArn: executionArn(run) }));
      check(found.mapRuns?.length === mapRuns, `${id} should have ${mapRuns} map runs`, found.mapRuns);
    }
  },
};
