/** The state machine as its history shows it: names that read like the blueprint, no values, and what it costs. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  DescribeStateMachineForExecutionCommand,
  GetExecutionHistoryCommand,
  type HistoryEvent,
  ListExecutionsCommand,
  ListMapRunsCommand,
} from '@aws-sdk/client-sfn';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../lib/blueprint/json.ts';
import type { Blueprint } from '../../lib/blueprint/types.ts';
import type { Estimate } from '../../lib/compile/estimate.ts';
import { evaluateFormula, type Formula } from '../../lib/compile/formula.ts';
import { parseProgram } from '../../lib/compile/parse.ts';
import { type AnsweringServers, startAnsweringServers } from '../fixtures/answering-server.ts';
import { CONTINUE, call, fails, type Lab, startLab, value } from './lab.ts';

const CORPUS = join(import.meta.dirname, '..', 'corpus', 'valid');
const corpus = readdirSync(CORPUS)
  .filter((file) => /^[a-z-]+\.json$/.test(file))
  .map((file) => JSON.parse(readFileSync(join(CORPUS, file), 'utf8')) as Blueprint);

/** The tools that the corpus names, by server. */
function toolsOfCorpus(): Record<string, string[]> {
  const tools: Record<string, Set<string>> = {};
  for (const blueprint of corpus) {
    for (const node of parseProgram(blueprint).byId.values()) {
      if (node.type !== 'call' || node.call !== 'tool' || node.server === undefined) continue;
      tools[node.server] ??= new Set();
      tools[node.server]?.add(node.tool);
    }
  }
  return Object.fromEntries(Object.entries(tools).map(([server, names]) => [server, [...names]]));
}

const ITEMS = ['one', 'two', 'three'].map((name) => ({ name, metadata: { name } }));

/** Everything that a blueprint of the corpus reads; `racks` and `hosts` answer with a list itself. */
function answer(tool: string): Json {
  if (tool === 'racks' || tool === 'hosts') return ['r1', 'r2'];
  return { items: ITEMS, rows: ITEMS, status: 'ready', ok: true, next: null };
}

const PARAMS: JsonObject = { cluster: 'c', names: ['a', 'b', 'c', 'd'], sites: ['s1', 's2', 's3'] };

let servers: AnsweringServers;
let lab: Lab;
beforeAll(async () => {
  servers = await startAnsweringServers(toolsOfCorpus(), answer);
  lab = await startLab({ servers: servers.entries });
  const child = { steps: [value('v', 1)] };
  await lab.save({ id: 'sync-cluster', params: { name: { type: 'string' } }, ...child });
  await lab.save({ id: 'patch-hosts', params: { hosts: { type: 'array' } }, ...child });
  await lab.save({ id: 'audit', ...child });
});
afterAll(async () => {
  await lab.end();
  await servers.close();
});

/** Events of the children of every distributed map of an execution. */
async function childEvents(executionArn: string): Promise<HistoryEvent[]> {
  const { mapRuns = [] } = await lab.sfn.send(new ListMapRunsCommand({ executionArn }));
  const events: HistoryEvent[] = [];
  for (const { mapRunArn } of mapRuns) {
    const { executions = [] } = await lab.sfn.send(new ListExecutionsCommand({ mapRunArn }));
    for (const child of executions) {
      const page = await lab.sfn.send(
        new GetExecutionHistoryCommand({ executionArn: child.executionArn, maxResults: 1000 }),
      );
      events.push(...(page.events ?? []));
    }
  }
  return events;
}

/** Sizes of the loops as they ran: the mean, where a loop stands in another. */
function loopSizes(records: ReadonlyMap<string, JsonObject>): Record<string, number> {
  const counts: Record<string, number[]> = {};
  for (const [at, { count }] of records) {
    if (typeof count !== 'number') continue;
    const id = at.split('/').at(-1) ?? at;
    counts[id] ??= [];
    counts[id]?.push(count);
  }
  return Object.fromEntries(
    Object.entries(counts).map(([id, all]) => [id, all.reduce((a, b) => a + b, 0) / all.length]),
  );
}

