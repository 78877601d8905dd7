/** Deep links into the AWS console, where there is one. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LOCAL_PRINCIPAL } from '../../lib/engine/principals.ts';
import { listRuns } from '../../lib/engine/runs.ts';
import { summarizeRun } from '../../lib/engine/wait.ts';
import type { RunRecord } from '../../lib/store/records.ts';
import { randomRunId } from '../../lib/store/run-id.ts';
import { claimRun, createRun } from '../../lib/store/runs.ts';
import { runRecord } from '../store/records.ts';
import { startEnvironment, type TestEnvironment } from './engine-environment.ts';

let test: TestEnvironment;
beforeAll(async () => {
  test = await startEnvironment();
});
afterAll(() => test.stop());

const onAws = () => ({ ...test.env, config: { ...test.env.config, console: true, region: 'eu-central-1' } });
const PAGE =
  'https://eu-central-1.console.aws.amazon.com/states/home?region=eu-central-1#/v2/executions/details/';

async function record(changes: Partial<RunRecord> = {}): Promise<RunRecord> {
  const run = randomRunId();
  const now = new Date(test.env.now()).toISOString();
  const wanted = runRecord({ run, executionName: run, createdAt: now, touchedAt: now, ...changes });
  return (await createRun(test.env.store, wanted)).run;
}

describe('a run', () => {
  it('has a link before its execution has claimed it, and to the execution that did', async () => {
    const run = await record();
    const expected = `${PAGE}arn:aws:states:us-east-1:000000000000:execution:mwe-sync:${run.run}`;
    expect(await summarizeRun(onAws(), run)).toMatchObject({ status: 'RUNNING', url: expected });
    const execution = 'arn:aws:states:us-east-1:000000000000:execution:mwe-sync:by hand';
    const claimed = await claimRun(test.env.store, run.run, { execution, startedAt: run.createdAt });
    expect(await summarizeRun(onAws(), claimed as RunRecord)).toMatchObject({
      url: `${PAGE}${execution.replace(' ', '%20')}`,
    });
  });

  it('has it in lists', async () => {
    const run = await record({ workflow: 'listed' });
    const { runs } = await listRuns(onAws(), LOCAL_PRINCIPAL, { workflow: 'listed' });
    expect(runs).toMatchObject([{ runId: run.run, url: expect.stringContaining(PAGE) }]);
  });

  it('has none on one machine, and a trial call none anywhere', async () => {
    expect(await summarizeRun(test.env, await record())).not.toHaveProperty('url');
    expect(await summarizeRun(onAws(), await record({ trigger: 'try' }))).not.toHaveProperty('url');
  });
});
