/** Starting, following, reading and cancelling runs, as an agent does it. */
import { GetExecutionHistoryCommand, SFNClient, StartExecutionCommand } from '@aws-sdk/client-sfn';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../lib/blueprint/json.ts';
import { clientConfig, LOCAL_CREDENTIALS, LOCAL_REGION } from '../../lib/store/aws-config.ts';
import { PUBLISHED, type RunningEngine, startRunningEngine } from '../running-engine.ts';

let engine: RunningEngine;
let sfn: SFNClient;

beforeAll(async () => {
  engine = await startRunningEngine({ everything: PUBLISHED.everything, filesystem: PUBLISHED.filesystem });
  sfn = new SFNClient(
    clientConfig({ region: LOCAL_REGION, credentials: LOCAL_CREDENTIALS, endpoint: engine.endpoints.sfn }),
  );
});
afterAll(async () => {
  sfn.destroy();
  await engine.end();
});

const call = async (tool: string, args: JsonObject): Promise<JsonObject> =>
  (await engine.agent.call(tool, args)).answer;
const save = (id: string, rest: JsonObject) => call('create_workflow', { blueprint: { id, ...rest } });
const echo = (id: string, message = 'hi', more: JsonObject = {}): JsonObject => ({
  id,
  type: 'call',
  tool: 'echo',
  params: { message },
  parse: 'text',
  ...more,
});
const MACHINE = (id: string) => `arn:aws:states:us-east-1:000000000000:stateMachine:mwe-${id}`;

describe('starting', () => {
  it('checks parameters and names every fault', async () => {
    await save('typed', {
      params: {
        n: { type: 'integer' },
        s: { type: 'string', default: 'x' },
        o: { type: 'array', default: null },
      },
      steps: [echo('say', '{{ params.n }} {{ params.s }}')],
    });
    const refused = await call('run_workflow', { id: 'typed', params: { n: 1.5, s: 2, more: true } });
    expect(refused.code).toBe('Invalid');
    for (const part of [
      'params/n: integer is needed, number came',
      'params/s: string',
      'params/more: the workflow has no such',
    ]) {
      expect(refused.message).toContain(part);
    }
    expect(await call('run_workflow', { id: 'typed' })).toMatchObject({ code: 'Invalid' });
    expect(await call('run_workflow', { id: 'typed', params: { n: 3, o: null } })).toMatchObject({
      status: 'SUCCEEDED',
      output: 'Echo: 3 x',
    });
  });

  it('gives one run for one idempotency key, and refuses other parameters under it', async () => {
    await save('keyed', { params: { m: { type: 'string' } }, steps: [echo('say', '{{ params.m }}')] });
    const start = (m: string) => call('run_workflow', { id: 'keyed', params: { m }, idempotencyKey: 'k1' });
    const [a, b] = await Promise.all([start('one'), start('one')]);
    expect(a.runId).toBe(b.runId);
    expect((await start('one')).runId).toBe(a.runId);
    expect(await start('two')).toMatchObject({ code: 'Conflict' });
    const runs = (await call('list_runs', { workflow: 'keyed' })).runs as unknown[];
    expect(runs).toHaveLength(1);
  });

  it('runs an old revision', async () => {
    await save('revised', { steps: [echo('say', 'old')] });
    await save('revised', { steps: [echo('say', 'new')] });
    expect(await call('run_workflow', { id: 'revised', revision: 1 })).toMatchObject({ output: 'Echo: old' });
    expect(await call('run_workflow', { id: 'revised' })).toMatchObject({ output: 'Echo: new' });
    expect(await call('run_workflow', { id: 'revised', revision: 9 })).toMatchObject({ code: 'NotFound' });
  });

  it('makes an execution that was started by hand a run of its own, also with an old input', async () => {
    await save('by-hand', {
      params: { m: { type: 'string', default: 'd' } },
      steps: [echo('say', '{{ params.m }}')],
    });
    const known = await call('run_workflow', { id: 'by-hand' });
    const inputs = [{}, { params: { m: 'given' } }, { run: known.runId }];
    for (const input of inputs) {
      await sfn.send(
        new StartExecutionCommand({ stateMachineArn: MACHINE('by-hand'), input: JSON.stringify(input) }),
      );
    }
    await expect
      .poll(
        async () => {
          const { runs } = await call('list_runs', { workflow: 'by-hand', status: 'SUCCEEDED' });
          return (runs as JsonObject[]).map((run) => run.trigger).sort();
        },
        { timeout: 20_000 },
      )
      .toEqual(['call', 'console', 'console', 'console']);
  });
});

