/**
 * Who may do what, over HTTP: the table of scopes is complete and holds for every tool, prompt and resource, and no
 * principal reaches what belongs to another.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../lib/blueprint/json.ts';
import type { Agent } from '../../lib/cli/agent.ts';
import { SCOPES } from '../../lib/engine/principals.ts';
import { ACCESS } from '../../lib/mcp/scopes.ts';
import { ENDPOINT_TOOLS } from '../../lib/mcp/tools.ts';
import { PUBLISHED, type RunningEngine, startRunningEngine } from '../running-engine.ts';
import { ALL, callersOf, credentials, principalOf } from './callers.ts';

let engine: RunningEngine;
const { as, clientAs, close } = callersOf(() => engine.mcp);

const blueprint = (id: string, message = 'hi'): JsonObject => ({
  id,
  steps: [{ id: 'say', type: 'call', tool: 'echo', params: { message }, parse: 'text' }],
});

beforeAll(async () => {
  engine = await startRunningEngine(
    { everything: PUBLISHED.everything },
    { principalOf, headers: { authorization: credentials('setup') } },
  );
});
afterAll(async () => {
  await close();
  await engine.end();
});

describe('the table of scopes', () => {
  it('has every tool, prompt and resource that the endpoint offers, and nothing else', async () => {
    const client = await clientAs('lister', 'workflows:read');
    const { tools } = await client.listTools();
    const { prompts } = await client.listPrompts();
    const { resources } = await client.listResources();
    const { resourceTemplates } = await client.listResourceTemplates();
    const offered = {
      tool: tools.map((tool) => tool.name),
      prompt: prompts.map((prompt) => prompt.name),
      resource: [...resources.map(({ uri }) => uri), ...resourceTemplates.map((each) => each.uriTemplate)],
    };
    for (const [kind, names] of Object.entries(offered)) {
      expect(Object.keys(ACCESS[kind as keyof typeof ACCESS]).sort()).toEqual(names.sort());
    }
    expect(tools.map((tool) => tool.name).sort()).toEqual(ENDPOINT_TOOLS.map((tool) => tool.name).sort());
  });

  it('lets nobody in without a principal', async () => {
    const answer = await fetch(engine.mcp, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{}',
    });
    expect(answer.status).toBe(401);
  });
});

/** Arguments with which each tool gets past its scope; what it answers then is another matter. */
const ARGUMENTS: Record<string, JsonObject> = {
  create_workflow: { blueprint: blueprint('by-scope') },
  run_workflow: { id: 'none' },
  list_workflows: {},
  get_workflow: { id: 'none' },
  validate_workflow: { blueprint: blueprint('by-scope') },
  delete_workflow: { id: 'none' },
  get_run: { runId: 'none' },
  list_runs: {},
  cancel_run: { runId: 'none' },
  schedule_workflow: { id: 'none' },
  list_tools: { query: 'echo' },
  call_tool: { tool: 'echo', params: { message: 'x' } },
};

describe.each(Object.entries(ACCESS.tool))('the tool %s', (tool, scope) => {
  it(`is refused without ${scope} and open with it`, async () => {
    const args = ARGUMENTS[tool] as JsonObject;
    const others = SCOPES.filter((each) => each !== scope && each !== 'admin').join(',');
    const refused = await (await as('without', others)).call(tool, args);
    expect(refused).toMatchObject({ isError: true, answer: { code: 'Forbidden' } });
    expect(refused.answer.message).toContain(`"${scope}"`);
    for (const scopes of [scope, 'admin']) {
      const { answer } = await (await as('with', scopes)).call(tool, args);
      expect(answer.code === undefined || answer.code === 'NotFound').toBe(true);
    }
  });
});

describe.each(Object.entries(ACCESS.resource))('the resource %s', (template, scope) => {
  it(`is refused without ${scope} and open with it`, async () => {
    const uri = template.replace('{id}', 'none');
    const others = SCOPES.filter((each) => each !== scope && each !== 'admin').join(',');
    await expect((await clientAs('without', others)).readResource({ uri })).rejects.toThrow(`"${scope}"`);
    const read = (await clientAs('with', scope)).readResource({ uri });
    if (uri.includes('none')) await expect(read).rejects.toThrow(/there is no (run|workflow) "none"/);
    else expect((await read).contents).toHaveLength(1);
  });
});

describe.each(Object.entries(ACCESS.prompt))('the prompt %s', (name, scope) => {
  it(`is refused without ${scope} and open with it`, async () => {
    const others = SCOPES.filter((each) => each !== scope && each !== 'admin').join(',');
    await expect((await clientAs('without', others)).getPrompt({ name })).rejects.toThrow(`"${scope}"`);
    expect((await (await clientAs('with', scope)).getPrompt({ name })).messages).toHaveLength(1);
  });
});

