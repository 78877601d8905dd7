/**
 * Allow-lists of tools, end to end: at save, at start, at each call, in sub-workflows, dry runs, trial calls and lists. A server
 * that writes down each call it gets tells that nothing was sent.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../lib/blueprint/json.ts';
import { PUBLISHED, type RunningEngine, startRunningEngine } from '../running-engine.ts';
import { FIXTURES, readLines } from '../steps/harness.ts';
import { ALL, callersOf, credentials, principalOf } from './callers.ts';

let engine: RunningEngine;
const { as, close } = callersOf(() => engine.mcp);
const folder = mkdtempSync(join(tmpdir(), 'mwe-allow-'));
const journal = join(folder, 'calls.jsonl');

const call = (id: string, tool: string, more: JsonObject = {}): JsonObject => ({
  id,
  type: 'call',
  tool,
  ...more,
});
const flow = (id: string, ...steps: JsonObject[]): JsonObject => ({ id, steps });
const sent = () => readLines(journal).map(({ tool }) => tool);

/** alice may use everything, reader the tool `read` alone, worker `work` and `read`. */
const alice = () => as('alice');
const reader = () => as('reader', ALL, ['counting/read']);
const worker = () => as('worker', ALL, ['counting/work', 'counting/read']);

beforeAll(async () => {
  engine = await startRunningEngine(
    {
      counting: {
        command: process.execPath,
        args: [join(FIXTURES, 'counting-server.mjs'), journal],
        trustAnnotations: true,
      },
      everything: PUBLISHED.everything,
    },
    { principalOf, headers: { authorization: credentials('setup') } },
  );
  await (await alice()).call('create_workflow', { blueprint: flow('work', call('w', 'counting/work')) });
  await (await alice()).call('create_workflow', {
    blueprint: flow('outer', { id: 'sub', type: 'call', workflow: 'work' }),
  });
  await (await alice()).call('create_workflow', {
    blueprint: flow('floats', { id: 'sub', type: 'call', workflow: 'work@latest' }),
  });
}, 60_000);
afterAll(async () => {
  await close();
  await engine.end();
  rmSync(folder, { recursive: true, force: true });
});
beforeEach(() => rmSync(journal, { force: true }));

/** `code: message` of each diagnostic. */
const faults = (answer: JsonObject): string[] =>
  (answer.errors as JsonObject[]).map(({ code, message }) => `${String(code)} ${String(message)}`);

describe('at save', () => {
  it('names all refused tools at once, bound by server or by the catalog, and saves nothing', async () => {
    const blueprint = flow(
      'mine',
      call('r', 'read'),
      call('w', 'counting/work'),
      call('e', 'echo', { params: { message: 'x' } }),
    );
    const { isError, answer } = await (await reader()).call('create_workflow', { blueprint });
    expect({ isError, code: answer.code }).toEqual({ isError: true, code: 'Forbidden' });
    expect(faults(answer)).toEqual([
      'BP608 steps/1/tool: the tool "counting/work" is not among those that you may use',
      'BP608 steps/2/tool: the tool "everything/echo" is not among those that you may use',
    ]);
    expect((await (await alice()).call('get_workflow', { id: 'mine' })).answer.code).toBe('NotFound');
  });

  it('says the same when it is only validated, and tells other errors from it', async () => {
    const { answer } = await (await reader()).call('validate_workflow', {
      blueprint: flow('mine', call('w', 'counting/work')),
    });
    expect(answer.valid).toBe(false);
    expect(faults(answer)).toHaveLength(1);
    const both = flow('mine', call('w', 'counting/work', { when: '{{ steps.none }}' }));
    expect((await (await reader()).call('create_workflow', { blueprint: both })).answer.code).toBe('Invalid');
  });

  it('looks through pinned sub-workflows, whatever their depth, and not into those that float', async () => {
    const pins = flow('pins', { id: 'deep', type: 'call', workflow: 'outer' });
    const { answer } = await (await reader()).call('create_workflow', { blueprint: pins });
    expect(answer.code).toBe('Forbidden');
    expect(faults(answer)).toEqual([
      'BP608 steps/0/workflow: the workflow "outer" uses "counting/work", which you may not use',
    ]);
    const floats = flow('readers-floats', { id: 'sub', type: 'call', workflow: 'work@latest' });
    expect((await (await reader()).call('create_workflow', { blueprint: floats })).isError).toBe(false);
    expect(
      (await (await worker()).call('create_workflow', { blueprint: { ...pins, id: 'workers-pins' } }))
        .isError,
    ).toBe(false);
  });
});

