/** Saving, listing, reading and deleting workflows, as an agent does it. */
import { join } from 'node:path';
import { SFNClient, StartExecutionCommand } from '@aws-sdk/client-sfn';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../lib/blueprint/json.ts';
import { projectRoot } from '../../lib/cli/project.ts';
import { clientConfig, LOCAL_CREDENTIALS, LOCAL_REGION } from '../../lib/store/aws-config.ts';
import { PUBLISHED, type RunningEngine, startRunningEngine } from '../running-engine.ts';

let engine: RunningEngine;

beforeAll(async () => {
  engine = await startRunningEngine(
    { everything: PUBLISHED.everything },
    { blueprints: join(projectRoot(), 'blueprints') },
  );
});
afterAll(() => engine.end());

const blueprint = (id: string, message = 'hi') => ({
  id,
  steps: [{ id: 'say', type: 'call', tool: 'echo', params: { message }, parse: 'text' }],
});
const save = (value: ReturnType<typeof blueprint> | Record<string, never>) =>
  engine.agent.call('create_workflow', { blueprint: value });

describe('saving', () => {
  it('answers HEAD for the same content and counts revisions for other content', async () => {
    const first = await save(blueprint('counted'));
    expect(first.answer).toMatchObject({ id: 'counted', revision: 1 });
    expect((await save(blueprint('counted'))).answer).toMatchObject({ revision: 1, unchanged: true });
    expect((await save(blueprint('counted', 'again'))).answer).toMatchObject({ revision: 2 });
    // Back to the first content: a revision of its own, for history goes forward only.
    expect((await save(blueprint('counted'))).answer).toMatchObject({ revision: 3, hash: first.answer.hash });
  });

  it('binds a tool to the server that offers it', async () => {
    await save(blueprint('bound'));
    const { answer } = await engine.agent.call('get_workflow', { id: 'bound', machine: true });
    expect(answer.tools).toEqual({ say: { server: 'everything', tool: 'echo' } });
    expect(answer.machine).toMatchObject({ QueryLanguage: 'JSONata', StartAt: ' begin' });
  });

  it('refuses with every error at once and saves nothing', async () => {
    const { isError, answer } = await engine.agent.call('create_workflow', {
      blueprint: {
        id: 'broken',
        steps: [
          { id: 'a', type: 'call', tool: 'echo', params: { message: '{{ steps.nope }}' } },
          { id: 'a', type: 'call', tool: 'echo', params: { message: '{{ length( }}' } },
        ],
      },
    });
    expect(isError).toBe(true);
    expect(answer).toMatchObject({ code: 'Invalid' });
    expect((answer.errors as unknown[]).length).toBeGreaterThanOrEqual(3);
    expect((await engine.agent.call('get_workflow', { id: 'broken' })).answer).toMatchObject({
      code: 'NotFound',
    });
  });

  it('saves one of two that are sent at once, or both in order, and loses none', async () => {
    const answers = await Promise.all([save(blueprint('raced', 'a')), save(blueprint('raced', 'b'))]);
    const saved = answers.filter((one) => !one.isError);
    expect(saved.length).toBeGreaterThanOrEqual(1);
    for (const one of answers.filter((a) => a.isError))
      expect(one.answer).toMatchObject({ code: 'Conflict' });
    const { answer } = await engine.agent.call('get_workflow', { id: 'raced' });
    expect(answer.revision).toBe(saved.length);
  });
});

describe('what ships with the engine', () => {
  it('is there from the start, and no agent changes or deletes it', async () => {
    const { answer } = await engine.agent.call('get_workflow', { id: 'triage' });
    expect(answer).toMatchObject({ revision: 1, readOnly: true, owner: 'stack' });
    for (const attempt of [
      save(blueprint('triage')),
      engine.agent.call('delete_workflow', { id: 'triage' }),
    ]) {
      expect(await attempt).toMatchObject({
        isError: true,
        answer: { code: 'Forbidden', message: expect.stringContaining('blueprints/triage.json') },
      });
    }
    expect((await engine.agent.call('get_workflow', { id: 'triage' })).answer).toEqual(answer);
  });
});

describe('deleting', () => {
  it('refuses a start that passes the endpoint by', async () => {
    await save(blueprint('left'));
    await engine.agent.call('delete_workflow', { id: 'left' });
    const sfn = new SFNClient(
      clientConfig({
        region: LOCAL_REGION,
        credentials: LOCAL_CREDENTIALS,
        endpoint: engine.endpoints.sfn,
      }),
    );
    await sfn.send(
      new StartExecutionCommand({
        stateMachineArn: 'arn:aws:states:us-east-1:000000000000:stateMachine:mwe-left',
        input: '{}',
      }),
    );
    sfn.destroy();
    const runs = async () =>
      (await engine.agent.call('list_runs', { workflow: 'left' })).answer.runs as JsonObject[];
    await expect.poll(runs).toMatchObject([{ trigger: 'console', status: 'FAILED' }]);
    const [run] = await runs();
    const { answer } = await engine.agent.call('get_run', { runId: String(run?.runId) });
    expect(answer.errors).toMatchObject([{ kind: 'Cancelled', message: expect.stringContaining('deleted') }]);
    expect(answer.attempts).toBe(0);
  });

  it('leaves a tombstone; the id can be saved again and the numbering goes on', async () => {
    await save(blueprint('gone'));
    expect((await engine.agent.call('delete_workflow', { id: 'gone' })).answer).toEqual({
      id: 'gone',
      deleted: true,
    });
    expect((await engine.agent.call('run_workflow', { id: 'gone' })).answer).toMatchObject({
      code: 'NotFound',
    });
    expect((await engine.agent.call('delete_workflow', { id: 'gone' })).answer).toMatchObject({
      code: 'NotFound',
    });
    expect((await save(blueprint('gone'))).answer).toMatchObject({ revision: 2 });
    expect((await engine.agent.call('run_workflow', { id: 'gone' })).answer).toMatchObject({
      status: 'SUCCEEDED',
    });
  });
});

describe('listing', () => {
  it('pages with authenticated cursors', async () => {
    await Promise.all(Array.from({ length: 55 }, (_, n) => save(blueprint(`many-${n}`))));
    const first = await engine.agent.call('list_workflows', {});
    const cursor = String(first.answer.nextCursor);
    const second = await engine.agent.call('list_workflows', { cursor });
    const ids = [first, second].flatMap((page) =>
      (page.answer.workflows as { id: string }[]).map(({ id }) => id),
    );
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.filter((id) => id.startsWith('many-'))).toHaveLength(55);

    const forged = `${Buffer.from('{"pk":"x"}').toString('base64url')}.${cursor.split('.')[1]}`;
    for (const bad of [forged, 'x', '', cursor.slice(0, -2)]) {
      expect((await engine.agent.call('list_workflows', { cursor: bad })).answer).toMatchObject({
        code: 'Invalid',
      });
    }
    // A cursor belongs to its query.
    expect((await engine.agent.call('list_runs', { cursor })).answer).toMatchObject({ code: 'Invalid' });
  });
});
