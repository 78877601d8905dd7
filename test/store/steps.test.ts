/** Leases on steps: every outcome of `openStep`, and who may write what. */
import { type GetCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type OpenStepRequest, openStep } from '../../lib/store/open-step.ts';
import type { StepRecord } from '../../lib/store/records.ts';
import {
  allSteps,
  getStep,
  getSteps,
  haltStep,
  LeaseLost,
  listSteps,
  markClaimed,
  releaseStep,
  renewLease,
  settleStep,
  updateStep,
} from '../../lib/store/steps.ts';
import type { Store } from '../../lib/store/store.ts';
import { freshId, type StandIns, startStandIns } from './stand-ins.ts';

let standIns: StandIns;
beforeAll(async () => {
  standIns = await startStandIns();
});
afterAll(() => standIns.stop());

const T0 = Date.parse('2026-11-30T09:00:00Z');
const request = (changes: Partial<OpenStepRequest> = {}): OpenStepRequest => ({
  run: freshId(),
  at: 'pods/00012/describe',
  step: 'describe',
  type: 'call',
  owner: 'boot1/a',
  epoch: 0,
  leaseMs: 30_000,
  now: T0,
  ...changes,
});
const ended = (record: StepRecord, status: StepRecord['status']): StepRecord => ({
  ...record,
  status,
  endedAt: '2026-11-30T09:00:01.000Z',
  ms: 1000,
});
const failure = {
  step: 'describe',
  path: 'pods/00012/describe',
  kind: 'ToolError',
  message: 'no',
  attempts: 1,
} as const;