describe('at start', () => {
  it('every tool that the revision is bound to must be allowed; there is no run', async () => {
    const { isError, answer } = await (await reader()).call('run_workflow', { id: 'work' });
    expect({ isError, code: answer.code }).toEqual({ isError: true, code: 'Forbidden' });
    expect(answer.message).toContain('workflow "work" uses "counting/work", which you may not use');
    expect((await (await reader()).call('run_workflow', { id: 'work', dryRun: true })).answer.code).toBe(
      'Forbidden',
    );
    expect((await (await reader()).call('list_runs', {})).answer.runs).toEqual([]);
    expect(sent()).toEqual([]);
  });

  it("those of pinned sub-workflows are its author's: the child works with the authority of who pinned it", async () => {
    const { answer } = await (await reader()).call('run_workflow', { id: 'outer', wait: 30 });
    expect(answer).toMatchObject({ status: 'SUCCEEDED' });
    expect(sent()).toEqual(['work']);
    // Whose run it is does not change: the child is read by its starter.
    const { answer: list } = await (await reader()).call('list_runs', { workflow: 'work' });
    expect(list.runs).toMatchObject([{ trigger: 'workflow', status: 'SUCCEEDED' }]);
  });

  it('one that floats works with the authority of its run: ToolNotAllowed, and nothing is sent', async () => {
    const { answer } = await (await reader()).call('run_workflow', { id: 'floats', wait: 30 });
    expect(answer).toMatchObject({ status: 'FAILED', errors: [{ step: 'sub', kind: 'SubWorkflowFailed' }] });
    expect(String((answer.errors as JsonObject[])[0]?.message)).toContain('ToolNotAllowed');
    expect(sent()).toEqual([]);
    expect((await (await worker()).call('run_workflow', { id: 'floats', wait: 30 })).answer.status).toBe(
      'SUCCEEDED',
    );
  });
});

