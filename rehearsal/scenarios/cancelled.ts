/** Runs that are ended from outside: by the agent, and by somebody who stops the execution in the console. */
import { StopExecutionCommand } from '@aws-sdk/client-sfn';
import { ask, check, executionEnds, runBecomes, type Scenario, save, textAt } from '../stage.ts';
import { longRun } from './blueprints.ts';
import { begun, executionArn } from './executions.ts';

export const cancelled: Scenario = {
  name: 'a run is cancelled, another is stopped in the console',
  async run(stage) {
    const agent = await stage.agent(stage.admin);
    await save(agent, longRun('long'));
    const first = await ask(agent, 'run_workflow', { id: 'long', wait: 0 });
    await ask(agent, 'cancel_run', { runId: textAt(first, 'runId') });
    await runBecomes(agent, textAt(first, 'runId'), 'CANCELLED');

    const run = await begun(agent, 'long');
    const arn = executionArn(run);
    const { sfn } = stage.deployment.world.clients;
    await sfn.send(new StopExecutionCommand({ executionArn: arn, error: 'Stopped', cause: 'by hand' }));
    const status = await executionEnds(stage, arn);
    check(status === 'ABORTED', 'the execution should be aborted', status);
    await runBecomes(agent, textAt(run, 'runId'), 'CANCELLED');
  },
};