const entered = (events: readonly HistoryEvent[]): number =>
  events.filter(({ type }) => type?.endsWith('StateEntered')).length;

describe('a run of the corpus costs what validate_workflow says', () => {
  it.concurrent.each(corpus.map((blueprint) => ({ name: blueprint.id, blueprint })))(
    '$name',
    async ({ blueprint }) => {
      const given = Object.fromEntries(
        Object.keys(blueprint.params ?? {}).flatMap((name) =>
          PARAMS[name] === undefined ? [] : [[name, PARAMS[name]]],
        ),
      );
      const run = await lab.run(blueprint as unknown as JsonObject, given as JsonObject);
      expect(run).toMatchObject({ status: 'SUCCEEDED', errors: [] });
      const checked = await lab.call('validate_workflow', { id: blueprint.id });
      const estimate = checked.estimate as unknown as Estimate;
      const sizes = loopSizes(await lab.steps(run.runId));
      const events = await lab.history(run.runId);
      const { executionArn = '' } = await lab.describe(run.runId);
      const children = await childEvents(executionArn);
      const of = (formula: Formula) => evaluateFormula(formula, sizes);
      expect({ transitions: entered([...events, ...children]), events: events.length }).toEqual({
        transitions: of(estimate.transitions),
        events: of(estimate.events),
      });
    },
  );
});