describe('openStep', () => {
  it('claims a step that is new', async () => {
    const asked = request({ deadline: T0 + 5000 });
    const opened = await openStep(standIns.store, asked);
    expect(opened).toEqual({
      outcome: 'claimed',
      resumed: false,
      record: {
        run: asked.run,
        at: 'pods/00012/describe',
        step: 'describe',
        type: 'call',
        status: 'running',
        epoch: 0,
        lease: { owner: 'boot1/a', until: T0 + 30_000 },
        attempts: 0,
        startedAt: '2026-11-30T09:00:00.000Z',
        deadline: T0 + 5000,
        fence: 1,
      },
    });
    expect(await getStep(standIns.store, asked.run, asked.at)).toEqual(opened.record);
  });

  it.each([
    ['a live lease', {}, 'busy'],
    ['a lease at its last millisecond', { now: T0 + 29_999 }, 'busy'],
    ['an expired lease', { now: T0 + 30_000 }, 'taken'],
    ['a live lease of a dead owner', { isDeadOwner: (owner: string) => owner.startsWith('boot1/') }, 'taken'],
    [
      'a live lease of an owner that is not dead',
      { isDeadOwner: (owner: string) => owner.startsWith('boot0/') },
      'busy',
    ],
    ['its own lease (an answer was lost)', { owner: 'boot1/a' }, 'claimed'],
    ['a live lease of an older epoch', { epoch: 1 }, 'busy'],
    ['an expired lease of an older epoch', { epoch: 1, now: T0 + 30_000 }, 'taken'],
  ] as const)('meets %s', async (_case, changes, outcome) => {
    const first = request();
    await openStep(standIns.store, first);
    const opened = await openStep(standIns.store, { ...first, owner: 'boot2/b', ...changes });
    expect(opened.outcome).toBe(outcome);
  });

  it('never lets an older epoch take a step, not even one with an expired lease', async () => {
    const first = request({ epoch: 2 });
    await openStep(standIns.store, first);
    const late = { ...first, owner: 'boot1/late', epoch: 1, now: T0 + 90_000 };
    expect((await openStep(standIns.store, late)).outcome).toBe('busy');
  });

  it('hands on what the owner before had claimed', async () => {
    const first = request();
    await openStep(standIns.store, first);
    await markClaimed(standIns.store, first, first.owner, { attempts: 1, server: 's', tool: 't' });
    const opened = await openStep(standIns.store, { ...first, owner: 'boot1/b', now: T0 + 31_000 });
    expect(opened).toMatchObject({
      outcome: 'taken',
      previous: { claimed: true, lease: { owner: 'boot1/a' } },
      record: { claimed: true, attempts: 1, fence: 2, lease: { owner: 'boot1/b' } },
    });
  });

  it('knows of a call that a late owner announced between its look and its write', async () => {
    const first = request();
    await openStep(standIns.store, first);
    const { client, name } = standIns.store.table;
    let announced = false;
    const interrupted: Store = {
      ...standIns.store,
      table: {
        name,
        client: new Proxy(client, {
          get: (target, property, receiver) =>
            property !== 'send'
              ? Reflect.get(target, property, receiver)
              : async (command: GetCommand) => {
                  if (command instanceof UpdateCommand && !announced) {
                    announced = true;
                    await markClaimed(standIns.store, first, first.owner, { attempts: 1 });
                  }
                  return target.send(command);
                },
        }),
      },
    };
    const opened = await openStep(interrupted, { ...first, owner: 'boot1/b', now: T0 + 30_000 });
    expect(announced).toBe(true);
    expect(opened).toMatchObject({ outcome: 'taken', previous: { claimed: true, attempts: 1 } });
    await expect(markClaimed(standIns.store, first, first.owner)).rejects.toThrow(LeaseLost);
  });

  it('goes on with a step that was let go of', async () => {
    const first = request();
    await openStep(standIns.store, first);
    await releaseStep(standIns.store, first, first.owner, { attempts: 1, notBefore: T0 + 1000 });
    const opened = await openStep(standIns.store, { ...first, owner: 'boot1/b', now: T0 + 1000 });
    expect(opened).toMatchObject({
      outcome: 'claimed',
      resumed: true,
      record: { attempts: 1, notBefore: T0 + 1000, fence: 2 },
    });
  });

  const settledCases: [StepRecord['status'], number, number, 'recorded' | 'reopened'][] = [
    ['succeeded', 0, 0, 'recorded'],
    ['succeeded', 0, 3, 'recorded'],
    ['failed', 0, 0, 'recorded'],
    ['failed', 1, 0, 'recorded'],
    ['failed', 0, 1, 'reopened'],
    ['skipped', 0, 0, 'recorded'],
    ['skipped', 0, 1, 'reopened'],
  ];
  it.each(settledCases)('%s at epoch %i, met by epoch %i: %s', async (status, was, epoch, outcome) => {
    const first = request({ epoch: was, deadline: T0 + 100 });
    const { record } = await openStep(standIns.store, first);
    await settleStep(
      standIns.store,
      { ...ended(record, status), ...(status === 'failed' ? { error: failure } : {}), attempts: 3 },
      first.owner,
    );
    const opened = await openStep(standIns.store, { ...first, owner: 'boot1/b', epoch, deadline: T0 + 900 });
    expect(opened.outcome).toBe(outcome);
    expect(opened.record.status).toBe(outcome === 'recorded' ? status : 'running');
    if (opened.outcome === 'reopened') {
      expect(opened.previous).toMatchObject({ status, attempts: 3 });
      expect(opened.record).toEqual({
        ...record,
        epoch,
        lease: { owner: 'boot1/b', until: T0 + 30_000 },
        deadline: T0 + 900,
        fence: 2,
      });
    }
  });

  it('leaves a failure closed where it may not be run again', async () => {
    const first = request();
    const { record } = await openStep(standIns.store, first);
    await settleStep(standIns.store, { ...ended(record, 'failed'), error: failure }, first.owner);
    const again = { ...first, owner: 'boot1/b', epoch: 1, mayReopen: () => false };
    expect((await openStep(standIns.store, again)).outcome).toBe('recorded');
  });

  it('gives one of many deliveries the step', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 2, max: 6 }),
        fc.constantFrom('new', 'expired', 'released', 'failed'),
        async (deliveries, state) => {
          const first = request();
          if (state !== 'new') {
            const { record } = await openStep(standIns.store, first);
            if (state === 'released') await releaseStep(standIns.store, first, first.owner);
            if (state === 'failed') await settleStep(standIns.store, ended(record, 'failed'), first.owner);
          }
          const opened = await Promise.all(
            Array.from({ length: deliveries }, (_, index) =>
              openStep(standIns.store, { ...first, owner: `boot2/${index}`, epoch: 1, now: T0 + 60_000 }),
            ),
          );
          const winners = opened.filter(({ outcome }) => outcome !== 'busy');
          expect(winners).toHaveLength(1);
          const [winner] = winners;
          expect(winner?.outcome).toBe(
            { new: 'claimed', expired: 'taken', released: 'claimed', failed: 'reopened' }[state],
          );
        },
      ),
      { numRuns: 25 },
    );
  });
});

