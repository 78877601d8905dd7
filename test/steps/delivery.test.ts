/** Deliveries that come twice, late, or after one that vanished; and redrives. Tasks are sent by hand, the store is real. */
import { randomUUID } from 'node:crypto';
import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Blueprint } from '../../lib/blueprint/types.ts';
import type { StepTask, Task } from '../../lib/compile/protocol.ts';
import type { StepsEnvironment } from '../../lib/steps/environment.ts';
import { runTask } from '../../lib/steps/run-task.ts';
import { claimWindow, finishWindow } from '../../lib/store/journal.ts';
import type { ItemResult, RunRecord, WindowRecord } from '../../lib/store/records.ts';
import { childRunId } from '../../lib/store/run-id.ts';
import { claimRun, createRun, getRun, reopenRun, setStop } from '../../lib/store/runs.ts';
import { getStep } from '../../lib/store/steps.ts';
import { getValue, putValue } from '../../lib/store/values.ts';
import { freshName, type Harness, type Saved, startHarness } from './harness.ts';

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness({ limits: { pollEveryMs: 20, renewEveryMs: 40, leaseMs: 400 } });
});
afterAll(async () => {
  await harness.stop();
});

/** The same engine after a restart: another boot, to which leases of the one before are void. */
function restarted(): StepsEnvironment {
  const boot = randomUUID();
  return {
    ...harness.env,
    newOwner: () => `${boot}/${randomUUID()}`,
    isDeadOwner: (owner) => !owner.startsWith(`${boot}/`),
  };
}

async function openRun(saved: Saved, more: Partial<RunRecord> = {}): Promise<string> {
  const run = randomUUID().replaceAll('-', '');
  const now = new Date().toISOString();
  await createRun(harness.store, {
    run,
    workflow: saved.id,
    revision: 1,
    hash: saved.hash,
    principal: { kind: 'local', id: 'local', scopes: [] },
    owner: 'local',
    trigger: 'call',
    status: 'STARTING',
    stateMachineArn: saved.stateMachineArn,
    versionArn: saved.versionArn,
    executionName: run,
    epoch: 0,
    createdAt: now,
    touchedAt: now,
    paramsHash: '',
    root: run,
    depth: 0,
    attempts: 0,
    subRuns: 0,
    errorCount: 0,
    ...more,
  });
  await putValue(harness.store, run, '$params', {});
  await claimRun(harness.store, run, { execution: `execution:${run}`, startedAt: now });
  return run;
}

/** The same store; `before` is called with each command before it is sent. */
function watched(
  before: (command: { input: { Key?: { sk?: unknown }; Item?: { sk?: unknown } } }) => void | Promise<void>,
) {
  const { table } = harness.store;
  const client = new Proxy(table.client, {
    get(target, name) {
      if (name !== 'send') return Reflect.get(target, name);
      return async (command: { input: object }) => {
        await before(command);
        return target.send(command as never);
      };
    },
  });
  return { ...harness.store, table: { ...table, client } };
}

async function prepared(
  steps: Blueprint['steps'],
  more: Partial<RunRecord> = {},
): Promise<{ run: string; task: (step: string, epoch?: number, op?: StepTask['op']) => Task }> {
  const saved = await harness.save({ id: freshName(), steps });
  const run = await openRun(saved, more);
  harness.clearCalls();
  return {
    run,
    task: (step, epoch = 0, given = undefined) => {
      const op = given ?? (steps.find(({ id }) => id === step)?.type === 'loop' ? 'loop' : 'call');
      const base = {
        abi: 1 as const,
        workflow: saved.id,
        hash: saved.hash,
        run,
        execution: `execution:${run}`,
        epoch,
        step,
        at: '',
      };
      return { ...base, op } as StepTask;
    },
  };
}

/** Resolves once the server has been called `count` times. */
async function called(count: number): Promise<void> {
  while (harness.calls().length < count) await new Promise((next) => setTimeout(next, 5));
}

const work = { id: 'a', type: 'call' as const, tool: 'counting/work', params: { n: 1, ms: 60 } };