describe('two principals', () => {
  it("read, cancel and page nothing of each other's runs; the workflow's owner and admins read them", async () => {
    const [alice, bob, carol] = await Promise.all([as('alice', ALL), as('bob', ALL), as('carol', ALL)]);
    await alice.call('create_workflow', { blueprint: blueprint('shared') });
    const { answer: started } = await bob.call('run_workflow', { id: 'shared' });
    const runId = String(started.runId);
    expect(started).toMatchObject({ status: 'SUCCEEDED', output: 'Echo: hi' });

    for (const owner of [alice, bob, await as('root', 'admin')]) {
      expect((await owner.call('get_run', { runId })).answer).toMatchObject({ runId });
    }
    for (const [tool, args] of [
      ['get_run', { runId }],
      ['get_run', { runId, step: 'say' }],
      ['cancel_run', { runId }],
    ] as const) {
      const foreign = await carol.call(tool, args);
      const missing = await carol.call(tool, { ...args, runId: 'f'.repeat(32) });
      expect(foreign).toMatchObject({ isError: true, answer: { code: 'NotFound' } });
      // Nor does the answer tell that there is one.
      expect(String(foreign.answer.message).replace(runId, 'f'.repeat(32))).toBe(missing.answer.message);
    }
    const client = await clientAs('carol', ALL);
    for (const uri of [`run://${runId}`, `run://${runId}/output`]) {
      await expect(client.readResource({ uri })).rejects.toThrow('there is no run');
    }
    const runsOf = async (agent: Agent) =>
      ((await agent.call('list_runs', { workflow: 'shared' })).answer.runs as JsonObject[]).map(
        (run) => run.runId,
      );
    expect(await runsOf(carol)).toEqual([]);
    expect(await runsOf(bob)).toEqual([runId]);
    expect(await runsOf(alice)).toEqual([runId]);
  });

  it("change and delete nothing of each other's workflows", async () => {
    const [alice, bob] = await Promise.all([as('alice', ALL), as('bob', ALL)]);
    await alice.call('create_workflow', { blueprint: blueprint('hers') });
    for (const attempt of [
      bob.call('create_workflow', { blueprint: blueprint('hers', 'his') }),
      bob.call('delete_workflow', { id: 'hers' }),
    ]) {
      expect(await attempt).toMatchObject({ isError: true, answer: { code: 'Forbidden' } });
    }
    const { answer } = await bob.call('get_workflow', { id: 'hers' });
    expect(answer).toMatchObject({ revision: 1, owner: 'token:alice' });
    // The id stays its owner's: what floats on it must not become another's.
    await alice.call('delete_workflow', { id: 'hers' });
    const taken = await bob.call('create_workflow', { blueprint: blueprint('hers', 'his') });
    expect(taken.answer).toMatchObject({ code: 'Forbidden' });
    const again = await alice.call('create_workflow', { blueprint: blueprint('hers', 'again') });
    expect(again.answer).toMatchObject({ revision: 2 });
  });

  it('have idempotency keys and cursors of their own', async () => {
    const [alice, bob] = await Promise.all([as('alice', ALL), as('bob', ALL)]);
    await alice.call('create_workflow', { blueprint: blueprint('keys') });
    const run = (agent: Agent) => agent.call('run_workflow', { id: 'keys', idempotencyKey: 'same' });
    const [hers, his] = await Promise.all([run(alice), run(bob)]);
    expect(hers.answer.runId).not.toBe(his.answer.runId);

    await Promise.all(
      Array.from({ length: 52 }, (_, n) =>
        alice.call('create_workflow', { blueprint: blueprint(`page-${n}`) }),
      ),
    );
    const { answer } = await alice.call('list_workflows', {});
    const cursor = String(answer.nextCursor);
    expect((await bob.call('list_workflows', { cursor })).answer).toMatchObject({ code: 'Invalid' });
    expect((await alice.call('list_workflows', { cursor })).isError).toBe(false);
  });

  it('see the result of what they start, and of a blueprint no more than they may read', async () => {
    const starter = await as('starter', 'runs:start');
    await (await as('alice', ALL)).call('create_workflow', { blueprint: blueprint('startable') });
    expect((await starter.call('run_workflow', { id: 'startable' })).answer).toMatchObject({
      status: 'SUCCEEDED',
      output: 'Echo: hi',
    });
    expect((await starter.call('run_workflow', { id: 'startable', dryRun: true })).answer).toMatchObject({
      code: 'Forbidden',
    });
  });
});
