/** The limits of a principal over HTTP: what is refused says so, nothing of it happens, and others go on. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../lib/blueprint/json.ts';
import type { Agent } from '../../lib/cli/agent.ts';
import { PUBLISHED, type RunningEngine, startRunningEngine } from '../running-engine.ts';
import { callersOf, credentials, principalOf } from './callers.ts';

let engine: RunningEngine;
const { as, close } = callersOf(() => engine.mcp);

const HANG = {
  id: 'hang',
  steps: [
    {
      id: 'h',
      type: 'call',
      tool: 'everything/trigger-long-running-operation',
      params: { duration: 60, steps: 60 },
    },
  ],
};

beforeAll(async () => {
  engine = await startRunningEngine(
    { everything: { ...PUBLISHED.everything, trustAnnotations: true, maxConcurrency: 8 } },
    {
      principalOf,
      headers: { authorization: credentials('setup') },
      principalLimits: { requestsPerMinute: 300, openRuns: 3, waitingRuns: 2 },
    },
  );
  await engine.agent.call('create_workflow', { blueprint: HANG });
  await engine.agent.call('create_workflow', {
    blueprint: {
      id: 'quick',
      steps: [{ id: 'e', type: 'call', tool: 'echo', params: { message: 'x' }, parse: 'text' }],
    },
  });
});
afterAll(async () => {
  await close();
  await engine.end();
});

const start = (agent: Agent, args: JsonObject = {}) =>
  agent.call('run_workflow', { id: 'hang', wait: 0, ...args });
const runsOf = async (agent: Agent) =>
  (await agent.call('list_runs', {})).answer.runs as { runId: string; status: string }[];

describe('open runs', () => {
  it('are refused at the limit, trial calls too; a repeat, another principal, and whoever has cancelled one are not', async () => {
    const [alice, bob] = [await as('alice'), await as('bob')];
    const runs: string[] = [];
    for (const key of ['a', 'b', 'c']) {
      runs.push(String((await start(alice, { idempotencyKey: key })).answer.runId));
    }
    const refused = await start(alice);
    expect(refused).toMatchObject({ isError: true, answer: { code: 'LimitExceeded' } });
    expect(refused.answer.message).toContain('open runs: 3 at once');
    const trial = await alice.call('call_tool', { tool: 'echo', params: { message: 'x' } });
    expect(trial).toMatchObject({ isError: true, answer: { code: 'LimitExceeded' } });
    expect(await runsOf(alice)).toHaveLength(3);

    expect((await start(alice, { idempotencyKey: 'b' })).answer.runId).toBe(runs[1]);
    expect((await bob.call('run_workflow', { id: 'quick' })).answer.status).toBe('SUCCEEDED');
    await alice.call('cancel_run', { runId: runs[0] ?? '' });
    expect((await alice.call('run_workflow', { id: 'quick' })).answer.status).toBe('SUCCEEDED');
    for (const runId of runs) await alice.call('cancel_run', { runId });
  });
});

describe('waiting calls', () => {
  it('are refused at the limit before anything is started; a call that does not wait is not', async () => {
    const carol = await as('carol');
    const waiting = [1, 2].map(() => start(carol, { wait: 50 }));
    // The places are taken before the runs are started.
    let runs = await runsOf(carol);
    while (runs.length < 2) runs = await runsOf(carol);
    const refused = await start(carol, { wait: 1 });
    expect(refused).toMatchObject({ isError: true, answer: { code: 'LimitExceeded' } });
    expect(refused.answer.message).toContain('waiting calls: 2 calls of run_workflow may wait at once');
    expect(refused.answer.retryAfterSeconds).toBeGreaterThan(0);
    expect(await runsOf(carol)).toHaveLength(2);
    const third = await start(carol);
    expect(third.answer.status).toBe('RUNNING');
    for (const { runId } of await runsOf(carol)) await carol.call('cancel_run', { runId });
    await Promise.all(waiting);
    expect((await carol.call('run_workflow', { id: 'quick', wait: 20 })).answer.status).toBe('SUCCEEDED');
  });
});

describe('requests', () => {
  it('are refused with 429 and Retry-After before the body is looked at; another principal goes on', async () => {
    const send = (name: string) =>
      fetch(engine.mcp, {
        method: 'POST',
        headers: { authorization: credentials(name), 'content-type': 'application/json' },
        body: 'this is not JSON',
      });
    // A minute may turn meanwhile, which gives the limit once more.
    let refused: Response | undefined;
    let passed = 0;
    while (refused === undefined && passed <= 600) {
      const response = await send('dave');
      if (response.status === 429) refused = response;
      else {
        expect(response.status).toBe(400);
        passed += 1;
      }
    }
    expect(passed).toBeGreaterThanOrEqual(300);
    expect(Number(refused?.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    expect(Number(refused?.headers.get('retry-after'))).toBeLessThanOrEqual(60);
    expect(await refused?.text()).toMatch(
      /^requests: 300 a minute is the most for one principal; try again in \d+ s\n$/,
    );
    expect((await send('erin')).status).toBe(400);
  });
});
