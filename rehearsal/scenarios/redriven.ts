/**
 * Redriving in the console: a parent whose child failed goes on with that child; a distributed map that was stopped goes on with the
 * executions of its items; a value that is gone by then is told as gone.
 */
import { RedriveExecutionCommand, StopExecutionCommand } from '@aws-sdk/client-sfn';
import type { JsonObject } from '../../lib/blueprint/json.ts';
import type { Agent } from '../../lib/cli/agent.ts';
import {
  ask,
  check,
  executionEnds,
  runBecomes,
  runTo,
  type Scenario,
  type Stage,
  save,
  textAt,
} from '../stage.ts';
import { putFile } from './asset.ts';
import { mapOver, parentOf, reading } from './blueprints.ts';
import { begun, executionArn } from './executions.ts';
import { forgetValues } from './values.ts';

/** Files that are missing at first. */
const LATE = 'late.txt';
const LATER = 'later.txt';

export const redriven: Scenario = {
  name: 'failed runs are redriven in the console',
  async run(stage) {
    const agent = await stage.agent(stage.admin);
    const failed = await failedRuns(agent);
    const stopped = await stoppedMap(stage, agent);
    const missing = await missingValue(stage, agent);

    await putFile(stage, LATE, 'here now');
    await putFile(stage, LATER, 'here now');
    for (const run of [...failed, stopped]) {
      await redrive(stage, run, 'SUCCEEDED');
      await runBecomes(agent, textAt(run, 'runId'), 'SUCCEEDED');
    }
    await redrive(stage, missing, 'FAILED');
    const told = JSON.stringify(await ask(agent, 'get_run', { runId: textAt(missing, 'runId') }));
    check(!told.includes('AccessDenied'), 'a value that is gone should not look like a missing right', told);
  },
};

async function failedRuns(agent: Agent): Promise<JsonObject[]> {
  await save(agent, {
    id: 'late-child',
    params: { path: { type: 'string' } },
    steps: [reading('late', LATE)],
  });
  await save(agent, parentOf('late-parent', 'late-child'));
  await save(agent, mapOver('late-map', 100_000, reading('late', LATE)));
  return [await runTo(agent, 'FAILED', 'late-parent'), await runTo(agent, 'FAILED', 'late-map')];
}

/** A distributed map whose items wait for their next try when somebody stops the execution. */
async function stoppedMap(stage: Stage, agent: Agent): Promise<JsonObject> {
  const patient = { onStepFailure: 'abort', maxRetries: 5, retryDelayMs: 30_000, jitter: false };
  await save(agent, mapOver('stopped-map', 100_000, reading('late', LATER, { errorStrategy: patient })));
  const run = await begun(agent, 'stopped-map');
  const { sfn } = stage.deployment.world.clients;
  await sfn.send(new StopExecutionCommand({ executionArn: executionArn(run) }));
  await executionEnds(stage, executionArn(run));
  return runBecomes(agent, textAt(run, 'runId'), 'CANCELLED');
}

/** A run whose first value has left the bucket before its last step asks for it. */
async function missingValue(stage: Stage, agent: Agent): Promise<JsonObject> {
  await save(agent, {
    id: 'forgetful',
    steps: [
      reading('bundle', 'index.mjs'),
      reading('late', LATE),
      reading('last', 'index.mjs', { when: '{{ length(steps.bundle) > `0` }}' }),
    ],
  });
  const run = await runTo(agent, 'FAILED', 'forgetful');
  await forgetValues(stage, textAt(run, 'runId'));
  return run;
}

async function redrive(stage: Stage, run: JsonObject, wanted: string): Promise<void> {
  const arn = executionArn(run);
  await stage.deployment.world.clients.sfn.send(new RedriveExecutionCommand({ executionArn: arn }));
  const status = await executionEnds(stage, arn);
  check(status === wanted, `the redriven execution ${arn} should be ${wanted}`, status);
}