test('of two deliveries at once one works and the other is told Busy', async () => {
  const { task } = await prepared([work]);
  const [first, second] = await Promise.allSettled([
    runTask(task('a'), harness.env),
    runTask(task('a'), harness.env),
  ]);
  const ends = [first, second].map((end) =>
    end.status === 'fulfilled' ? end.value.status : (end.reason as Error).name,
  );
  expect(ends.sort()).toEqual(['Busy', 'done']);
  expect(harness.calls()).toHaveLength(1);
});

test('a recorded end is replayed, success and failure', async () => {
  const { task } = await prepared([
    work,
    {
      id: 'b',
      type: 'call',
      tool: 'counting/fail',
      params: {},
      errorStrategy: { onStepFailure: 'continue' },
    },
  ]);
  const first = await runTask(task('a'), harness.env);
  const again = await runTask(task('a'), harness.env);
  expect([first.status, again.status]).toEqual(['done', 'done']);
  expect(again.bytes).toBe(first.bytes);
  const failed = await runTask(task('b'), harness.env).catch((error: Error) => error);
  const refailed = await runTask(task('b'), harness.env).catch((error: Error) => error);
  expect(failed).toMatchObject({ name: 'ToolError' });
  expect((refailed as Error).stack).toBe((failed as Error).stack);
  expect((failed as Error).stack).toBe(
    'ToolError: step "b" (counting/fail): the tool answered with an error after 1 attempt',
  );
  expect(harness.calls()).toHaveLength(2);
});

test('a call that may not be repeated is OutcomeUnknown after its worker vanished, in every epoch', async () => {
  const { run, task } = await prepared([{ id: 'a', type: 'call', tool: 'counting/hang', params: {} }]);
  const lost = runTask(task('a'), harness.env).catch((error: Error) => error.name);
  await called(1);
  const next = restarted();
  await expect(runTask(task('a'), next)).rejects.toMatchObject({ name: 'OutcomeUnknown' });
  // The one before notices that its lease is gone, and writes nothing.
  expect(await lost).toBe('Busy');
  await expect(runTask(task('a', 1), next)).rejects.toMatchObject({ name: 'OutcomeUnknown' });
  expect(harness.calls()).toHaveLength(1);
  expect((await getStep(harness.store, run, 'a'))?.error?.kind).toBe('OutcomeUnknown');
});

test('retryUnknown lets a newer epoch make the call again', async () => {
  const { task } = await prepared([
    { id: 'a', type: 'call', tool: 'counting/hang', params: {}, timeoutSeconds: 1 },
  ]);
  await expect(runTask(task('a'), harness.env)).rejects.toMatchObject({ name: 'OutcomeUnknown' });
  expect(harness.calls()).toHaveLength(1);
  const allowed = await prepared([
    { id: 'a', type: 'call', tool: 'counting/hang', params: {}, timeoutSeconds: 1, retryUnknown: true },
  ]);
  await expect(runTask(allowed.task('a'), harness.env)).rejects.toMatchObject({ name: 'ToolTimeout' });
  await expect(runTask(allowed.task('a', 1), harness.env)).rejects.toMatchObject({ name: 'ToolTimeout' });
  expect(harness.calls()).toHaveLength(2);
});

test('a read-only call is made again after its worker vanished', async () => {
  const { task } = await prepared([
    { id: 'a', type: 'call', tool: 'counting/read', params: { n: 7, hold: '{{ run.id }}' } },
  ]);
  const lost = runTask(task('a'), harness.env).catch((error: Error) => error.name);
  await called(1);
  expect(await runTask(task('a'), restarted())).toMatchObject({ status: 'done' });
  expect(await lost).toBe('Busy');
  expect(harness.calls().map(({ args }) => args.n)).toEqual([7, 7]);
});

test('a lease that only time voids is waited for', async () => {
  const { task } = await prepared([{ id: 'a', type: 'call', tool: 'counting/hang', params: {} }]);
  // A worker that stands still: it renews nothing and looks at nothing.
  const limits = { ...harness.env.limits, pollEveryMs: 3_600_000, leaseMs: 60_000 };
  const still = { ...harness.env, limits };
  void runTask(task('a'), still).catch(() => undefined);
  await called(1);
  const elsewhere = { ...restarted(), isDeadOwner: () => false };
  await expect(runTask(task('a'), elsewhere)).rejects.toMatchObject({ name: 'Busy' });
  const { clock } = later(61_000);
  await expect(runTask(task('a'), { ...elsewhere, clock })).rejects.toMatchObject({ name: 'OutcomeUnknown' });
});

