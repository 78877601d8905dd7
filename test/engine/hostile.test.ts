/** A downstream server that does what no server should, seen from the face to agents and from the execution's history. */
import { join } from 'node:path';
import { GetExecutionHistoryCommand, SFNClient } from '@aws-sdk/client-sfn';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../lib/blueprint/json.ts';
import { clientConfig, LOCAL_CREDENTIALS, LOCAL_REGION } from '../../lib/store/aws-config.ts';
import { type RunningEngine, startRunningEngine } from '../running-engine.ts';

const SERVER = join(import.meta.dirname, '..', 'downstream', 'fixtures', 'hostile-server.mjs');
const SECRET = 'hunter2hunter2';
let engine: RunningEngine;
let sfn: SFNClient;

beforeAll(async () => {
  process.env.HOSTILE_TOKEN = SECRET;
  const server = (list: string): JsonObject => ({
    command: process.execPath,
    args: [SERVER, '$' + '{HOSTILE_TOKEN}'],
    env: { TOKEN: '$' + '{HOSTILE_TOKEN}', HOSTILE_LIST: list },
  });
  engine = await startRunningEngine({ hostile: server(''), endless: server('endless') });
  sfn = new SFNClient(
    clientConfig({ region: LOCAL_REGION, credentials: LOCAL_CREDENTIALS, endpoint: engine.endpoints.sfn }),
  );
});
afterAll(async () => {
  delete process.env.HOSTILE_TOKEN;
  sfn.destroy();
  await engine.end();
});

const call = async (tool: string, args: JsonObject): Promise<JsonObject> =>
  (await engine.agent.call(tool, args)).answer;

describe('list_tools', () => {
  it('tells of a list without end, and shows nothing that is not seen', async () => {
    const all = await call('list_tools', {});
    expect(all.unavailable).toMatchObject([{ server: 'endless' }]);
    const few = await call('list_tools', { query: 'hostile/deep-error' });
    for (const answer of [all, few]) {
      expect(
        JSON.stringify((answer.tools as JsonObject[]).map((tool) => ({ ...tool, name: '' }))),
      ).not.toMatch(/\u202e|[\u{e0000}-\u{e007f}]|\\u001b/u);
    }
    expect(JSON.stringify(few)).toContain('"description":"ab"');
  });
});

describe('a run', () => {
  const step = (tool: string, params: JsonObject = {}, more: JsonObject = {}): JsonObject => ({
    id: 's',
    type: 'call',
    tool: `hostile/${tool}`,
    params,
    ...more,
  });
  const RETRIED = { errorStrategy: { onStepFailure: 'retry', maxRetries: 1, retryDelayMs: 1 } };

  it.each<[string, JsonObject, string]>([
    ['deep', step('deep'), 'ResultTooLarge'],
    ['deep-read', step('deep', {}, { parse: 'text' }), 'ResultTooLarge'],
    ['deep-error', step('deep-error'), 'ResultTooLarge'],
    ['complain', step('complain', { how: 'answer' }, RETRIED), 'ToolError'],
    ['protocol', step('complain', { how: 'error' }), 'ToolError'],
    ['long-error', step('complain', { how: 'long' }, RETRIED), 'ToolError'],
    ['die', step('die'), 'OutcomeUnknown'],
  ])('fails as a step, and tells no stack, folder or secret: %s', async (id, failing, kind) => {
    await call('create_workflow', {
      blueprint: { id, steps: [failing], output: { all: '{{ results.s.structured }}' } },
    });
    const answer = await call('run_workflow', { id });
    expect(answer).toMatchObject({ status: 'FAILED', errors: [{ step: 's', kind }] });
    const execution = `arn:aws:states:us-east-1:000000000000:execution:mwe-${id}:${String(answer.runId)}`;
    const { events } = await sfn.send(new GetExecutionHistoryCommand({ executionArn: execution }));
    const history = JSON.stringify(events);
    expect(history.includes(kind)).toBe(true);
    const shown = JSON.stringify([answer, events, await call('get_run', { runId: answer.runId ?? '' })]);
    expect(shown.match(/hunter2|\/home\/|node_modules|\.[jt]s:\d+|\\n\s+at /g)).toBe(null);
    expect(history.match(/the key|stderr|EEE/g)).toBe(null);
  });
});
