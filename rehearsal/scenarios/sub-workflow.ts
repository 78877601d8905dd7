/** A workflow that runs another: one execution starts a second and hears of its end. */
import type { JsonObject } from '../../lib/blueprint/json.ts';
import { check, runTo, type Scenario, save } from '../stage.ts';
import { oneCall, parentOf } from './blueprints.ts';

export const subWorkflow: Scenario = {
  name: 'a sub-workflow runs',
  async run(stage) {
    const agent = await stage.agent(stage.admin);
    await save(agent, oneCall('inner'));
    await save(agent, parentOf('outer', 'inner'));
    const run = await runTo(agent, 'SUCCEEDED', 'outer');
    const { child } = run.output as { child?: JsonObject };
    check(Number(child?.entries) > 0, "the parent should have the child's output", run.output);
  },
};
