/**
 * A run's life through the bundles of all three functions, each in a process of its own: an agent saves and starts it at the
 * function URL, the local Step Functions sends call-tool its tasks and run-events its events.
 */
import { join } from 'node:path';
import { DescribeExecutionCommand, SFNClient } from '@aws-sdk/client-sfn';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { LOCAL_FUNCTIONS } from '../../lib/cli/local-names.ts';
import { projectRoot } from '../../lib/cli/project.ts';
import { clientConfig, LOCAL_CREDENTIALS, LOCAL_REGION } from '../../lib/store/aws-config.ts';
import { type Container, startContainer } from './container.ts';
import { openStage, type Stage } from './stage.ts';
import { mcpEvent } from './url-event.ts';

const TRACE = 'Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=1';
const EVERYTHING = join(projectRoot(), 'node_modules/@modelcontextprotocol/server-everything/dist/index.js');

let stage: Stage;
let sfn: SFNClient;
const containers: Partial<Record<'endpoint' | 'callTool' | 'runEvents', Container>> = {};
const named = (name: keyof typeof containers): Container => {
  const container = containers[name];
  if (container === undefined) throw new Error(`${name} has not started`);
  return container;
};

beforeAll(async () => {
  stage = await openStage({
    functions: {
      [LOCAL_FUNCTIONS.callTool]: (event) => named('callTool').invoke(event, { timeoutMs: 900_000 }),
      [LOCAL_FUNCTIONS.runEvents]: (event) => named('runEvents').invoke(event),
    },
    mcpJson: JSON.stringify({
      mcpServers: { everything: { command: process.execPath, args: [EVERYTHING] } },
    }),
  });
  containers.endpoint = await startContainer(await stage.asset('mcp-endpoint'), stage.environment());
  containers.callTool = await startContainer(await stage.asset('call-tool'), stage.environment());
  containers.runEvents = await startContainer(await stage.asset('run-events'), stage.environment());
  sfn = new SFNClient(
    clientConfig({
      region: LOCAL_REGION,
      credentials: LOCAL_CREDENTIALS,
      endpoint: stage.local.endpoints.sfn,
    }),
  );
});
afterAll(async () => {
  sfn.destroy();
  for (const container of Object.values(containers)) await container.stop();
  await stage.stop();
});

interface Answer {
  runId: string;
  status: string;
  output?: unknown;
  url?: string;
}

async function call(name: string, args: object, traceHeader?: string): Promise<Answer> {
  const event = mcpEvent('tools/call', { name, arguments: args }, { authorization: `Bearer ${stage.token}` });
  const options = traceHeader === undefined ? {} : { traceHeader };
  const answer = await named('endpoint').stream(event, options);
  const { structuredContent, content, isError } = JSON.parse(answer.body).result;
  if (isError === true) throw new Error(content[0].text);
  return structuredContent;
}

const say = (tool: string) => ({
  id: tool === 'everything/echo' ? 'says' : 'fails',
  params: { text: { type: 'string' } },
  steps: [{ id: 'say', type: 'call', tool, params: { message: '{{ params.text }}' }, parse: 'text' }],
});

it('saves, starts, calls, ends; the execution is part of the request’s trace', async () => {
  await call('create_workflow', { blueprint: say('everything/echo') });
  const run = await call('run_workflow', { id: 'says', params: { text: 'hello' } }, TRACE);
  expect(run).toMatchObject({ status: 'SUCCEEDED', output: 'Echo: hello' });
  expect(run.url).toMatch(/^https:\/\/.*console\.aws\.amazon\.com\/states\//);
  const executionArn = decodeURIComponent(/executions\/details\/([^?]+)/.exec(run.url ?? '')?.[1] ?? '');
  const { traceHeader } = await sfn.send(new DescribeExecutionCommand({ executionArn }));
  expect(traceHeader).toBe(TRACE);
});

it('an execution that fails fails the run, and call-tool has told of it', async () => {
  await call('create_workflow', { blueprint: say('everything/none') });
  const run = await call('run_workflow', { id: 'fails', params: { text: 'hello' } });
  expect(run.status).toBe('FAILED');
  const lines = () =>
    named('callTool')
      .stdout()
      .split('\n')
      .filter((line) => line.includes('CloudWatchMetrics'))
      .map((line) => JSON.parse(line));
  // What a process writes goes another way than its answers.
  const status = (wanted: string) =>
    lines().find((line) => line.status === wanted && line.trigger === undefined);
  while (status('FAILED') === undefined) await new Promise(setImmediate);
  expect(status('SUCCEEDED')).toMatchObject({ Runs: 1 });
  expect(status('FAILED')).toMatchObject({ Runs: 1 });
  expect(lines().find(({ kind }) => kind !== undefined)).toMatchObject({ kind: 'UnknownTool', Failures: 1 });
  expect(lines().filter(({ ToolCalls }) => ToolCalls !== undefined)).toMatchObject([
    { outcome: 'succeeded', ToolCalls: 1 },
  ]);
});

it('pages have cursors, sealed with the deployment’s key', async () => {
  const { runs } = (await call('list_runs', {})) as unknown as { runs: { workflow: string }[] };
  expect(runs.map(({ workflow }) => workflow)).toEqual(['fails', 'says']);
});
