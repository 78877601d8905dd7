/** A person presses "Start execution" in the console: with `{}`, with parameters, with an old input that the console offers. */
import type { JsonObject } from '../../lib/blueprint/json.ts';
import type { Agent } from '../../lib/cli/agent.ts';
import { ask, check, eventually, executionEnds, rowsAt, runTo, type Scenario, save } from '../stage.ts';
import { oneCall } from './blueprints.ts';
import { startByHand } from './executions.ts';

export const consoleStarts: Scenario = {
  name: 'executions that somebody starts in the console are runs',
  async run(stage) {
    const agent = await stage.agent(stage.admin);
    await save(agent, oneCall('by-hand'));
    const old = await runTo(agent, 'SUCCEEDED', 'by-hand', { path: 'servers' });
    const inputs = ['{}', '{"params":{"path":"servers"}}', JSON.stringify({ run: old.runId })];
    for (const input of inputs) {
      const status = await executionEnds(stage, await startByHand(stage, 'by-hand', input));
      check(status === 'SUCCEEDED', `an execution started with ${input} should succeed`, status);
    }
    const byHand = await eventually('three runs of the console', async () => {
      const runs = rowsAt(await ask(agent, 'list_runs', { workflow: 'by-hand' }), 'runs');
      const found = runs.filter((run) => run.trigger === 'console' && run.status === 'SUCCEEDED');
      return found.length === inputs.length ? found : undefined;
    });
    const paths = await Promise.all(byHand.map((run) => pathOf(agent, String(run.runId))));
    check(paths.filter((path) => path === 'servers').length === 2, 'parameters should count', paths);
  },
};

async function pathOf(agent: Agent, runId: string): Promise<unknown> {
  const { output } = await agent.follow(runId, () => undefined);
  return (output as JsonObject | undefined)?.path;
}
