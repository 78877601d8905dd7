/**
 * Every handle that one principal is given, in the hands of another: run ids, steps, cursors, resource URIs, idempotency keys. What
 * is another's does not exist: the answer is that of a handle that was made up.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../lib/blueprint/json.ts';
import { PUBLISHED, type RunningEngine, startRunningEngine } from '../running-engine.ts';
import { ALL, callersOf, credentials, principalOf } from './callers.ts';

let engine: RunningEngine;
const { as, clientAs, close } = callersOf(() => engine.mcp);

/** Of alice: a run with a long list, a trial call, and the first cursor of each list. */
let runId: string;
let tryId: string;
const cursors: Record<string, { args: JsonObject; cursor: string }> = {};

const blueprint = (id: string): JsonObject => ({
  id,
  steps: [
    {
      id: 'each',
      type: 'loop',
      over: Array.from({ length: 60 }, (_, n) => n),
      do: {
        id: 'say',
        type: 'call',
        tool: 'everything/echo',
        params: { message: 'secret {{ item }}' },
        parse: 'text',
      },
    },
    ...Array.from({ length: 27 }, (_, n) => ({
      id: `s${n}`,
      type: 'call',
      tool: 'everything/echo',
      params: { message: 'x' },
      parse: 'text',
    })),
  ],
  output: '{{ steps.each }}',
});

beforeAll(async () => {
  engine = await startRunningEngine(
    { everything: PUBLISHED.everything },
    { principalOf, headers: { authorization: credentials('setup') } },
  );
  const alice = await as('alice');
  await alice.call('create_workflow', { blueprint: blueprint('hers') });
  const run = async (id: string): Promise<string> =>
    String((await alice.call('run_workflow', { id, wait: 50, idempotencyKey: 'hers' })).answer.runId);
  runId = await run('hers');
  tryId = String(
    (await alice.call('call_tool', { tool: 'everything/echo', params: { message: 'secret' } })).answer.runId,
  );
  // More runs and workflows than fit a page.
  for (let n = 0; n < 52; n++) {
    await alice.call('call_tool', { tool: 'everything/echo', params: { message: String(n) } });
    await alice.call('create_workflow', {
      blueprint: {
        id: `w${n}`,
        steps: [{ id: 'a', type: 'call', tool: 'everything/echo', params: { message: 'x' } }],
      },
    });
  }
  const LISTS: [string, JsonObject][] = [
    ['get_run', { runId }],
    ['get_run', { runId, step: 'each' }],
    ['get_run', { runId, step: '$output' }],
    ['list_runs', {}],
    ['list_workflows', {}],
  ];
  for (const [tool, args] of LISTS) {
    const { answer } = await alice.call(tool, args);
    expect(answer.nextCursor, `${tool} ${JSON.stringify(args)}`).toBeTypeOf('string');
    cursors[`${tool} ${Object.keys(args).join(' ')} ${String(args.step ?? '')}`.trim()] = {
      args: { ...args, tool },
      cursor: String(answer.nextCursor),
    };
  }
}, 120_000);
afterAll(async () => {
  await close();
  await engine.end();
});

const MADE_UP = 'f'.repeat(32);

describe('a run of another', () => {
  const CALLS: [string, JsonObject][] = [
    ['get_run', {}],
    ['get_run', { step: 'each' }],
    ['get_run', { step: 'each/00000/say' }],
    ['get_run', { step: '$params' }],
    ['get_run', { step: '$output' }],
    ['get_run', { step: '$errors' }],
    ['cancel_run', {}],
  ];
  it.each(CALLS)('%s %j is not there', async (tool, args) => {
    const bob = await as('bob');
    for (const hers of [runId, tryId]) {
      const foreign = await bob.call(tool, { runId: hers, ...args });
      const missing = await bob.call(tool, { runId: MADE_UP, ...args });
      expect(foreign).toMatchObject({ isError: true, answer: { code: 'NotFound' } });
      expect(String(foreign.answer.message).replace(hers, MADE_UP)).toBe(missing.answer.message);
    }
  });

  it.each(['', '/output', '/value/each', '/value/$params', '/value/s1'])(
    'run://ID%s is not there',
    async (path) => {
      const bob = await clientAs('bob');
      for (const hers of [runId, tryId]) {
        const read = (id: string) =>
          bob.readResource({ uri: `run://${id}${path}` }).then(
            () => 'read',
            (error: Error) => error.message.replace(id, MADE_UP),
          );
        const foreign = await read(hers);
        expect(foreign).toContain('there is no run');
        expect(foreign).toBe(await read(MADE_UP));
      }
    },
  );

  it('is in no list of his', async () => {
    const { answer } = await (await as('bob')).call('list_runs', {});
    expect(answer.runs).toEqual([]);
    expect((await (await as('bob')).call('list_runs', { workflow: 'hers' })).answer.runs).toEqual([]);
    expect((await (await as('bob')).call('list_runs', { workflow: 'call_tool' })).answer.runs).toEqual([]);
  });

  it('is read by admins', async () => {
    const admin = await as('root', 'admin');
    expect((await admin.call('get_run', { runId })).answer).toMatchObject({ runId, status: 'SUCCEEDED' });
    expect((await admin.call('get_run', { runId: tryId })).answer).toMatchObject({ tool: 'everything/echo' });
  });
});

