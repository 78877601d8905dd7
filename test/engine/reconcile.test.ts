/** The record of a run stays true to its execution, whatever is heard of it and in whatever order. */
import { StopExecutionCommand } from '@aws-sdk/client-sfn';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { documentHash } from '../../lib/blueprint/canonical.ts';
import type { BlueprintDocument } from '../../lib/blueprint/types.ts';
import { cancelRun } from '../../lib/engine/cancel.ts';
import { LOCAL_PRINCIPAL } from '../../lib/engine/principals.ts';
import { applyExecutionState, reconcileRun, SILENT_MS } from '../../lib/engine/reconcile.ts';
import { applyStatusEvent } from '../../lib/engine/run-events.ts';
import { startRun } from '../../lib/engine/start.ts';
import { sweepRuns } from '../../lib/engine/sweep.ts';
import { executionArnOf } from '../../lib/steps/executions.ts';
import { putDocument } from '../../lib/store/documents.ts';
import type { RunRecord } from '../../lib/store/records.ts';
import { randomRunId } from '../../lib/store/run-id.ts';
import { claimRun, closeRun, createRun, getRun, reopenRun, setStop } from '../../lib/store/runs.ts';
import { getValue } from '../../lib/store/values.ts';
import { commitHead } from '../../lib/store/workflows.ts';
import { headRecord, runRecord } from '../store/records.ts';
import { startEnvironment, type TestEnvironment } from './engine-environment.ts';

let test: TestEnvironment;
let waiting: { stateMachineArn: string; versionArn: string };
let failing: { stateMachineArn: string; versionArn: string };

beforeAll(async () => {
  test = await startEnvironment();
  waiting = await test.machine('mwe-waits', { Wait: { Type: 'Wait', Seconds: 600, End: true } });
  failing = await test.machine('mwe-fails', {
    Fail: {
      Type: 'Fail',
      Error: 'ToolError',
      Cause: '{"errorMessage":"our \\u202esentence","trace":["secret"]}',
    },
  });
});
afterAll(() => test.stop());

/** A record as it stands now; `claimed`: under its execution. */
async function record(changes: Partial<RunRecord> = {}, claimed = true): Promise<RunRecord> {
  const run = randomRunId();
  const now = new Date(test.env.now()).toISOString();
  const wanted = runRecord({ run, executionName: run, createdAt: now, touchedAt: now, ...changes });
  await createRun(test.env.store, wanted);
  if (!claimed) return wanted;
  const execution = executionArnOf(wanted.stateMachineArn, wanted.executionName);
  return (await claimRun(test.env.store, run, { execution, startedAt: now })) ?? wanted;
}
const end = (run: RunRecord, status: 'FAILED' | 'SUCCEEDED' | 'CANCELLED', epoch = 0) =>
  closeRun(test.env.store, run.run, { status, epoch, endedAt: new Date(test.env.now()).toISOString() });
const current = async (run: RunRecord): Promise<RunRecord> => {
  const found = await getRun(test.env.store, run.run);
  if (found === undefined) throw new Error('no record');
  return found;
};

/** Runs the execution of a record to its failure, of which nobody tells. */
async function fail(run: RunRecord): Promise<void> {
  const execution = await test.start(failing.stateMachineArn, run.run);
  await expect.poll(() => test.statusOf(execution)).toBe('FAILED');
}

type State = [status: string, redriveCount: number];