test('a task of another execution, of an older epoch or of an ended run is refused', async () => {
  const { task } = await prepared([work]);
  await expect(runTask({ ...task('a'), execution: 'other' } as Task, harness.env)).rejects.toMatchObject({
    name: 'Cancelled',
  });
  await expect(runTask({ ...task('a'), run: 'nobody' } as Task, harness.env)).rejects.toMatchObject({
    name: 'Cancelled',
  });
  expect(await runTask(task('a', 2), harness.env)).toMatchObject({ status: 'done' });
  await expect(runTask(task('a', 1), harness.env)).rejects.toMatchObject({ name: 'Cancelled' });
  expect(harness.calls()).toHaveLength(1);
});

const ITEMS = Array.from({ length: 40 }, (_, i) => i);
const loopOf = (tool: string, more: object = {}) => ({
  id: 'each',
  type: 'loop' as const,
  over: ITEMS,
  concurrency: 4,
  errorStrategy: { onStepFailure: 'continue' as const },
  do: { id: 'one', type: 'call' as const, tool: `counting/${tool}`, params: { n: '{{ item }}', ms: 15 } },
  ...more,
});

/** The same loop, in which the first calls for items 10 to 13, all that run at once, never end. */
const heldLoopOf = (tool: string) => {
  const loop = loopOf(tool);
  const hold = "{{ item >= `10` && item < `14` && join('-', [run.id, to_string(item)]) || null }}";
  return { ...loop, do: { ...loop.do, params: { ...loop.do.params, hold } } };
};

const byStatus = (results: ItemResult[]): Record<string, number[]> => {
  const found: Record<string, number[]> = {};
  for (const { index, status, error } of results) {
    const key = error?.kind ?? status;
    found[key] = [...(found[key] ?? []), index];
  }
  return found;
};

test('a loop whose worker vanished: no call is made twice, and every item is recorded or unknown', async () => {
  const { run, task } = await prepared([heldLoopOf('work')]);
  const lost = runTask(task('each'), harness.env).catch((error: Error) => error.name);
  await called(14);
  expect(await runTask(task('each'), restarted())).toMatchObject({ status: 'done', count: 40 });
  expect(await lost).toBe('Busy');
  const sent = harness.calls().map(({ args }) => args.n as number);
  expect(new Set(sent).size).toBe(sent.length);
  const results = await harness.results(run, 'each');
  const found = byStatus(results);
  expect(results).toHaveLength(40);
  expect(found.succeeded?.every((index) => sent.includes(index))).toBe(true);
  // Whatever was sent and not recorded is among the unknown ones.
  for (const index of sent)
    expect([...(found.succeeded ?? []), ...(found.OutcomeUnknown ?? [])]).toContain(index);
  expect(found.OutcomeUnknown?.length).toBeGreaterThan(0);
});

test('the same with read-only calls: what was under way is made again, and nothing is unknown', async () => {
  const { run, task } = await prepared([heldLoopOf('read')]);
  const lost = runTask(task('each'), harness.env).catch((error: Error) => error.name);
  await called(14);
  expect(await runTask(task('each'), restarted())).toMatchObject({ status: 'done', count: 40 });
  expect(await lost).toBe('Busy');
  expect(byStatus(await harness.results(run, 'each'))).toEqual({ succeeded: ITEMS });
  expect(new Set(harness.calls().map(({ args }) => args.n)).size).toBe(40);
});

const ghost = { at: 'each', window: 1, from: 4, to: 6, owner: 'ghost/1', epoch: 0 };

test('a window that a late worker of before has claimed is taken over: nothing is sent twice', async () => {
  const { run, task } = await prepared([loopOf('work')]);
  const window: WindowRecord = { ...ghost, run, state: 'claimed' };
  await claimWindow(harness.store, window);
  expect(await runTask(task('each'), harness.env)).toMatchObject({ status: 'done', count: 40 });
  const known = ITEMS.filter((i) => i !== 4 && i !== 5);
  expect(byStatus(await harness.results(run, 'each'))).toEqual({ succeeded: known, OutcomeUnknown: [4, 5] });
  expect(
    harness
      .calls()
      .map(({ args }) => args.n)
      .sort(),
  ).toEqual([...known].sort());
  expect(await finishWindow(harness.store, window, [])).toBe(false);
});

