/** Dry runs against the published servers: what is read-only is called, nothing is changed, nothing is recorded. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../lib/blueprint/json.ts';
import { PUBLISHED, type RunningEngine, startRunningEngine } from '../running-engine.ts';

let engine: RunningEngine;

beforeAll(async () => {
  engine = await startRunningEngine({
    filesystem: PUBLISHED.filesystem,
    memory: PUBLISHED.memory,
    everything: PUBLISHED.everything,
  });
});
afterAll(() => engine.end());

type Step = JsonObject & { at: string; status: string };

async function dryRun(id: string, blueprint: JsonObject, params: JsonObject = {}) {
  const saved = await engine.agent.call('create_workflow', { blueprint: { id, ...blueprint } });
  expect(saved.answer).toMatchObject({ id });
  const { answer, isError } = await engine.agent.call('run_workflow', { id, params, dryRun: true });
  expect({ isError, answer }).toMatchObject({ isError: false });
  return answer as JsonObject & { steps: Step[] };
}

const list = (id: string, path: string, more: JsonObject = {}): JsonObject => ({
  id,
  type: 'call',
  tool: 'list_directory',
  params: { path },
  parse: 'lines',
  ...more,
});
const create = (id: string, name: string, more: JsonObject = {}): JsonObject => ({
  id,
  type: 'call',
  tool: 'create_entities',
  params: { entities: [{ name, entityType: 'file', observations: [] }] },
  ...more,
});

describe('a dry run', () => {
  it('calls what is read-only, resolves the arguments of the rest, and changes nothing', async () => {
    const answer = await dryRun(
      'reads-and-writes',
      {
        params: { path: { type: 'string' } },
        steps: [
          list('files', '{{ params.path }}', { select: '{{ output[?starts_with(@, `"[FILE]"`)] }}' }),
          create('made', 'first: {{ steps.files[0] }}'),
          {
            id: 'linked',
            type: 'call',
            tool: 'create_relations',
            params: {
              relations: [
                { from: '{{ steps.made.entities[0].name }}', to: '{{ params.path }}', relationType: 'in' },
              ],
            },
          },
        ],
        output: { files: '{{ length(steps.files) }}', made: '{{ length(steps.made.entities) }}' },
      },
      { path: 'blueprints' },
    );
    expect(answer).toMatchObject({
      dryRun: true,
      id: 'reads-and-writes',
      calls: 1,
      output: { files: 2, made: '{{ length(steps.made.entities) }}' },
      unresolved: ['length(steps.made.entities)'],
    });
    expect(answer.steps).toMatchObject([
      {
        at: 'files',
        tool: 'filesystem/list_directory',
        status: 'called',
        arguments: { path: 'blueprints' },
        value: ['[FILE] repo-to-graph.json', '[FILE] triage.json'],
      },
      {
        at: 'made',
        tool: 'memory/create_entities',
        status: 'not-called',
        arguments: { entities: [{ name: 'first: [FILE] repo-to-graph.json' }] },
      },
      {
        at: 'linked',
        status: 'not-called',
        arguments: { relations: [{ from: '{{ steps.made.entities[0].name }}', to: 'blueprints' }] },
        unresolved: ['steps.made.entities[0].name'],
      },
    ]);
    expect(answer).not.toHaveProperty('runId');
    expect(existsSync(join(engine.dataDir, 'memory.jsonl'))).toBe(false);
    expect((await engine.agent.call('list_runs', { workflow: 'reads-and-writes' })).answer.runs).toEqual([]);
  });

  it('does not call what an untrusted server says is read-only', async () => {
    const answer = await dryRun('untrusted', {
      steps: [{ id: 'say', type: 'call', tool: 'echo', params: { message: 'hi' }, parse: 'text' }],
    });
    expect(answer).toMatchObject({
      calls: 0,
      steps: [{ status: 'not-called', arguments: { message: 'hi' } }],
    });
  });

  it('walks a few items of a loop and tells how many there are', async () => {
    const answer = await dryRun('looping', {
      steps: [
        list('areas', 'lib'),
        {
          id: 'each',
          type: 'loop',
          over: '{{ steps.areas }}',
          as: 'area',
          do: create('entity', '{{ index }} {{ area }}'),
        },
        {
          id: 'again',
          type: 'loop',
          over: '{{ steps.each }}',
          as: 'one',
          do: create('copy', '{{ one.name }}'),
        },
      ],
      output: '{{ length(steps.each) }}',
    });
    const [areas, each, ...rest] = answer.steps;
    expect(areas).toMatchObject({ at: 'areas', status: 'called' });
    expect(each).toMatchObject({ at: 'each', status: 'walked', walked: 3 });
    expect(Number(each?.count)).toBeGreaterThan(8);
    expect(rest.map((step) => [step.at, step.status])).toEqual([
      ['each/00000/entity', 'not-called'],
      ['each/00001/entity', 'not-called'],
      ['each/00002/entity', 'not-called'],
      ['again', 'walked'],
      ['again/*/copy', 'not-called'],
    ]);
    expect(rest[0]?.arguments).toMatchObject({ entities: [{ name: expect.stringMatching(/^0 \[DIR\] /) }] });
    expect(rest[3]?.unresolved).toEqual(['steps.each']);
    expect(rest[4]?.unresolved).toEqual(['one.name']);
    expect(answer.unresolved).toEqual(['length(steps.each)']);
  });

  it('knows conditions as far as they can be known', async () => {
    const answer = await dryRun('conditions', {
      errorStrategy: { onStepFailure: 'continue' },
      steps: [
        list('files', 'blueprints'),
        list('none', 'lib', { when: '{{ length(steps.files) == `0` }}' }),
        list('some', 'functions', { when: '{{ length(steps.files) > `0` }}' }),
        create('made', 'x'),
        list('perhaps', 'lib', { when: '{{ steps.made }}' }),
        {
          id: 'both',
          type: 'parallel',
          when: '{{ steps.made }}',
          branches: [list('left', 'lib'), create('right', '{{ steps.files[0] }}')],
        },
        list('bad', 'blueprints', { failWhen: '{{ length(output) > `1` }}' }),
        create('reader', '{{ steps.bad[0] }}'),
        { id: 'missing', type: 'call', tool: 'read_text_file', params: { path: 'no/such' }, parse: 'text' },
      ],
      output: {
        none: '{{ results.none.status }}',
        some: '{{ results.some.status }}',
        made: '{{ results.made.status }}',
        bad: '{{ results.bad.error.kind }}',
        reader: '{{ results.reader.status }}',
      },
    });
    const byAt = Object.fromEntries(answer.steps.map((step) => [step.at, step]));
    expect(byAt).toMatchObject({
      none: { status: 'skipped', reason: 'when' },
      some: { status: 'called' },
      perhaps: { status: 'not-called', unresolved: ['steps.made'] },
      both: { status: 'walked', unresolved: ['steps.made'] },
      left: { status: 'not-called' },
      right: { status: 'not-called', arguments: { entities: [{ name: '[FILE] repo-to-graph.json' }] } },
      bad: { status: 'failed', error: { kind: 'FailedCondition' } },
      reader: { status: 'skipped', reason: 'failed:bad' },
      missing: { status: 'failed', error: { kind: 'ToolError' } },
    });
    expect(answer.output).toEqual({
      none: 'skipped',
      some: 'succeeded',
      made: '{{ results.made.status }}',
      bad: 'FailedCondition',
      reader: 'skipped',
    });
  });

  it('ends where a failure would end the run', async () => {
    const answer = await dryRun('ends', {
      steps: [
        { id: 'missing', type: 'call', tool: 'read_text_file', params: { path: 'no/such' }, parse: 'text' },
        list('never', 'lib'),
      ],
    });
    expect(answer.steps).toHaveLength(1);
    expect(answer.error).toMatchObject({ step: 'missing', kind: 'ToolError' });
    expect(answer).not.toHaveProperty('output');
  });

  it('follows values through pipes, collects and passes of a while', async () => {
    const answer = await dryRun('containers', {
      steps: [
        {
          id: 'piped',
          type: 'pipe',
          steps: [
            list('names', 'blueprints'),
            create('put', '{{ input[0] }}'),
            list('after', '{{ input.path }}'),
          ],
        },
        {
          id: 'both',
          type: 'collect',
          steps: [list('known', 'blueprints'), create('unknown', 'y')],
        },
        {
          id: 'passes',
          type: 'loop',
          while: '{{ length(output) < `1` }}',
          max: 5,
          do: list('pass', 'blueprints'),
        },
      ],
      output: {
        known: '{{ length(steps.both.known) }}',
        all: '{{ steps.both }}',
        passes: '{{ length(steps.passes) }}',
      },
    });
    expect(answer.steps.map((step) => [step.at, step.status, step.unresolved])).toEqual([
      ['names', 'called', undefined],
      ['put', 'not-called', undefined],
      ['after', 'not-called', ['input.path']],
      ['known', 'called', undefined],
      ['unknown', 'not-called', undefined],
      ['passes', 'walked', undefined],
      ['passes/00000/pass', 'called', undefined],
    ]);
    expect(answer.output).toEqual({ known: 2, all: '{{ steps.both }}', passes: 1 });
  });

  it('descends into sub-workflows with what it knows', async () => {
    await dryRun(
      'child',
      {
        params: { path: { type: 'string' }, note: { type: 'string', default: 'none' } },
        steps: [list('inside', '{{ params.path }}'), create('noted', '{{ params.note }}')],
        output: { count: '{{ length(steps.inside) }}', noted: '{{ steps.noted }}' },
      },
      { path: 'lib' },
    );
    const answer = await dryRun('parent', {
      steps: [
        create('made', 'x'),
        {
          id: 'sub',
          type: 'call',
          workflow: 'child',
          params: { path: 'blueprints', note: '{{ steps.made.entities[0].name }}' },
        },
      ],
      output: { count: '{{ steps.sub.count }}', noted: '{{ steps.sub.noted }}' },
    });
    expect(answer.steps).toMatchObject([
      { at: 'made' },
      { at: 'sub', workflow: 'child', status: 'walked', unresolved: ['steps.made.entities[0].name'] },
      { at: 'sub>inside', status: 'called', arguments: { path: 'blueprints' } },
      { at: 'sub>noted', status: 'not-called', unresolved: ['params.note'] },
    ]);
    expect(answer.output).toEqual({ count: 2, noted: '{{ steps.sub.noted }}' });
  });

  it('stays small whatever the values are', async () => {
    const answer = await dryRun('large-values', {
      steps: [
        {
          id: 'lock',
          type: 'call',
          tool: 'read_text_file',
          params: { path: 'package-lock.json' },
          parse: 'text',
        },
        create('made', '{{ steps.lock }}'),
        {
          id: 'many',
          type: 'parallel',
          branches: Array.from({ length: 80 }, (_, n) => create(`made-${n}`, '{{ steps.lock }}')),
        },
      ],
      output: '{{ steps.lock }}',
    });
    expect(JSON.stringify(answer).length).toBeLessThan(32 * 1024);
    expect(answer.omitted).toBeGreaterThan(0);
    expect(answer.steps[0]?.value).toMatch(/… \(\d{6} characters\)$/);
  });

  it('says what is wrong with the parameters', async () => {
    const answer = await engine.agent.call('run_workflow', { id: 'child', dryRun: true });
    expect(answer).toMatchObject({ isError: true, answer: { code: 'Invalid' } });
  });
});