describe('the history', () => {
  const SECRET = 'hunter2-hunter2';

  it('holds no argument, no result, no item, no error text', async () => {
    await lab.save({
      id: 'secret-child',
      params: { s: { type: 'string' } },
      steps: [call('e', 'echo', { s: '{{ params.s }}' })],
    });
    const run = await lab.run(
      {
        ...CONTINUE,
        params: { s: { type: 'string' }, list: { type: 'array' } },
        steps: [
          value('v', '{{ params.s }}'),
          fails('f', {}),
          call('g', 'fail', { message: '{{ params.s }}' }),
          {
            id: 'l',
            type: 'loop',
            over: '{{ params.list }}',
            concurrency: 12,
            do: value('in-l', '{{ item }}'),
          },
          {
            id: 'm',
            type: 'loop',
            mode: 'map',
            over: '{{ params.list }}',
            do: call('in-m', 'fail', { message: '{{ item }}' }),
          },
          {
            id: 'i',
            type: 'loop',
            mode: 'map',
            maxItems: 5,
            over: '{{ params.list }}',
            do: value('in-i', '{{ item }}'),
          },
          { id: 'w', type: 'loop', mode: 'map', while: false, max: 2, do: value('in-w', '{{ params.s }}') },
          { id: 'p', type: 'parallel', branches: [value('in-p', '{{ params.s }}'), fails('in-p2')] },
          { id: 'c', type: 'call', workflow: 'secret-child', params: { s: '{{ params.s }}' } },
          {
            id: 'failed',
            type: 'collect',
            steps: [value('x', '{{ params.s }}', { failWhen: "{{ contains(output, 'hunter') }}" })],
          },
        ],
        output: '{{ [steps.v, results.g.error.message, steps.l, steps.c.args.s] }}',
      },
      { s: SECRET, list: [SECRET, SECRET] },
    );
    expect(run.output).toEqual([SECRET, SECRET, [SECRET, SECRET], SECRET]);
    const { executionArn = '', input, output, stateMachineArn } = await lab.describe(run.runId);
    const events = await lab.history(run.runId);
    const children = await childEvents(executionArn);
    expect(children.length).toBeGreaterThan(10);
    expect(JSON.stringify([events, children, input, output])).not.toContain('hunter');
    const definition = await lab.sfn.send(new DescribeStateMachineForExecutionCommand({ executionArn }));
    expect(definition.stateMachineArn).toBe(stateMachineArn);
    // The child, too.
    const { runs } = await lab.call('list_runs', { workflow: 'secret-child' });
    const [child] = runs as JsonObject[];
    expect(JSON.stringify(await lab.history(String(child?.runId)))).not.toContain('hunter');
  });

  it('reads like the blueprint: states are named by their steps, with a comment of tool and server', async () => {
    const run = await lab.run({
      description: 'Reads like this',
      steps: [
        value('first', 1, { description: 'the first one' }),
        {
          id: 'pods',
          type: 'loop',
          mode: 'map',
          maxItems: 3,
          over: '{{ [steps.first] }}',
          do: value('describe', '{{ item }}'),
        },
        {
          id: 'both',
          type: 'parallel',
          branches: [value('left', 1), { id: 'right', type: 'pipe', steps: [value('deep', 2)] }],
        },
      ],
    });
    const names = (await lab.history(run.runId)).flatMap(
      (event) => event.stateEnteredEventDetails?.name ?? [],
    );
    const plain = names.filter((name) => !name.includes(' '));
    expect(plain).toEqual(['first', 'pods', 'describe', 'both', ...plain.slice(4)]);
    expect(plain.slice(4).sort()).toEqual(['deep', 'left', 'right']);
    const helpers = new Set(
      names.filter((name) => name.includes(' ')).map((name) => name.replace(/^[^ ]*/, '')),
    );
    for (const helper of helpers)
      expect([' begin', ' finish', ' items', ' items next', ' settle', ' settle next', ' end']).toContain(
        helper,
      );
    const { executionArn } = await lab.describe(run.runId);
    const { definition = '{}' } = await lab.sfn.send(
      new DescribeStateMachineForExecutionCommand({ executionArn }),
    );
    const states = JSON.parse(definition) as {
      States: Record<string, { Comment?: string }>;
      QueryLanguage: string;
    };
    expect(states.QueryLanguage).toBe('JSONata');
    expect(states.States.first?.Comment).toMatch(/lab/);
    expect(states.States.first?.Comment).toMatch(/value/);
  });

  it('starts from the run id alone, and hands each task where it stands', async () => {
    const run = await lab.run(
      {
        params: { p: { type: 'string', default: 'x' } },
        steps: [
          value('a', '{{ params.p }}'),
          { id: 'm', type: 'loop', mode: 'map', maxItems: 1, over: '{{ [steps.a] }}', do: value('b', 1) },
        ],
      },
      { p: SECRET },
    );
    const { input = '', executionArn } = await lab.describe(run.runId);
    expect(JSON.parse(input)).toEqual({ run: run.runId });
    const tasks = (await lab.history(run.runId)).flatMap((event) => {
      const parameters = event.taskScheduledEventDetails?.parameters;
      return parameters === undefined ? [] : [JSON.parse(parameters).Payload as JsonObject];
    });
    const [{ hash = null } = {}] = tasks;
    const base = { abi: 1, hash, run: run.runId, execution: executionArn, epoch: 0 };
    expect(tasks.slice(1).map(({ workflow: _, ...task }) => task)).toEqual([
      { ...base, op: 'call', step: 'a', at: '' },
      { ...base, op: 'items', step: 'm', at: '' },
      { ...base, op: 'call', step: 'b', at: 'm/00000/' },
      { ...base, op: 'settle', step: 'm', at: '' },
      { ...base, op: 'finish', step: '', at: '' },
    ]);
  });

  it('ends red where a step failed under abort: with its kind, and a sentence of ours', async () => {
    const run = await lab.run({ steps: [value('a', 1), call('bad', 'fail', { message: SECRET })] });
    const { error, cause, status } = await lab.describe(run.runId);
    expect({ error, status }).toEqual({ error: 'ToolError', status: 'FAILED' });
    expect(cause).toMatch(/step \\?"bad\\?"/);
    expect(cause).toMatch(/lab\/fail/);
    expect(cause).not.toContain('hunter');
    const events = await lab.history(run.runId);
    const last = events.filter((event) => event.stateEnteredEventDetails !== undefined).at(-1);
    expect(last?.stateEnteredEventDetails?.name).toBe('bad');
    expect(
      events.some(
        (event) => event.type === 'TaskStateExited' && event.stateExitedEventDetails?.name === 'bad',
      ),
    ).toBe(false);
  });
});
