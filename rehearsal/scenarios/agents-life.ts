/** What an agent does with the MCP SDK of today: it looks around, saves, changes, runs, reads, lists and deletes. */
import type { Agent } from '../../lib/cli/agent.ts';
import { ask, check, rowsAt, runTo, type Scenario, save, textAt } from '../stage.ts';
import { oneCall } from './blueprints.ts';

export const agentsLife: Scenario = {
  name: 'an agent saves, runs, reads and deletes a workflow',
  async run(stage) {
    const agent = await stage.agent(stage.admin);
    const tools = rowsAt(await ask(agent, 'list_tools', {}), 'tools');
    check(
      ['filesystem', 'memory'].every((server) => tools.some((tool) => tool.server === server)),
      'both servers that ship should have tools',
      tools.map((tool) => tool.server),
    );
    await ask(agent, 'list_tools', { query: 'list_directory' });
    await ask(agent, 'call_tool', { tool: 'filesystem/list_directory', params: { path: '.' } });
    await ask(agent, 'validate_workflow', { blueprint: oneCall('listing') });

    const first = await save(agent, oneCall('listing'));
    check(first.revision === 1, 'the first save should be revision 1', first);
    const same = await save(agent, oneCall('listing'));
    check(same.revision === 1, 'the same blueprint should be no new revision', same);
    const second = await save(agent, oneCall('listing', { version: '2.0.0' }));
    check(second.revision === 2, 'a changed blueprint should be revision 2', second);

    const run = await runTo(agent, 'SUCCEEDED', 'listing', { path: '.' }, { idempotencyKey: 'once' });
    const again = await ask(agent, 'run_workflow', {
      id: 'listing',
      params: { path: '.' },
      idempotencyKey: 'once',
    });
    check(again.runId === run.runId, 'the same key should be the same run', again);
    await ask(agent, 'run_workflow', { id: 'listing', dryRun: true });
    check(textAt(run, 'url').includes('console.aws.amazon.com'), 'a run should link to the console', run);

    await progressComesFirst(agent);
    const seen = await ask(agent, 'get_run', { runId: textAt(run, 'runId'), step: 'entries' });
    check(JSON.stringify(seen).includes('index.mjs'), "a step's value should be readable", seen);
    const runs = rowsAt(await ask(agent, 'list_runs', { workflow: 'listing' }), 'runs');
    check(
      runs.some((each) => each.runId === run.runId),
      'the run should be listed',
      runs,
    );
    await ask(agent, 'list_runs', {});
    await ask(agent, 'list_runs', { status: 'RUNNING' });
    const workflows = rowsAt(await ask(agent, 'list_workflows', {}), 'workflows');
    check(
      workflows.some((each) => each.id === 'listing'),
      'the workflow should be listed',
      workflows,
    );
    await ask(agent, 'get_workflow', { id: 'listing' });
    await ask(agent, 'get_workflow', { id: 'listing', revision: 1 });
    await ask(agent, 'delete_workflow', { id: 'listing' });
    const { isError } = await agent.call('run_workflow', { id: 'listing', params: {} });
    check(isError, 'a deleted workflow should not run');
  },
};

/** The function URL streams: what a run tells of its progress comes before its answer. */
async function progressComesFirst(agent: Agent): Promise<void> {
  let told = 0;
  const { isError } = await agent.call('run_workflow', { id: 'listing', params: { path: 'servers' } }, () => {
    told += 1;
  });
  check(!isError && told > 0, 'a run should tell of its progress while it is waited for', { told });
}
