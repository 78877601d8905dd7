/**
 * The stack is updated with other blueprints: one that an agent had becomes the stack's, with a schedule of its own, which fires; one
 * that shipped is gone. Deleting the stack deletes nothing of it.
 */

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ListSchedulesCommand } from '@aws-sdk/client-scheduler';
import type { JsonObject } from '../../lib/blueprint/json.ts';
import { projectRoot } from '../../lib/cli/project.ts';
import { ask, check, eventually, refused, rowsAt, runTo, type Scenario, type Stage, save } from '../stage.ts';
import { updateStack } from '../update.ts';
import { oneCall } from './blueprints.ts';

const SCHEDULE: JsonObject = { name: 'often', schedule: 'rate(5 minutes)', params: { path: 'servers' } };

export const stackUpdated: Scenario = {
  name: "the stack is updated: an agent's workflow becomes the stack's",
  async run(stage) {
    const agent = await stage.agent(stage.admin);
    await save(agent, oneCall('adopted'));
    await ask(agent, 'schedule_workflow', { id: 'adopted', schedule: 'rate(1 day)' });
    check((await schedulesOf(stage)).length === 1, "the agent's schedule should be there");

    const triage = await readFile(join(projectRoot(), 'blueprints', 'triage.json'), 'utf8');
    const assembly = await stage.synthesizeWith({
      'triage.json': JSON.parse(triage) as JsonObject,
      'adopted.json': oneCall('adopted', { version: '2.0.0', schedules: [SCHEDULE] }),
    });
    await updateStack(stage.deployment, assembly);

    const answer = await refused(agent, 'create_workflow', { blueprint: oneCall('adopted') });
    check(
      JSON.stringify(answer).includes('blueprints/adopted.json'),
      'the refusal should name the file',
      answer,
    );
    await refused(agent, 'run_workflow', { id: 'repo-to-graph' });
    await runTo(agent, 'SUCCEEDED', 'adopted');
    await runTo(agent, 'SUCCEEDED', 'triage', { path: 'index.mjs' });
    const [schedule, more] = rowsAt(await ask(agent, 'schedule_workflow', { id: 'adopted' }), 'schedules');
    check(
      schedule?.name === 'often' && more === undefined,
      "only the stack's schedule should be left",
      schedule,
    );
    check((await schedulesOf(stage)).length === 1, "the agent's schedule should be gone");

    stage.deployment.schedulerClock.forward(5 * 60_000);
    await stage.deployment.standIns.scheduler.idle();
    const run = await eventually("a run of the stack's schedule", async () => {
      const runs = rowsAt(await ask(agent, 'list_runs', { workflow: 'adopted' }), 'runs');
      return runs.find((each) => each.trigger === 'schedule' && each.status !== 'RUNNING');
    });
    check(run.status === 'SUCCEEDED', "the stack's schedule should start a run that succeeds", run);
    await deleted(stage);
    await runTo(agent, 'SUCCEEDED', 'adopted');
  },
};

/** What CloudFormation asks of the custom resource when the stack is deleted. */
async function deleted({ deployment: { world } }: Stage): Promise<void> {
  const custom = world.template.order.filter(({ type }) => type.startsWith('Custom::'));
  check(custom.length > 0, 'the template should have a custom resource');
  for (const { logicalId } of custom) {
    const { ref } = world.template.identityOf(logicalId);
    const resource = world.template.resourceOf(logicalId);
    await world.askCustomResource(resource, { RequestType: 'Delete', PhysicalResourceId: ref });
  }
}

/** Names of the schedules of this workflow that EventBridge Scheduler has. */
async function schedulesOf({ deployment: { world } }: Stage): Promise<string[]> {
  const { Schedules: schedules = [] } = await world.clients.scheduler.send(new ListSchedulesCommand({}));
  return schedules.flatMap(({ Name: name }) => (name?.includes('adopted') === true ? [name] : []));
}