test('a window that its late worker ends while it is being taken over stands as it was ended', async () => {
  const { run, task } = await prepared([loopOf('work')]);
  const window: WindowRecord = { ...ghost, run, state: 'claimed' };
  await claimWindow(harness.store, window);
  const results = [4, 5].map((index): ItemResult => {
    return { index, item: index, status: 'succeeded', value: 'late', error: null, attempts: 1 };
  });
  const state = { ended: false };
  const store = watched(async (command) => {
    if (!(command instanceof UpdateCommand) || !String(command.input.Key?.sk).startsWith('WINDOW#')) return;
    if (!state.ended) expect(await finishWindow(harness.store, window, results)).toBe(true);
    state.ended = true;
  });
  const env = { ...harness.env, store };
  expect(await runTask(task('each'), env)).toMatchObject({ status: 'done', count: 40 });
  const found = await harness.results(run, 'each');
  expect(byStatus(found)).toEqual({ succeeded: ITEMS });
  expect(found.filter(({ value }) => value === 'late').map(({ index }) => index)).toEqual([4, 5]);
  expect(harness.calls()).toHaveLength(38);
});

test('a redrive runs the failed items anew, and not those that succeeded or are unknown', async () => {
  const { run, task } = await prepared([
    {
      ...loopOf('flaky', { errorStrategy: { onStepFailure: 'abort' }, concurrency: 1 }),
      do: {
        id: 'one',
        type: 'call',
        tool: 'counting/flaky',
        params: {
          n: '{{ item }}',
          key: '{{ run.id }}{{ index }}',
          times: '{{ index == `5` && `1` || `0` }}',
        },
      },
    },
  ]);
  await expect(runTask(task('each'), harness.env)).rejects.toMatchObject({ name: 'ToolError' });
  expect(harness.calls().map(({ args }) => args.n)).toEqual([0, 1, 2, 3, 4, 5]);
  expect(await runTask(task('each', 1), harness.env)).toMatchObject({ status: 'done', count: 40 });
  expect(harness.calls().map(({ args }) => args.n)).toEqual([0, 1, 2, 3, 4, 5, ...ITEMS.slice(5)]);
  expect(byStatus(await harness.results(run, 'each'))).toEqual({ succeeded: ITEMS });
});

test('what an item has done before it failed is not done again', async () => {
  const { task } = await prepared([
    {
      ...loopOf('work', { errorStrategy: { onStepFailure: 'abort' }, concurrency: 1, over: [0, 1, 2] }),
      do: [
        { id: 'one', type: 'call', tool: 'counting/work', params: { n: '{{ item }}' } },
        {
          id: 'two',
          type: 'call',
          tool: 'counting/flaky',
          params: {
            n: '{{ item }}',
            key: '{{ run.id }}{{ index }}',
            times: '{{ index == `1` && `1` || `0` }}',
          },
        },
      ],
    },
  ]);
  await expect(runTask(task('each'), harness.env)).rejects.toMatchObject({ name: 'ToolError' });
  expect(await runTask(task('each', 1), harness.env)).toMatchObject({ status: 'done' });
  expect(harness.calls().map(({ tool, args }) => `${tool} ${String(args.n)}`)).toEqual([
    'work 0',
    'flaky 0',
    'work 1',
    'flaky 1',
    'flaky 1',
    'work 2',
    'flaky 2',
  ]);
});

test('the stop flag ends a loop: calls in flight are aborted, no other is sent', async () => {
  const { run, task } = await prepared([loopOf('work')]);
  const ended = runTask(task('each'), harness.env).catch((error: Error) => error.name);
  await called(8);
  await setStop(harness.store, run, { at: new Date().toISOString(), by: 'test' });
  expect(await ended).toBe('Cancelled');
  expect(harness.calls().length).toBeLessThan(30);
  const step = await getStep(harness.store, run, 'each');
  expect(step).toMatchObject({ status: 'failed', error: { kind: 'Cancelled' } });
});