describe('at each call', () => {
  it('a tool that is bound when it runs is looked at then', async () => {
    // How one is refused that is there by then: test/steps/authority.test.ts.
    const later = flow(
      'later',
      call('r', 'counting/read'),
      call('l', 'later_tool', { errorStrategy: { onStepFailure: 'continue' } }),
    );
    await (await worker()).call('create_workflow', { blueprint: later });
    const { answer } = await (await worker()).call('run_workflow', { id: 'later', wait: 30 });
    expect(answer).toMatchObject({ errors: [{ step: 'l', kind: 'UnknownTool' }] });
  });

  it('also for the items of loops, in lanes too: the run fails with server and tool, nothing is sent', async () => {
    // Saved by one who may, with an unbound start: the loop floats on `work`.
    for (const concurrency of [1, 4, 20]) {
      const id = `loop-${concurrency}`;
      const body = { id: 'one', type: 'call', workflow: 'work@latest' };
      await (await alice()).call('create_workflow', {
        blueprint: flow(id, {
          id: 'each',
          type: 'loop',
          over: [1, 2, 3],
          concurrency,
          do: body,
          errorStrategy: { onStepFailure: 'continue' },
        }),
      });
      const { answer } = await (await reader()).call('run_workflow', { id, wait: 40 });
      expect(answer.status).toBe('SUCCEEDED');
      const errors = answer.errors as JsonObject[];
      expect(errors.map(({ kind }) => kind)).toEqual([
        'SubWorkflowFailed',
        'SubWorkflowFailed',
        'SubWorkflowFailed',
      ]);
    }
    expect(sent()).toEqual([]);
    const { answer } = await (await reader()).call('list_runs', { workflow: 'work', status: 'FAILED' });
    const [child] = answer.runs as JsonObject[];
    const { answer: run } = await (await reader()).call('get_run', { runId: String(child?.runId) });
    expect(run.errors).toMatchObject([
      {
        kind: 'ToolNotAllowed',
        server: 'counting',
        tool: 'work',
        message: expect.stringContaining('nothing was sent') as string,
      },
    ]);
  }, 60_000);

  it("a dry run calls a pinned sub-workflow with its pinner's authority and a floating one with the caller's", async () => {
    await (await alice()).call('create_workflow', {
      blueprint: flow('hang', call('h', 'counting/page', { params: { size: 1, total: 1 } })),
    });
    await (await alice()).call('create_workflow', {
      blueprint: flow('pins-page', { id: 'sub', type: 'call', workflow: 'hang' }),
    });
    await (await alice()).call('create_workflow', {
      blueprint: flow('floats-page', { id: 'sub', type: 'call', workflow: 'hang@latest' }),
    });
    const dry = async (id: string): Promise<JsonObject[]> =>
      (await (await reader()).call('run_workflow', { id, dryRun: true })).answer.steps as JsonObject[];
    expect(await dry('pins-page')).toMatchObject([{ at: 'sub' }, { at: 'sub>h', status: 'called' }]);
    const floating = await dry('floats-page');
    expect(floating.find(({ at }) => at === 'sub>h')).toMatchObject({
      status: 'failed',
      error: { kind: 'ToolNotAllowed' },
    });
    expect(sent()).toEqual(['page']);
  });
});

describe('exploring', () => {
  it('call_tool answers ToolNotAllowed and sends nothing, by either name', async () => {
    for (const tool of ['counting/work', 'work']) {
      const { isError, answer } = await (await reader()).call('call_tool', { tool, params: {} });
      expect(isError).toBe(false);
      expect(answer).toMatchObject({
        isError: true,
        server: 'counting',
        tool: 'work',
        error: { kind: 'ToolNotAllowed' },
      });
    }
    expect(sent()).toEqual([]);
    expect((await (await reader()).call('call_tool', { tool: 'read' })).answer).toMatchObject({
      isError: false,
    });
    expect(sent()).toEqual(['read']);
  });

  it('list_tools shows what the caller may use', async () => {
    const names = async (args: JsonObject) => {
      const { answer } = await (await reader()).call('list_tools', args);
      return {
        tools: (answer.tools as { server: string; name: string }[]).map(
          (each) => `${each.server}/${each.name}`,
        ),
        servers: answer.servers,
      };
    };
    expect(await names({})).toEqual({ tools: ['counting/read'], servers: undefined });
    expect(await names({ server: 'everything' })).toEqual({ tools: [], servers: ['counting'] });
    const nothing = await as('nobody', ALL, []);
    expect((await nothing.call('list_tools', {})).answer).toMatchObject({ tools: [], servers: [] });
  });
});

describe('a list that was narrowed since', () => {
  it('holds for what is started from then on; what was pinned keeps the authority that was recorded', async () => {
    const author = (tools: string[]) => as('author', ALL, tools);
    await (await author(['counting/work'])).call('create_workflow', {
      blueprint: flow('authors', { id: 'sub', type: 'call', workflow: 'work' }),
    });
    const narrowed = await author(['counting/read']);
    expect((await narrowed.call('run_workflow', { id: 'work' })).answer.code).toBe('Forbidden');
    expect((await narrowed.call('run_workflow', { id: 'authors', wait: 30 })).answer.status).toBe(
      'SUCCEEDED',
    );
    // Saved again, it is bound anew.
    const again = flow('authors', { id: 'sub', type: 'call', workflow: 'work' }, call('r', 'counting/read'));
    const { answer } = await narrowed.call('create_workflow', { blueprint: again as Json });
    expect(answer.code).toBe('Forbidden');
  });
});