describe('a cursor', () => {
  it('of another is none, also with the right arguments', async () => {
    expect(Object.keys(cursors)).toHaveLength(5);
    for (const { args, cursor } of Object.values(cursors)) {
      const { tool, ...query } = args;
      // An admin may read all of it, so nothing but the cursor stands in the way.
      const foreign = await (await as('root', 'admin')).call(String(tool), { ...query, cursor });
      expect(foreign).toMatchObject({ isError: true, answer: { code: 'Invalid' } });
      expect(foreign.answer.message).toContain('not a cursor of this query');
      const own = await (await as('alice')).call(String(tool), { ...query, cursor });
      expect(own.isError).toBe(false);
    }
  });

  it('of one query is none of another, or of another run', async () => {
    const alice = await as('alice');
    for (const { args, cursor } of Object.values(cursors)) {
      for (const [tool, query] of [
        ['get_run', { runId: tryId }],
        ['list_runs', { status: 'FAILED' }],
        ['list_tools', {}],
      ] as const) {
        if (tool === args.tool && JSON.stringify({ tool, ...query }) === JSON.stringify(args)) continue;
        expect((await alice.call(tool, { ...query, cursor })).answer.code).toBe('Invalid');
      }
    }
  });
});

describe('an idempotency key', () => {
  it('of another is free', async () => {
    const { answer } = await (await as('bob')).call('run_workflow', {
      id: 'hers',
      wait: 0,
      idempotencyKey: 'hers',
    });
    expect(answer.runId).not.toBe(runId);
  });
});

describe('a schedule of another', () => {
  it('is neither listed, changed nor deleted by anybody but its owner and admins', async () => {
    const [alice, bob] = [await as('alice'), await as('bob')];
    const schedule = { id: 'hers', name: 'nightly', schedule: 'cron(0 2 * * ? *)' };
    expect((await alice.call('schedule_workflow', schedule)).isError).toBe(false);
    const attempts: JsonObject[] = [
      { id: 'hers' },
      { id: 'hers', name: 'nightly' },
      schedule,
      { ...schedule, name: 'his' },
      { id: 'hers', name: 'nightly', enabled: false },
      { id: 'hers', name: 'nightly', delete: true },
      { id: 'hers', name: 'there-is-none', delete: true },
    ];
    for (const args of attempts) {
      const { isError, answer } = await bob.call('schedule_workflow', args);
      expect({ isError, code: answer.code }).toEqual({ isError: true, code: 'Forbidden' });
      expect(JSON.stringify(answer)).not.toContain('nightly');
    }
    const { answer } = await (await as('root', 'admin')).call('schedule_workflow', { id: 'hers' });
    expect(answer.schedules).toMatchObject([{ name: 'nightly', enabled: true }]);
    await alice.call('schedule_workflow', { id: 'hers', name: 'nightly', delete: true });
  });
});

describe('a workflow of another', () => {
  it('is read and started with its revisions by who may, and changed or deleted by nobody but its owner and admins', async () => {
    const bob = await as('bob');
    expect((await bob.call('get_workflow', { id: 'hers', revision: 1 })).isError).toBe(false);
    for (const [tool, args] of [
      ['create_workflow', { blueprint: { ...blueprint('hers'), description: 'his' } }],
      ['delete_workflow', { id: 'hers' }],
    ] as const) {
      expect((await bob.call(tool, args)).answer).toMatchObject({ code: 'Forbidden' });
    }
    const admin = await as('root', 'admin');
    expect((await admin.call('delete_workflow', { id: 'w51' })).answer).toMatchObject({ deleted: true });
  });

  it('is nothing to one who may not read workflows', async () => {
    const starter = await as('starter', ALL.replace('workflows:read,', ''));
    expect((await starter.call('get_workflow', { id: 'hers' })).answer.code).toBe('Forbidden');
    expect((await starter.call('run_workflow', { id: 'hers', dryRun: true })).answer.code).toBe('Forbidden');
  });
});