describe('what is heard of an execution', () => {
  it.each<[string, (run: RunRecord) => Promise<unknown>, State[], string, number]>([
    ['a failure closes', async () => undefined, [['FAILED', 0]], 'FAILED', 0],
    ['an abort cancels', async () => undefined, [['ABORTED', 0]], 'CANCELLED', 0],
    ['a time-out', async () => undefined, [['TIMED_OUT', 0]], 'TIMED_OUT', 0],
    ['a start says nothing', async () => undefined, [['RUNNING', 0]], 'RUNNING', 0],
    [
      'twice the same',
      async () => undefined,
      [
        ['FAILED', 0],
        ['FAILED', 0],
      ],
      'FAILED',
      0,
    ],
    [
      'a start that comes after the end',
      async () => undefined,
      [
        ['FAILED', 0],
        ['RUNNING', 0],
      ],
      'FAILED',
      0,
    ],
    ['the first end stands', (run) => end(run, 'SUCCEEDED'), [['FAILED', 0]], 'SUCCEEDED', 0],
    [
      'a failure after the stop flag',
      (run) => setStop(test.env.store, run.run, { at: 'now', by: 'me' }),
      [['FAILED', 0]],
      'CANCELLED',
      0,
    ],
    ['a redrive reopens', (run) => end(run, 'FAILED'), [['RUNNING', 1]], 'RUNNING', 1],
    ['a redrive that nobody told of', (run) => end(run, 'FAILED'), [['ABORTED', 1]], 'CANCELLED', 1],
    ['the end of an older epoch', (run) => reopened(run), [['FAILED', 0]], 'RUNNING', 1],
    [
      'the start of an older epoch',
      async (run) => {
        await reopened(run);
        await end(run, 'FAILED', 1);
      },
      [['RUNNING', 0]],
      'FAILED',
      1,
    ],
    ['an open run that has been redriven', async () => undefined, [['RUNNING', 1]], 'RUNNING', 0],
    ['waiting to be redriven', async () => undefined, [['PENDING_REDRIVE', 0]], 'RUNNING', 0],
  ])('%s', async (_, before, states, status, epoch) => {
    const run = await record();
    await before(run);
    for (const [state, redriveCount] of states) {
      await applyExecutionState(test.env, await current(run), { status: state, redriveCount });
    }
    expect(await current(run)).toMatchObject({ status, epoch });
  });

  async function reopened(run: RunRecord): Promise<void> {
    await end(run, 'FAILED');
    await reopenRun(test.env.store, run.run, {
      execution: String(run.execution),
      epoch: 1,
      at: run.createdAt,
    });
  }

  it('in any order, twice or not at all, comes to the truth once the execution is described', async () => {
    const ends = fc.constantFrom('FAILED', 'TIMED_OUT', 'ABORTED');
    const history = fc.array(ends, { minLength: 1, maxLength: 3 });
    await fc.assert(
      fc.asyncProperty(
        history,
        fc.infiniteStream(fc.nat()),
        fc.nat({ max: 8 }),
        async (epochs, picks, heard) => {
          const events = epochs.flatMap((status, epoch): State[] => [
            ['RUNNING', epoch],
            [status, epoch],
          ]);
          const run = await record();
          for (let n = 0; n < heard; n += 1) {
            const [status, redriveCount] = events[Number(picks.next().value) % events.length] as State;
            await applyExecutionState(test.env, await current(run), { status, redriveCount });
          }
          const last = events.at(-1) as State;
          await applyExecutionState(test.env, await current(run), { status: last[0], redriveCount: last[1] });
          const expected = { FAILED: 'FAILED', TIMED_OUT: 'TIMED_OUT', ABORTED: 'CANCELLED' }[last[0]];
          expect((await current(run)).status).toBe(expected);
        },
      ),
      { numRuns: 40 },
    );
  });

  it('is believed of the very execution alone', async () => {
    const run = await record({}, false);
    const event = (executionArn: string) =>
      applyStatusEvent(test.env, {
        source: 'aws.states',
        detail: { executionArn, name: run.run, status: 'FAILED', startDate: 0, redriveCount: 0 },
      });
    const stranger = executionArnOf('arn:aws:states:us-east-1:000000000000:stateMachine:mwe-other', run.run);
    expect(await event(stranger)).toBe('no run');
    expect((await current(run)).status).toBe('STARTING');
    expect(await event(executionArnOf(run.stateMachineArn, run.run))).toBe('FAILED');
  });
});

describe('an open run that has been silent for a minute', () => {
  it.each([
    ['failed', fail, 'FAILED'],
    ['runs still', async (run: RunRecord) => test.start(waiting.stateMachineArn, run.run), 'RUNNING'],
    ['was never started', async () => undefined, 'FAILED'],
  ])('is looked up when it is read: its execution %s', async (what, begin, status) => {
    const machine = what === 'runs still' ? waiting : failing;
    const run = await record({ ...machine }, what !== 'was never started');
    await begin(run);
    expect((await reconcileRun(test.env, run)).status).toBe(run.status);
    test.pass(SILENT_MS);
    const found = await reconcileRun(test.env, await current(run));
    expect(found.status).toBe(status);
    if (what === 'failed') expect(found.failure).toEqual({ error: 'ToolError', cause: 'our sentence' });
    if (what === 'was never started') expect(found.failure).toMatchObject({ error: 'NotStarted' });
    // It is not asked about again for a minute.
    if (what === 'runs still') expect(Date.parse(found.touchedAt)).toBe(test.env.now());
  });

  it('waits for its parent while that one runs', async () => {
    const parent = await record({ ...waiting });
    await test.start(waiting.stateMachineArn, parent.run);
    const child = await record(
      { ...waiting, trigger: 'workflow', parent: { run: parent.run, at: 'sub' } },
      false,
    );
    test.pass(SILENT_MS);
    expect((await reconcileRun(test.env, child)).status).toBe('STARTING');
    await end(parent, 'CANCELLED');
    expect((await reconcileRun(test.env, child)).status).toBe('FAILED');
  });

  it('is found by the sweep as well', async () => {
    await sweepRuns(test.env);
    const runs = await Promise.all(Array.from({ length: 12 }, () => record({ ...failing })));
    for (const run of runs) await fail(run);
    expect((await sweepRuns(test.env)).closed).toBe(0);
    test.pass(SILENT_MS);
    expect((await sweepRuns(test.env)).closed).toBeGreaterThanOrEqual(12);
    for (const run of runs) expect((await current(run)).status).toBe('FAILED');
  });
});