describe('failing', () => {
  it('is data: FAILED with errors in the one shape, and no output', async () => {
    await save('fails', {
      steps: [
        { id: 'read', type: 'call', tool: 'read_text_file', params: { path: 'no/such/file' }, parse: 'text' },
      ],
    });
    const { isError, answer } = await engine.agent.call('run_workflow', { id: 'fails' });
    expect(isError).toBe(false);
    expect(answer).toMatchObject({ status: 'FAILED' });
    expect(answer).not.toHaveProperty('output');
    expect(answer.errors).toMatchObject([
      {
        step: 'read',
        path: 'read',
        kind: 'ToolError',
        attempts: 1,
        server: 'filesystem',
        tool: 'read_text_file',
      },
    ]);
  });

  it('leaves neither argument nor result in the history', async () => {
    await save('secretive', { params: { s: { type: 'string' } }, steps: [echo('say', '{{ params.s }}')] });
    const { runId } = await call('run_workflow', { id: 'secretive', params: { s: 'hunter2hunter2' } });
    const events = await sfn.send(
      new GetExecutionHistoryCommand({
        executionArn: `${MACHINE('secretive').replace('stateMachine', 'execution')}:${String(runId)}`,
      }),
    );
    expect(events.events?.length).toBeGreaterThan(5);
    expect(JSON.stringify(events.events)).not.toContain('hunter2');
  });

  it('goes on under `continue`, and tells the errors', async () => {
    await save('goes-on', {
      errorStrategy: { onStepFailure: 'continue' },
      steps: [
        { id: 'bad', type: 'call', tool: 'read_text_file', params: { path: 'no/such/file' }, parse: 'text' },
        echo('reader', '{{ steps.bad }}'),
        echo('other', 'still here'),
      ],
      output: { bad: '{{ steps.bad }}', reader: '{{ results.reader.status }}', other: '{{ steps.other }}' },
    });
    const answer = await call('run_workflow', { id: 'goes-on' });
    expect(answer).toMatchObject({
      status: 'SUCCEEDED',
      output: { bad: null, reader: 'skipped', other: 'Echo: still here' },
    });
    expect(answer.errors).toMatchObject([{ step: 'bad', kind: 'ToolError' }]);
    const { steps } = await call('get_run', { runId: String(answer.runId) });
    expect(steps).toMatchObject([{ at: 'bad' }, { at: 'other' }, { at: 'reader', reason: 'failed:bad' }]);
  });
});

describe('what has ended', () => {
  it('has nothing running in it: containers end with the run that ended in them', async () => {
    await save('ended', {
      steps: [
        {
          id: 'outer',
          type: 'pipe',
          timeoutSeconds: 60,
          steps: [
            { id: 'bad', type: 'call', tool: 'read_text_file', params: { path: 'no/such' }, parse: 'text' },
          ],
        },
      ],
    });
    const { runId } = await call('run_workflow', { id: 'ended' });
    const { steps } = await call('get_run', { runId: String(runId) });
    expect(steps).toMatchObject([
      { at: 'bad', status: 'failed' },
      { at: 'outer', status: 'failed', error: { kind: 'ToolError', path: 'bad' } },
    ]);
  });
});

describe('reading', () => {
  it('answers a large output as a summary with a link to the whole', async () => {
    await save('large', {
      steps: [{ id: 'tree', type: 'call', tool: 'directory_tree', params: { path: 'lib' }, parse: 'json' }],
      output: { tree: '{{ steps.tree }}', again: '{{ steps.tree }}', thrice: '{{ steps.tree }}' },
    });
    const answer = await call('run_workflow', { id: 'large' });
    expect(answer).toMatchObject({
      status: 'SUCCEEDED',
      summary: { bytes: expect.any(Number), sample: { tree: expect.any(Array) } },
    });
    expect(answer).not.toHaveProperty('output');
  });

  it('gives a step its value, a long list in pages', async () => {
    await save('paged', {
      steps: [
        {
          id: 'files',
          type: 'call',
          tool: 'search_files',
          params: { path: 'lib', pattern: '**/*.ts' },
          parse: 'lines',
        },
      ],
    });
    const { runId } = await call('run_workflow', { id: 'paged' });
    const files: unknown[] = [];
    let cursor: string | undefined;
    let total = 0;
    do {
      const page = await call('get_run', {
        runId: String(runId),
        step: 'files',
        ...(cursor === undefined ? {} : { cursor }),
      });
      files.push(...(page.value as unknown[]));
      total = Number(page.total);
      cursor = page.nextCursor as string | undefined;
    } while (cursor !== undefined);
    expect(total).toBeGreaterThan(100);
    expect(new Set(files).size).toBe(total);
  });

  it('knows no run that is not there, and no step', async () => {
    expect(await call('get_run', { runId: 'f'.repeat(32) })).toMatchObject({ code: 'NotFound' });
    await save('known', { steps: [echo('say')] });
    const { runId } = await call('run_workflow', { id: 'known' });
    expect(await call('get_run', { runId: String(runId), step: 'nope' })).toMatchObject({ code: 'NotFound' });
  });

  it('says where the steps of a batch loop are', async () => {
    await save('batch', { steps: [{ id: 'each', type: 'loop', over: [1], do: echo('say') }] });
    const { runId } = await call('run_workflow', { id: 'batch' });
    expect(await call('get_run', { runId: String(runId), step: 'each/00000/say' })).toMatchObject({
      code: 'NotFound',
      message: expect.stringContaining('read with step "each"'),
    });
  });
});

describe('cancelling', () => {
  it('stops a call in flight and closes the run', async () => {
    await save('slow', {
      steps: [
        {
          id: 'long',
          type: 'call',
          tool: 'trigger-long-running-operation',
          params: { duration: 30, steps: 30 },
          parse: 'text',
        },
      ],
    });
    const { runId, status } = await call('run_workflow', { id: 'slow', wait: 0 });
    expect(status).toBe('RUNNING');
    await expect
      .poll(async () => (await call('get_run', { runId: String(runId) })).steps)
      .toMatchObject([{ at: 'long', status: 'running' }]);
    expect(await call('cancel_run', { runId: String(runId) })).toMatchObject({ status: 'CANCELLED' });
    expect(await call('cancel_run', { runId: String(runId) })).toMatchObject({ status: 'CANCELLED' });
    expect(await call('get_run', { runId: String(runId) })).toMatchObject({ status: 'CANCELLED' });
    // The one stdio connection is free again: the downstream call was cancelled too.
    await save('after', { steps: [echo('say')] });
    expect(await call('run_workflow', { id: 'after', wait: 10 })).toMatchObject({ status: 'SUCCEEDED' });
  });
});
