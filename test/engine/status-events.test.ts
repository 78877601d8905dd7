/** What happens to an execution in AWS reaches the run's record by real status events, told in any order and more than once. */
import { RedriveExecutionCommand, StartExecutionCommand, StopExecutionCommand } from '@aws-sdk/client-sfn';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../lib/blueprint/json.ts';
import { executionOf } from '../../lib/engine/reconcile.ts';
import { saveBlueprint } from '../../lib/engine/save.ts';
import { startRun } from '../../lib/engine/start.ts';
import type { Principal, RunRecord } from '../../lib/store/records.ts';
import { executionRunId } from '../../lib/store/run-id.ts';
import { getRun } from '../../lib/store/runs.ts';
import { getHead } from '../../lib/store/workflows.ts';
import { type ScheduledEngine, startScheduledEngine } from './scheduled-engine.ts';

const ALICE: Principal = { kind: 'token', id: 'token:alice', scopes: [] };

let engine: ScheduledEngine;
beforeAll(async () => {
  engine = await startScheduledEngine();
  await save('hangs', { tool: 'counting/hang' });
  await save('late', { tool: 'counting/hang' }, { timeoutSeconds: 1 });
  await save('flaky', { tool: 'counting/flaky', params: { key: '{{ run.id }}', times: 1 } });
});
afterAll(() => engine.stop());

async function save(id: string, call: JsonObject, more: JsonObject = {}): Promise<void> {
  const steps = [{ id: 'a', type: 'call', parse: 'raw', ...call }];
  await saveBlueprint(engine.env, ALICE, { id, ...more, steps } as unknown as Json);
}

const current = (run: RunRecord | string) =>
  getRun(engine.env.store, typeof run === 'string' ? run : run.run);
const statusOf = async (run: RunRecord | string) => (await current(run))?.status;
const eventsOf = (executionArn: string) =>
  engine.events.filter(({ detail }) => (detail as JsonObject).executionArn === executionArn);
/** Waits until run-events has heard of this end. */
const heard = (executionArn: string, status: string, redriveCount = 0) =>
  expect
    .poll(
      () =>
        eventsOf(executionArn).some(({ detail }) => {
          const told = detail as JsonObject;
          return told.status === status && (told.redriveCount ?? 0) === redriveCount;
        }),
      { timeout: 20_000 },
    )
    .toBe(true);

/** Tells every event again, last first and then twice each; nothing may come of it. */
async function tellAgain(run: RunRecord | string, executionArn: string): Promise<void> {
  const before = await current(run);
  const events = eventsOf(executionArn);
  for (const event of [...events].reverse()) await engine.runEvents(event);
  for (const event of events) for (let n = 0; n < 2; n += 1) await engine.runEvents(event);
  expect(await current(run)).toEqual(before);
}

async function start(id: string): Promise<{ run: RunRecord; executionArn: string }> {
  const run = await startRun(engine.env, ALICE, { id });
  return { run, executionArn: executionOf(run) };
}
const claimed = (run: RunRecord | string) =>
  expect.poll(() => statusOf(run), { timeout: 20_000 }).toBe('RUNNING');
const stop = (executionArn: string) => engine.env.sfn.send(new StopExecutionCommand({ executionArn }));

describe('an execution', () => {
  it('that is aborted in AWS closes its run as cancelled', async () => {
    const { run, executionArn } = await start('hangs');
    await claimed(run);
    await stop(executionArn);
    await heard(executionArn, 'ABORTED');
    expect(await statusOf(run)).toBe('CANCELLED');
    await tellAgain(run, executionArn);
  });

  it('that somebody started by hand is found by its ARN and start', async () => {
    const head = await getHead(engine.env.store, 'hangs');
    const { executionArn = '', startDate } = await engine.env.sfn.send(
      new StartExecutionCommand({ stateMachineArn: head?.stateMachineArn, input: '{}' }),
    );
    const run = executionRunId(executionArn, startDate?.toISOString() ?? '');
    await claimed(run);
    await stop(executionArn);
    await heard(executionArn, 'ABORTED');
    expect(await current(run)).toMatchObject({ status: 'CANCELLED', trigger: 'console' });
    await tellAgain(run, executionArn);
  });

  it('that runs into its time limit closes its run as timed out', async () => {
    const { run, executionArn } = await start('late');
    await expect.poll(() => statusOf(run), { timeout: 20_000 }).toBe('TIMED_OUT');
    await expect.poll(() => eventsOf(executionArn).length, { timeout: 20_000 }).toBeGreaterThan(1);
    await tellAgain(run, executionArn);
  });

  it('that is redriven in AWS opens its run again, and late news of its failure changes nothing', async () => {
    const { run, executionArn } = await start('flaky');
    await heard(executionArn, 'FAILED');
    expect(await current(run)).toMatchObject({ status: 'FAILED', epoch: 0 });
    const failed = eventsOf(executionArn);
    await engine.env.sfn.send(new RedriveExecutionCommand({ executionArn }));
    await heard(executionArn, 'SUCCEEDED', 1);
    expect(await current(run)).toMatchObject({ status: 'SUCCEEDED', epoch: 1 });
    for (const event of failed) await engine.runEvents(event);
    expect(await current(run)).toMatchObject({ status: 'SUCCEEDED', epoch: 1 });
    await tellAgain(run, executionArn);
  });
});
