/** What one principal may do at once, with a clock that stands still: refusals name the limit, its value and when to try again. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { inWaitPlace, requireOpenRun } from '../../lib/engine/admission.ts';
import type { EngineEnvironment } from '../../lib/engine/environment.ts';
import { DEFAULT_ENGINE_LIMITS, type EngineLimits } from '../../lib/engine/limits.ts';
import { admitRequest } from '../../lib/engine/request-limit.ts';
import { sweepRuns } from '../../lib/engine/sweep.ts';
import { admit } from '../../lib/mcp/admit.ts';
import { type Principal, type RunRecord, TRY_WORKFLOW } from '../../lib/store/records.ts';
import { createRun, getRun } from '../../lib/store/runs.ts';
import { runRecord } from '../store/records.ts';
import { startEnvironment, type TestEnvironment } from './engine-environment.ts';

let test: TestEnvironment;
beforeAll(async () => {
  test = await startEnvironment();
});
afterAll(() => test.stop());

const NOON = Date.parse('2026-11-30T12:00:00Z');

/** An engine with these limits, and the time as it is told. */
function engineWith(limits: Partial<EngineLimits>, clock = { now: NOON }): EngineEnvironment {
  const config = { ...test.env.config, limits: { ...DEFAULT_ENGINE_LIMITS, ...limits } };
  return { ...test.env, config, now: () => clock.now };
}

const someone = (): Principal => ({ kind: 'token', id: `token:${randomUUID()}`, scopes: [] });

/** A promise, and what resolves it. */
function signal(): [Promise<void>, () => void] {
  let give: () => void = () => undefined;
  const given = new Promise<void>((resolve) => {
    give = resolve;
  });
  return [given, give];
}

/** How often `work` is let through before it is refused. */
async function passes(times: number, work: () => Promise<unknown>): Promise<number> {
  let passed = 0;
  for (let n = 0; n < times; n++)
    await work().then(
      () => (passed += 1),
      () => undefined,
    );
  return passed;
}

describe('requests', () => {
  it('pass up to the limit of each principal and minute', async () => {
    const clock = { now: NOON + 18_000 };
    const env = engineWith({ requestsPerMinute: 5 }, clock);
    const log: unknown[] = [];
    env.log = (entry) => log.push(entry);
    const [alice, bob] = [someone(), someone()];
    expect(await passes(8, () => admitRequest(env, alice))).toBe(5);
    expect(await passes(3, () => admitRequest(env, bob))).toBe(3);
    await expect(admitRequest(env, alice)).rejects.toMatchObject({
      code: 'LimitExceeded',
      message: 'requests: 5 a minute is the most for one principal; try again in 42 s',
      retryAfterSeconds: 42,
    });
    expect(log).toEqual([{ level: 'warn', event: 'limit-exceeded', limit: 'requests', principal: alice.id }]);
    clock.now = NOON + 60_000;
    expect(await passes(8, () => admitRequest(env, alice))).toBe(5);
  });

  it('are counted across functions, and one that is over is not written any more', async () => {
    const alice = someone();
    const functions = [engineWith({ requestsPerMinute: 4 }), engineWith({ requestsPerMinute: 4 })];
    let passed = 0;
    for (const env of [...functions, ...functions, ...functions]) {
      passed += await passes(1, () => admitRequest(env, alice));
    }
    expect(passed).toBe(4);
    // Both have seen a refusal: without the table they still refuse.
    for (const env of functions) {
      const blind = env.store;
      env.store = { ...blind, table: { ...blind.table, name: 'no-such-table' } };
      await expect(admitRequest(env, alice)).rejects.toMatchObject({ code: 'LimitExceeded' });
    }
  });

  it('are refused over HTTP with 429 and Retry-After, before there is a body', async () => {
    const env = engineWith({ requestsPerMinute: 1 }, { now: NOON + 59_000 });
    const alice = someone();
    expect(await admit(env, alice)).toBeUndefined();
    const response = await admit(env, alice);
    expect(response?.status).toBe(429);
    expect(response?.headers.get('retry-after')).toBe('1');
    expect(await response?.text()).toBe(
      'requests: 1 a minute is the most for one principal; try again in 1 s\n',
    );
  });
});

