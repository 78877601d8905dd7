/** Schedules: made, changed, fired, failing five times in a row, deleted. The scheduler's clock is put forward. */
import { GetScheduleCommand } from '@aws-sdk/client-scheduler';
import type { JsonObject } from '../../lib/blueprint/json.ts';
import type { Agent } from '../../lib/cli/agent.ts';
import { ask, check, eventually, rowsAt, type Scenario, type Stage, save } from '../stage.ts';
import { oneCall, reading } from './blueprints.ts';

const FIVE_MINUTES = 5 * 60_000;

export const scheduled: Scenario = {
  name: 'a schedule fires, is changed, is disabled after failures, and goes',
  async run(stage) {
    const agent = await stage.agent(stage.admin);
    await save(agent, oneCall('nightly'));
    await ask(agent, 'schedule_workflow', {
      id: 'nightly',
      schedule: 'rate(5 minutes)',
      params: { path: 'servers' },
    });
    await fire(stage);
    const run = await eventually('a scheduled run', async () => (await ended(agent, 'nightly'))[0]);
    check(run.status === 'SUCCEEDED' && run.trigger === 'schedule', 'the scheduled run should succeed', run);
    await ask(agent, 'schedule_workflow', {
      id: 'nightly',
      schedule: 'cron(0 2 * * ? *)',
      timezone: 'Europe/Vienna',
    });
    await ask(agent, 'schedule_workflow', { id: 'nightly', enabled: false });
    const { schedules } = await ask(agent, 'schedule_workflow', { id: 'nightly' });
    check(Array.isArray(schedules) && schedules.length === 1, 'there should be one schedule', schedules);
    await ask(agent, 'schedule_workflow', { id: 'nightly', delete: true });

    await failFiveTimes(stage, agent);
    await ask(agent, 'delete_workflow', { id: 'failing' });
  },
};

/** One occurrence after the other fails; after the fifth the schedule is disabled by run-events. */
async function failFiveTimes(stage: Stage, agent: Agent): Promise<void> {
  await save(agent, { id: 'failing', steps: [reading('missing', 'not-there')] });
  const made = await ask(agent, 'schedule_workflow', { id: 'failing', schedule: 'rate(5 minutes)' });
  const [schedule] = rowsAt(made, 'schedules');
  for (let count = 1; count <= 5; count += 1) {
    await fire(stage);
    await eventually(`failure ${count}`, async () =>
      (await ended(agent, 'failing')).length >= count ? true : undefined,
    );
  }
  const disabled = await eventually('the schedule being disabled', async () => {
    const [now] = rowsAt(await ask(agent, 'schedule_workflow', { id: 'failing' }), 'schedules');
    return now?.enabled === false ? now : undefined;
  });
  check(disabled.name === schedule?.name, 'it should be the same schedule', disabled);
  await eventually('the schedule being disabled in EventBridge Scheduler', async () =>
    (await stateOf(stage, disabled)) === 'DISABLED' ? true : undefined,
  );
}

async function stateOf(stage: Stage, schedule: JsonObject): Promise<string | undefined> {
  const arn = String(schedule.arn ?? '');
  const [, group = '', name = ''] = arn.split(':').at(-1)?.split('/') ?? [];
  if (name === '') return 'DISABLED';
  const found = await stage.deployment.world.clients.scheduler.send(
    new GetScheduleCommand({ GroupName: group, Name: name }),
  );
  return found.State;
}

async function fire(stage: Stage): Promise<void> {
  stage.deployment.schedulerClock.forward(FIVE_MINUTES);
  await stage.deployment.standIns.scheduler.idle();
}

async function ended(agent: Agent, workflow: string): Promise<JsonObject[]> {
  const runs = rowsAt(await ask(agent, 'list_runs', { workflow }), 'runs');
  return runs.filter((run) => run.status !== 'RUNNING');
}