test('attempts are counted before they are made, on the root run', async () => {
  const { run, task } = await prepared([loopOf('work', { concurrency: 1 })]);
  const limited = { ...harness.env, limits: { ...harness.env.limits, maxAttempts: 10 } };
  await expect(runTask(task('each'), limited)).rejects.toMatchObject({ name: 'LimitExceeded' });
  expect(harness.calls().length).toBeLessThanOrEqual(10);
  expect((await getRun(harness.store, run))?.attempts).toBeLessThanOrEqual(10);
});

test.each([
  { tool: 'hang', kind: 'OutcomeUnknown' },
  { tool: 'hang-read', kind: 'Cancelled' },
])('a call in flight when the run is stopped: $tool is $kind', async ({ tool, kind }) => {
  const { run, task } = await prepared([{ id: 'a', type: 'call', tool: `counting/${tool}`, params: {} }]);
  const ended = runTask(task('a'), harness.env).catch((error: Error) => error.name);
  await called(1);
  await setStop(harness.store, run, { at: new Date().toISOString(), by: 'test' });
  expect(await ended).toBe(kind);
  expect((await getStep(harness.store, run, 'a'))?.error?.kind).toBe(kind);
  expect((await getRun(harness.store, run))?.status).toBe('CANCELLED');
});

/** The engine some time later: its clock is ahead, and its invocations are short, so that a delay of a second is waited for outside. */
function later(ms: number): StepsEnvironment {
  const { clock, limits } = harness.env;
  return {
    ...harness.env,
    clock: { ...clock, now: () => clock.now() + ms },
    limits: { ...limits, marginMs: 900_000 - 1500 },
  };
}

const failing = (retryDelayMs: number) => ({
  id: 'a',
  type: 'call' as const,
  tool: 'counting/fail',
  params: {},
  timeoutSeconds: 60,
  errorStrategy: { maxRetries: 9, retryDelayMs, maxDelayMs: 60_000, backoffRate: 1, jitter: false },
});
const looped = (call: ReturnType<typeof failing>) => ({
  id: 'each',
  type: 'loop' as const,
  over: [0],
  do: [call],
});
const piped = (call: ReturnType<typeof failing>) => ({
  id: 'each',
  type: 'loop' as const,
  over: [0],
  do: {
    id: 'p',
    type: 'pipe' as const,
    timeoutSeconds: 30,
    steps: [call],
  },
});

test.each([
  { name: 'a call', step: failing(19_000), at: 'a' },
  { name: "a loop's item", step: looped(failing(19_000)), at: 'each' },
])(
  "a step's time limit is over all its attempts, whatever waits lie between: $name",
  async ({ step, at }) => {
    const { run, task } = await prepared([step]);
    for (const after of [0, 19_500, 39_000]) {
      expect(await runTask(task(step.id), later(after))).toMatchObject({ status: 'wait' });
    }
    expect(harness.calls()).toHaveLength(3);
    // The next attempt would have begun in time, and comes too late: the failure before it stands.
    await expect(runTask(task(step.id), later(60_500))).rejects.toMatchObject({ name: 'ToolError' });
    expect(harness.calls()).toHaveLength(3);
    expect(await getStep(harness.store, run, at)).toMatchObject({
      status: 'failed',
      error: { step: 'a', kind: 'ToolError', attempts: 3, message: expect.stringMatching(/it broke/) },
    });
    // A redrive has the whole of it again.
    expect(await runTask(task(step.id, 1), later(90_000))).toMatchObject({ status: 'wait' });
  },
);

test('a retry that would begin after the limit is not waited for', async () => {
  const { task } = await prepared([failing(60_000)]);
  await expect(runTask(task('a'), later(0))).rejects.toMatchObject({ name: 'ToolError' });
  expect(harness.calls()).toHaveLength(1);
});

test("a container's time limit in an item stands where the item goes on in another invocation", async () => {
  const { run, task } = await prepared([piped(failing(20_000))]);
  for (const after of [0, 20_000])
    expect(await runTask(task('each'), later(after))).toMatchObject({ status: 'wait' });
  await expect(runTask(task('each'), later(40_500))).rejects.toMatchObject({ name: 'LimitExceeded' });
  expect(harness.calls()).toHaveLength(2);
  expect((await harness.results(run, 'each'))[0]?.error).toMatchObject({ kind: 'LimitExceeded' });
});