describe('cancelling', () => {
  it('stops an execution that has not claimed its run yet', async () => {
    const run = await record({ ...waiting }, false);
    const execution = await test.start(waiting.stateMachineArn, run.run);
    expect(await cancelRun(test.env, LOCAL_PRINCIPAL, run.run)).toMatchObject({ status: 'CANCELLED' });
    expect(await test.statusOf(execution)).toBe('ABORTED');
    // Should its first task come all the same, it finds the run closed.
    expect(await claimRun(test.env.store, run.run, { execution, startedAt: run.createdAt })).toBeUndefined();
  });

  it('closes a run whose execution is not there', async () => {
    const run = await record({ ...waiting }, false);
    expect(await cancelRun(test.env, LOCAL_PRINCIPAL, run.run)).toMatchObject({ status: 'CANCELLED' });
    expect((await current(run)).status).toBe('CANCELLED');
  });

  it('of one that was stopped by hand answers what it was', async () => {
    const run = await record({ ...waiting });
    const executionArn = await test.start(waiting.stateMachineArn, run.run);
    await test.env.sfn.send(new StopExecutionCommand({ executionArn }));
    expect(await cancelRun(test.env, LOCAL_PRINCIPAL, run.run)).toMatchObject({ status: 'CANCELLED' });
  });
});

describe('a start that Step Functions did not take', () => {
  it('leaves a record that a repeat completes', async () => {
    const document: BlueprintDocument = {
      abi: 1,
      blueprint: {
        id: 'late',
        params: { n: { type: 'integer', default: 3 } },
        steps: [{ id: 'x', type: 'call', tool: 'echo' }],
      },
      tools: {},
      workflows: {},
    };
    const hash = documentHash(document);
    await putDocument(test.env.store, 'late', hash, document);
    const stateMachineArn = 'arn:aws:states:us-east-1:000000000000:stateMachine:mwe-late';
    const head = headRecord({ workflow: 'late', hash, stateMachineArn, versionArn: `${stateMachineArn}:1` });
    await commitHead(test.env.store, head, undefined);
    const request = { id: 'late', idempotencyKey: 'once' };
    const refused = startRun(test.env, LOCAL_PRINCIPAL, request);
    await expect(refused).rejects.toMatchObject({
      code: 'Unavailable',
      message: expect.stringContaining('StateMachineDoesNotExist'),
    });

    await test.machine('mwe-late', { Wait: { Type: 'Wait', Seconds: 600, End: true } });
    const run = await startRun(test.env, LOCAL_PRINCIPAL, request);
    expect(await test.statusOf(executionArnOf(stateMachineArn, run.run))).toBe('RUNNING');
    expect(await getValue(test.env.store, run.run, '$params')).toEqual({ n: 3 });
    // And again, which changes nothing.
    expect((await startRun(test.env, LOCAL_PRINCIPAL, request)).run).toBe(run.run);
    await expect(startRun(test.env, LOCAL_PRINCIPAL, { ...request, params: { n: 3 } })).rejects.toMatchObject(
      {
        code: 'Conflict',
      },
    );
    // The key answers for its run also when the workflow is gone.
    await commitHead(test.env.store, { ...head, deletedAt: 'now' }, 1);
    expect((await startRun(test.env, LOCAL_PRINCIPAL, request)).run).toBe(run.run);
    await expect(startRun(test.env, LOCAL_PRINCIPAL, { id: 'late' })).rejects.toMatchObject({
      code: 'NotFound',
    });
  });
});
