/**
 * Who may do what, over HTTP: the table of scopes is complete and holds for every tool, prompt and resource, and no
 * principal reaches what belongs to another.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../lib/blueprint/json.ts';
import type { Agent } from '../../lib/cli/agent.ts';
import { requirePrincipal, SCOPES } from '../../lib/engine/principals.ts';
import { ACCESS, authorize } from '../../lib/mcp/scopes.ts';
import { ENDPOINT_TOOLS } from '../../lib/mcp/tools.ts';
import type { Principal } from '../../lib/store/records.ts';
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

/** No scope, each scope alone, all but `admin`, and `admin` alone. */
const SCOPE_SETS = ['', ...SCOPES, ALL];

const isOpen = (scopes: string, needed: string): boolean =>
  scopes.split(',').some((scope) => scope === needed || scope === 'admin');

describe.each(Object.entries(ACCESS.tool))('the tool %s needs %s', (tool, needed) => {
  it.each(SCOPE_SETS)('with "%s"', async (scopes) => {
    const { isError, answer } = await (await as('someone', scopes)).call(tool, ARGUMENTS[tool] ?? {});
    if (isOpen(scopes, needed)) {
      expect(answer.code === undefined || answer.code === 'NotFound').toBe(true);
    } else {
      expect({ isError, code: answer.code }).toEqual({ isError: true, code: 'Forbidden' });
      expect(answer.message).toBe(`this needs the scope "${needed}", which the caller does not have`);
    }
  });
});

describe.each(Object.entries(ACCESS.resource))('the resource %s needs %s', (template, needed) => {
  it.each(SCOPE_SETS)('with "%s"', async (scopes) => {
    const uri = template.replace('{id}', 'none').replace('{revision}', '1').replace('{+at}', 'say');
    const read = (await clientAs('someone', scopes)).readResource({ uri });
    if (!isOpen(scopes, needed)) await expect(read).rejects.toThrow(`needs the scope "${needed}"`);
    else if (uri.includes('none')) await expect(read).rejects.toThrow(/there is no (run|workflow) "none"/);
    else expect((await read).contents).toHaveLength(1);
  });
});

describe.each(Object.entries(ACCESS.prompt))('the prompt %s needs %s', (name, needed) => {
  it.each(SCOPE_SETS)('with "%s"', async (scopes) => {
    const got = (await clientAs('someone', scopes)).getPrompt({ name });
    if (isOpen(scopes, needed)) expect((await got).messages).toHaveLength(1);
    else await expect(got).rejects.toThrow(`needs the scope "${needed}"`);
  });
});

it('what is in no table is open to nobody, whatever the scopes', () => {
  const admin: Principal = { kind: 'token', id: 'token:root', scopes: [...SCOPES] };
  for (const kind of ['tool', 'prompt', 'resource'] as const) {
    for (const name of ['drop_tables', 'constructor', '__proto__', '']) {
      expect(() => authorize(admin, kind, name)).toThrow('is open to nobody');
    }
  }
});

/** Ids that two kinds could share, or that the engine itself goes by, are nobody's from outside. */
describe('a principal whose id is not of its kind', () => {
  const WRONG: [Principal['kind'], string][] = [
    ['token', 'stack'],
    ['token', 'local'],
    ['token', 'token:'],
    ['token', 'iam:arn:aws:iam::000000000000:role/ci'],
    ['oauth', 'token:ci'],
    ['iam', 'ci'],
    ['stack', 'stack'],
    ['local', 'token:ci'],
    ['schedule', 'token:ci'],
    ['console', 'token:ci'],
  ];
  it.each(WRONG)('%s %s is refused, whoever made it', (kind, id) => {
    expect(() => requirePrincipal({ kind, id, scopes: [...SCOPES] })).toThrow('no id of a principal');
  });
  it.each([
    ['token', 'token:ci'],
    ['iam', 'iam:arn:aws:iam::000000000000:role/ci'],
    ['oauth', 'oauth:someone'],
    ['local', 'local'],
  ] as const)('%s %s is one', (kind, id) => {
    expect(() => requirePrincipal({ kind, id, scopes: [] })).not.toThrow();
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