test("a redrive has a container's whole time limit again, though it comes back inside it", async () => {
  const once = {
    id: 'a',
    type: 'call' as const,
    tool: 'counting/flaky',
    params: { key: '{{ run.id }}', times: 1 },
  };
  const { run, task } = await prepared([{ id: 'q', type: 'pipe', timeoutSeconds: 60, steps: [once] }]);
  expect(await runTask(task('q', 0, 'enter'), harness.env)).toMatchObject({ status: 'done' });
  await expect(runTask(task('a'), harness.env)).rejects.toMatchObject({ name: 'ToolError' });
  expect(await getStep(harness.store, run, 'q')).toMatchObject({ status: 'failed', error: { step: 'a' } });
  const tomorrow = { ...harness.env, clock: later(86_400_000).clock };
  expect(await runTask(task('a', 1), tomorrow)).toMatchObject({ status: 'done' });
  expect(await getStep(harness.store, run, 'q')).toMatchObject({ status: 'running', epoch: 1 });
  expect(await runTask(task('q', 1, 'settle'), tomorrow)).toMatchObject({ status: 'done' });
  expect(await getStep(harness.store, run, 'q')).toMatchObject({ status: 'succeeded', epoch: 1 });
  // A task of the first epoch that comes late, and what it would say of the containers around it, is nothing any more.
  await expect(runTask(task('a', 0), tomorrow)).rejects.toMatchObject({ name: 'Cancelled' });
});

test('a task that comes after a time limit sends nothing', async () => {
  const call = { id: 'a', type: 'call' as const, tool: 'counting/work', params: {} };
  const { task } = await prepared([{ id: 'q', type: 'pipe', timeoutSeconds: 60, steps: [call] }]);
  await runTask(task('q', 0, 'enter'), harness.env);
  const late = { ...harness.env, clock: later(61_000).clock };
  await expect(runTask(task('a'), late)).rejects.toMatchObject({ name: 'LimitExceeded' });
  expect(harness.calls()).toHaveLength(0);
});

test('a run that a status event has opened again has its time limit from its first task on', async () => {
  const { run, task } = await prepared([work]);
  const at = new Date().toISOString();
  await reopenRun(harness.store, run, { execution: `execution:${run}`, epoch: 1, at });
  expect((await getRun(harness.store, run))?.deadline).toBeUndefined();
  expect(await runTask(task('a', 1), harness.env)).toMatchObject({ status: 'done' });
  expect((await getRun(harness.store, run))?.deadline).toBeGreaterThan(Date.now() + 3_000_000);
});

test('a run stops with the run that it is a part of, also where nobody else stops it', async () => {
  const parent = await prepared([work]);
  const { run, task } = await prepared([{ id: 'a', type: 'call', tool: 'counting/hang-read', params: {} }], {
    parent: { run: parent.run, at: 'a' },
    root: parent.run,
    depth: 1,
  });
  const ended = runTask(task('a'), harness.env).catch((error: Error) => error.name);
  await called(1);
  await setStop(harness.store, parent.run, { at: new Date().toISOString(), by: 'test' });
  expect(await ended).toBe('Cancelled');
  expect((await getRun(harness.store, run))?.status).toBe('CANCELLED');
});

test('a sub-run has its parameters whenever it has a record', async () => {
  const child = await harness.save({ id: freshName(), params: { x: { type: 'integer' } }, steps: [work] });
  const sub = { id: 'sub', type: 'call' as const, workflow: `${child.id}@latest`, params: { x: 5 } };
  const { run, task } = await prepared([sub]);
  const state = { failed: false };
  const store = watched(({ input }) => {
    if (state.failed || input.Item?.sk !== 'VALUE#$params') return;
    state.failed = true;
    throw new Error('the store does not answer');
  });
  await expect(runTask(task('sub', 0, 'prepare'), { ...harness.env, store })).rejects.toThrow(
    'does not answer',
  );
  // Nothing runs any more: the next delivery need not wait for the lease to end.
  const name = childRunId(run, 'sub', 0);
  expect(await runTask(task('sub', 0, 'prepare'), harness.env)).toMatchObject({ child: { name } });
  expect(await getValue(harness.store, name, '$params')).toEqual({ x: 5 });
});