describe('writing under a lease', () => {
  it('is refused once the step is taken over', async () => {
    const first = request();
    const { record } = await openStep(standIns.store, first);
    await openStep(standIns.store, { ...first, owner: 'boot1/b', now: T0 + 30_000 });
    const { store } = standIns;
    expect(await renewLease(store, first.run, first.at, 'boot1/a', T0 + 60_000)).toBe(false);
    await expect(updateStep(store, first, 'boot1/a', { attempts: 1 })).rejects.toThrow(LeaseLost);
    await expect(markClaimed(store, first, 'boot1/a')).rejects.toThrow(LeaseLost);
    await expect(releaseStep(store, first, 'boot1/a')).rejects.toThrow(LeaseLost);
    await expect(settleStep(store, ended(record, 'succeeded'), 'boot1/a')).rejects.toThrow(LeaseLost);
    expect(await getStep(store, first.run, first.at)).toMatchObject({
      status: 'running',
      lease: { owner: 'boot1/b' },
    });
  });

  it('renews a lease, so that it is not taken over', async () => {
    const first = request();
    await openStep(standIns.store, first);
    expect(await renewLease(standIns.store, first.run, first.at, first.owner, T0 + 40_000)).toBe(true);
    const late = { ...first, owner: 'boot1/b', now: T0 + 35_000 };
    expect((await openStep(standIns.store, late)).outcome).toBe('busy');
  });

  it('settles once, and takes its own repetition for done', async () => {
    const first = request();
    const { record } = await openStep(standIns.store, first);
    const settled = await settleStep(
      standIns.store,
      { ...ended(record, 'succeeded'), bytes: 12 },
      first.owner,
    );
    expect(settled).toMatchObject({ status: 'succeeded', ms: 1000, bytes: 12, settledBy: 'boot1/a' });
    expect(settled.lease).toBeUndefined();
    expect(await settleStep(standIns.store, ended(record, 'failed'), first.owner)).toEqual(settled);
    await expect(settleStep(standIns.store, ended(record, 'failed'), 'boot1/b')).rejects.toThrow(LeaseLost);
  });

  it('forgets a failure that was tried again', async () => {
    const first = request();
    const { record } = await openStep(standIns.store, first);
    await updateStep(standIns.store, first, first.owner, { error: failure, attempts: 1 });
    const settled = await settleStep(standIns.store, ended(record, 'succeeded'), first.owner);
    expect('error' in settled).toBe(false);
  });

  it('sets a stop flag that a newer epoch clears', async () => {
    const first = request({ type: 'loop' });
    await openStep(standIns.store, first);
    await haltStep(standIns.store, first.run, first.at, 0);
    expect((await getStep(standIns.store, first.run, first.at))?.halt).toBe(true);
    const redriven = await openStep(standIns.store, {
      ...first,
      owner: 'boot1/b',
      epoch: 1,
      now: T0 + 30_000,
    });
    expect(redriven.outcome).toBe('taken');
    expect(redriven.record.halt).toBeUndefined();
  });

  it('removes what is undefined among the changes', async () => {
    const first = request();
    await openStep(standIns.store, first);
    await updateStep(standIns.store, first, first.owner, { notBefore: 5, attempts: 1 });
    const record = await updateStep(standIns.store, first, first.owner, {
      notBefore: undefined,
      attempts: 2,
    });
    expect(record).toMatchObject({ attempts: 2 });
    expect('notBefore' in record).toBe(false);
  });
});

describe('reading steps', () => {
  it('answers a batch in the order asked, past one hundred', async () => {
    const run = freshId();
    const ats = Array.from({ length: 130 }, (_, index) => `loop/${String(index).padStart(5, '0')}/step`);
    await Promise.all(ats.map((at) => openStep(standIns.store, request({ run, at, step: 'step' }))));
    const asked = [...ats].reverse().concat('nowhere');
    const records = await getSteps(standIns.store, run, asked);
    expect(records.map((record) => record?.at)).toEqual([...[...ats].reverse(), undefined]);
  });

  it('pages through a run, without the records of lanes', async () => {
    const run = freshId();
    for (const at of ['a', 'b', 'b#lane1', 'c', 'd'])
      await openStep(standIns.store, request({ run, at, step: 'x' }));
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await listSteps(standIns.store, run, {
        limit: 2,
        ...(cursor === undefined ? {} : { cursor }),
      });
      seen.push(...page.steps.map((record) => record.at));
      cursor = page.cursor;
    } while (cursor !== undefined);
    expect(seen).toEqual(['a', 'b', 'c', 'd']);
    expect((await allSteps(standIns.store, run)).map((record) => record.at)).toEqual(['a', 'b', 'c', 'd']);
  });

  it('holds paths that are longer than a key may be', async () => {
    const run = freshId();
    const at = Array.from({ length: 30 }, (_, index) => `${'x'.repeat(50)}${index}/00001/`).join('');
    await openStep(standIns.store, request({ run, at: `${at}one` }));
    await openStep(standIns.store, request({ run, at: `${at}two` }));
    expect((await allSteps(standIns.store, run)).map((record) => record.at).sort()).toEqual([
      `${at}one`,
      `${at}two`,
    ]);
  });
});
