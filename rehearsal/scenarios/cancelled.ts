/** Runs that are ended from outside: by the agent, and by somebody who stops the execution in the console. */
import { StopExecutionCommand } from '@aws-sdk/client-sfn';
import { ask, check, eventually, executionEnds, runBecomes, type Scenario, save, textAt } from '../stage.ts';
import { longRun } from './blueprints.ts';
import { executionArn } from './executions.ts';

export const cancelled: Scenario = {
  name: 'a run is cancelled, another is stopped in the console',
  async run(stage) {
    const agent = await stage.agent(stage.admin);
    await save(agent, longRun('long'));
    const first = await ask(agent, 'run_workflow', { id: 'long', wait: 0 });
    await ask(agent, 'cancel_run', { runId: textAt(first, 'runId') });
    await runBecomes(agent, textAt(first, 'runId'), 'CANCELLED');

    const second = await ask(agent, 'run_workflow', { id: 'long', wait: 0 });
    const runId = textAt(second, 'runId');
    const run = await eventually('the link to the execution', async () => {
      const seen = await ask(agent, 'get_run', { runId });
      return typeof seen.url === 'string' ? seen : undefined;
    });
    const arn = executionArn(run);
    const { sfn } = stage.deployment.world.clients;
    await sfn.send(new StopExecutionCommand({ executionArn: arn, error: 'Stopped', cause: 'by hand' }));
    const status = await executionEnds(stage, arn);
    check(status === 'ABORTED', 'the execution should be aborted', status);
    await runBecomes(agent, runId, 'CANCELLED');
  },
};
