/**
 * The SDK sends a request again where its answer was lost, and a conditional write fails against itself. Here every first
 * answer to a write is lost, and everything must come out as if none had been.
 */
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LOCAL_CREDENTIALS, LOCAL_REGION } from '../../lib/store/aws-config.ts';
import { putClaim } from '../../lib/store/claims.ts';
import { putItems, readItems } from '../../lib/store/items.ts';
import { claimWindow, finishWindow, readResults, takeWindow } from '../../lib/store/journal.ts';
import { openStep } from '../../lib/store/open-step.ts';
import type { StepRecord, WindowRecord } from '../../lib/store/records.ts';
import { addToBudget, claimRun, createRun, reopenRun, setStop } from '../../lib/store/runs.ts';
import { markClaimed, releaseStep, renewLease, settleStep, updateStep } from '../../lib/store/steps.ts';
import { closeStore, openStore, type Store } from '../../lib/store/store.ts';
import { getValue, putValue } from '../../lib/store/values.ts';
import {
  commitHead,
  expireRevision,
  publishRevision,
  putRevision,
  tombstone,
} from '../../lib/store/workflows.ts';
import { headRecord, revisionRecord, runRecord } from './records.ts';
import { freshId, type StandIns, startStandIns } from './stand-ins.ts';

let standIns: StandIns;
let proxy: Server;
let store: Store;
let lost = 0;

/** Forwards every request; of a write's answers every other one does not come back. */
function createLossyProxy(target: URL): Server {
  let lose = true;
  return createServer((incoming, outgoing) => {
    const write = /\.(Put|Update)Item$/.test(String(incoming.headers['x-amz-target']));
    const dropped = write && lose;
    if (write) lose = !lose;
    const forwarded = request(
      {
        host: target.hostname,
        port: target.port,
        method: 'POST',
        path: '/',
        headers: { ...incoming.headers, host: target.host },
      },
      (answer) => {
        if (dropped) {
          lost += 1;
          answer.resume();
          answer.once('end', () => incoming.socket.destroy());
          return;
        }
        outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
        answer.pipe(outgoing);
      },
    );
    incoming.pipe(forwarded);
  });
}

beforeAll(async () => {
  standIns = await startStandIns();
  proxy = createLossyProxy(new URL(standIns.endpoints.dynamodb));
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  store = openStore({
    tableName: 'mwe',
    bucketName: 'mwe-000000000000',
    region: LOCAL_REGION,
    credentials: LOCAL_CREDENTIALS,
    endpoints: {
      ...standIns.endpoints,
      dynamodb: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    },
  });
});
afterAll(async () => {
  closeStore(store);
  proxy.closeAllConnections();
  await new Promise((resolve) => proxy.close(resolve));
  await standIns.stop();
  expect(lost).toBeGreaterThan(20);
});

const T0 = Date.parse('2026-11-30T09:00:00Z');
const AT = '2026-11-30T09:00:05.000Z';
const asked = (changes = {}) => ({
  run: freshId(),
  at: 'one',
  step: 'one',
  type: 'call' as const,
  owner: 'boot/a',
  epoch: 0,
  leaseMs: 30_000,
  now: T0,
  ...changes,
});
const ended = (record: StepRecord, status: StepRecord['status']): StepRecord => ({
  ...record,
  status,
  endedAt: AT,
});