describe('open runs', () => {
  const opened = (principal: Principal, changes: Partial<RunRecord> = {}) =>
    createRun(
      test.env.store,
      runRecord({
        principal,
        run: randomUUID().replaceAll('-', ''),
        touchedAt: new Date(NOON).toISOString(),
        status: 'RUNNING',
        ...changes,
      }),
    );

  it('are refused at the limit, with what to do', async () => {
    const env = engineWith({ openRuns: 3 });
    const [alice, bob] = [someone(), someone()];
    for (let n = 0; n < 2; n++) await opened(alice);
    await opened(alice, { parent: { run: 'x', at: 'sub' } });
    await expect(requireOpenRun(env, alice)).resolves.toBeUndefined();
    await opened(alice);
    await expect(requireOpenRun(env, alice)).rejects.toMatchObject({
      code: 'LimitExceeded',
      message:
        'open runs: 3 at once is the most for one principal; try again when one of yours has ended (list_runs), or stop one with cancel_run',
    });
    await expect(requireOpenRun(env, bob)).resolves.toBeUndefined();
  });

  it('that nobody has heard of for a minute are looked up before one is refused', async () => {
    const clock = { now: NOON };
    const env = engineWith({ openRuns: 2 }, clock);
    const alice = someone();
    const { run } = await opened(alice);
    await opened(alice);
    await expect(requireOpenRun(env, alice)).rejects.toMatchObject({ code: 'LimitExceeded' });
    clock.now += 61_000;
    // Their executions do not exist.
    await expect(requireOpenRun(env, alice)).resolves.toBeUndefined();
    expect((await getRun(env.store, run.run))?.failure?.error).toBe('ExecutionGone');
  });

  it('are trial calls too; one whose engine died is closed when it has been silent for a minute', async () => {
    const clock = { now: NOON };
    const env = engineWith({ openRuns: 1 }, clock);
    const alice = someone();
    const trial = {
      trigger: 'try',
      workflow: TRY_WORKFLOW,
      called: { tool: 'work' },
      stateMachineArn: '',
      versionArn: '',
    } as const;
    const { run } = await opened(alice, trial);
    await expect(requireOpenRun(env, alice)).rejects.toMatchObject({ code: 'LimitExceeded' });
    clock.now += 59_000;
    await sweepRuns(env);
    expect((await getRun(env.store, run.run))?.status).toBe('RUNNING');
    clock.now += 2000;
    await sweepRuns(env);
    expect(await getRun(env.store, run.run)).toMatchObject({
      status: 'FAILED',
      endedAt: new Date(clock.now).toISOString(),
      failure: {
        error: 'OutcomeUnknown',
        cause: 'the engine ended while the call was under way; it is not known whether it was carried out',
      },
    });
    await expect(requireOpenRun(env, alice)).resolves.toBeUndefined();
  });
});

describe('waiting calls', () => {
  it('have places, which are left when the wait ends, however it does', async () => {
    const env = engineWith({ waitingRuns: 2 });
    const alice = someone();
    const [left, leave] = signal();
    const entered = [signal(), signal()];
    const waiting = entered.map(([, enter]) =>
      inWaitPlace(env, alice, 25, () => {
        enter();
        return left;
      }),
    );
    await Promise.all(entered.map(([inside]) => inside));
    const third = inWaitPlace(env, alice, 25, () => Promise.resolve());
    await expect(third).rejects.toMatchObject({
      code: 'LimitExceeded',
      message:
        'waiting calls: 2 calls of run_workflow may wait at once for one principal; pass "wait": 0 and follow the run with get_run, or try again in 40 s',
      retryAfterSeconds: 40,
    });
    expect(await inWaitPlace(env, someone(), 25, () => Promise.resolve('another'))).toBe('another');
    leave();
    await Promise.all(waiting);
    await expect(inWaitPlace(env, alice, 25, () => Promise.reject(new Error('work failed')))).rejects.toThrow(
      'work failed',
    );
    expect(await passes(5, () => inWaitPlace(env, alice, 25, () => Promise.resolve()))).toBe(5);
  });
});