describe('with answers lost', () => {
  it('a step is claimed, renewed, marked and settled', async () => {
    const first = asked();
    const opened = await openStep(store, first);
    expect(opened).toMatchObject({ outcome: 'claimed', resumed: false });
    expect(await renewLease(store, first.run, 'one', first.owner, T0 + 60_000)).toBe(true);
    expect(await updateStep(store, first, first.owner, { attempts: 1 })).toMatchObject({ attempts: 1 });
    expect(await markClaimed(store, first, first.owner)).toMatchObject({ claimed: true });
    expect(await settleStep(store, ended(opened.record, 'succeeded'), first.owner)).toMatchObject({
      status: 'succeeded',
    });
  });

  it('a step that is taken over is taken, not claimed', async () => {
    const first = asked();
    await openStep(store, first);
    await markClaimed(store, first, first.owner);
    const taken = await openStep(store, { ...first, owner: 'boot/b', now: T0 + 30_000 });
    expect(taken).toMatchObject({
      outcome: 'taken',
      record: { claimed: true, fence: 2 },
      previous: { fence: 1 },
    });
  });

  it('a step that was let go of is resumed', async () => {
    const first = asked();
    await openStep(store, first);
    await releaseStep(store, first, first.owner, { attempts: 1 });
    expect(await openStep(store, { ...first, owner: 'boot/b' })).toMatchObject({
      outcome: 'claimed',
      resumed: true,
    });
  });

  it('a step that failed is reopened by a newer epoch', async () => {
    const first = asked();
    const { record } = await openStep(store, first);
    await settleStep(store, ended(record, 'failed'), first.owner);
    const again = await openStep(store, { ...first, owner: 'boot/b', epoch: 1 });
    expect(again).toMatchObject({
      outcome: 'reopened',
      record: { fence: 2 },
      previous: { status: 'failed' },
    });
  });

  it('values, items and claims are kept', async () => {
    const run = freshId();
    await putValue(store, run, 'a', [1], { fence: 2 });
    expect(await getValue(store, run, 'a')).toEqual([1]);
    expect(await readItems(store, await putItems(store, run, 'loop', [1, 2]))).toEqual([1, 2]);
    const pk = `CLAIM#${run}`;
    expect(await putClaim(store, pk, 'a')).toBe(true);
    expect(await putClaim(store, pk, 'b')).toBe(false);
  });

  it('a window is claimed, taken over, finished and reopened', async () => {
    const window: WindowRecord = {
      run: freshId(),
      at: 'loop',
      window: 0,
      from: 0,
      to: 1,
      owner: 'a',
      epoch: 0,
      state: 'claimed',
    };
    const results = [{ index: 0, item: 0, status: 'succeeded' as const, value: 0, error: null, attempts: 1 }];
    expect(await claimWindow(store, window)).toBe(true);
    const taken = await takeWindow(store, window, 'b', 0);
    if (taken === undefined) throw new Error('not taken');
    expect(await finishWindow(store, window, results)).toBe(false);
    expect(await finishWindow(store, taken, results)).toBe(true);
    expect(await takeWindow(store, { ...taken, state: 'done' }, 'c', 1)).toMatchObject({
      owner: 'c',
      epoch: 1,
    });
    expect(await readResults(store, window.run, 'loop')).toEqual(results);
  });

  it('a run is claimed, stopped and reopened; its budget counts too much at most', async () => {
    const record = runRecord();
    const { run } = await createRun(store, record);
    expect(run).toEqual(record);
    expect(await claimRun(store, run.run, { execution: 'e', startedAt: AT })).toMatchObject({
      execution: 'e',
    });
    expect((await setStop(store, run.run, { at: AT, by: 'me' }))?.stop).toEqual({ at: AT, by: 'me' });
    expect(await reopenRun(store, run.run, { execution: 'e', epoch: 1, at: AT })).toMatchObject({ epoch: 1 });
    const spent = await addToBudget(store, run.run, { attempts: 1 }, { attempts: 10, subRuns: 0 });
    expect(spent.ok && spent.attempts >= 1 && spent.attempts <= 2).toBe(true);
  });

  it('a workflow is saved and deleted', async () => {
    const workflow = `w-${freshId().slice(0, 8)}`;
    const published = { hash: 'a'.repeat(64), stateMachineArn: 'm', versionArn: 'm:1' };
    expect(await putRevision(store, revisionRecord({ workflow }))).toBe(true);
    expect(await putRevision(store, revisionRecord({ workflow, hash: 'other' }))).toBe(false);
    expect(await publishRevision(store, workflow, 1, published)).toMatchObject({ state: 'PUBLISHED' });
    expect(await commitHead(store, headRecord({ workflow }), undefined)).toBe(true);
    expect(await tombstone(store, workflow, 1, AT)).toMatchObject({ deletedAt: AT });
    expect(await putRevision(store, revisionRecord({ workflow, revision: 2 }))).toBe(true);
    expect(await expireRevision(store, workflow, 2)).toBe(true);
  });
});
