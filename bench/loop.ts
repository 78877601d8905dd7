/**
 * (b) A loop of 2,000 calls against a script that makes the same calls on the MCP SDK, in one run; (c) what that loop costs
 * in state transitions and history events.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { GetExecutionHistoryCommand, type HistoryEvent, SFNClient } from '@aws-sdk/client-sfn';
import { Client, StreamableHTTPClientTransport, type Transport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import type { JsonObject } from '../lib/blueprint/json.ts';
import { projectRoot } from '../lib/cli/project.ts';
import { clientConfig, LOCAL_CREDENTIALS, LOCAL_REGION } from '../lib/store/aws-config.ts';
import { startRunningEngine } from '../test/running-engine.ts';
import { compare, type Figure, rounded } from './measure.ts';

const CALLS = 2000;
const TOOL_MS = 20;
const everything = join(projectRoot(), 'node_modules/@modelcontextprotocol/server-everything/dist/index.js');

type Arguments = (n: number) => JsonObject;

/** The direct way: the same calls on the SDK, `concurrency` at a time. */
async function script(
  transport: () => Transport,
  tool: string,
  args: Arguments,
  concurrency: number,
): Promise<void> {
  const client = new Client({ name: 'script', version: '1' }, { versionNegotiation: { mode: 'auto' } });
  await client.connect(transport());
  let next = 0;
  const values: unknown[] = [];
  const worker = async (): Promise<void> => {
    for (let n = next++; n < CALLS; n = next++) {
      const result = await client.callTool({ name: tool, arguments: args(n) });
      values[n] = result.structuredContent ?? result.content;
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  await client.close();
}

function loopBlueprint(id: string, tool: string, params: JsonObject, concurrency: number): JsonObject {
  return {
    id,
    params: { ns: { type: 'array' } },
    steps: [
      {
        id: 'calls',
        type: 'loop',
        over: '{{ params.ns }}',
        as: 'n',
        concurrency,
        do: { id: 'one', type: 'call', tool, params },
      },
    ],
    output: '{{ length(steps.calls) }}',
  };
}

export async function benchLoop(only: { quick: boolean }): Promise<Figure[]> {
  const waiting = await startWaiting();
  const http = await startEverything();
  const engine = await startRunningEngine({
    waiting: { url: waiting.url, maxConcurrency: 64, trustAnnotations: true },
    stdio: { command: process.execPath, args: [everything], maxConcurrency: 8 },
    http: { url: http.url, maxConcurrency: 64 },
  });
  const figures: Figure[] = [];
  const numbers = Array.from({ length: CALLS }, (_, n) => n);
  const runLoop = async (id: string): Promise<string> => {
    let { answer } = await engine.agent.call('run_workflow', { id, params: { ns: numbers }, wait: 50 });
    if (answer.status === 'RUNNING')
      answer = await engine.agent.follow(String(answer.runId), () => undefined);
    if (answer.status !== 'SUCCEEDED' || answer.output !== CALLS) throw new Error(JSON.stringify(answer));
    return String(answer.runId);
  };
  const save = async (blueprint: JsonObject): Promise<string> => {
    const { isError, answer } = await engine.agent.call('create_workflow', { blueprint });
    if (isError) throw new Error(JSON.stringify(answer));
    return String(answer.id);
  };
  try {
    for (const tool of ['look', 'write']) {
      for (const concurrency of only.quick ? [8] : [1, 8]) {
        const id = await save(
          loopBlueprint(
            `${tool}-${concurrency}`,
            `waiting/${tool}`,
            { n: '{{ n }}', ms: TOOL_MS },
            concurrency,
          ),
        );
        const direct = () =>
          script(
            () => new StreamableHTTPClientTransport(new URL(waiting.url)),
            tool,
            (n) => ({ n, ms: TOOL_MS }),
            concurrency,
          );
        // A round at concurrency 1 takes 40 seconds a side and is steady by its length.
        const { ours, theirs } = await compare(
          concurrency === 1 ? 1 : 3,
          () => runLoop(id),
          direct,
          concurrency > 1,
        );
        figures.push({
          name: `${CALLS} calls of a ${TOOL_MS} ms tool (${tool === 'look' ? 'read-only' : 'not repeatable'}), concurrency ${concurrency}: engine / script`,
          value: rounded(ours / theirs),
          unit: '×',
          aim: '1.15',
        });
      }
    }
    for (const [name, transport] of [
      [
        'stdio',
        () => new StdioClientTransport({ command: process.execPath, args: [everything], stderr: 'ignore' }),
      ],
      ['http', () => new StreamableHTTPClientTransport(new URL(http.url))],
    ] as const) {
      const id = await save(loopBlueprint(`echo-${name}`, `${name}/echo`, { message: 'm{{ n }}' }, 8));
      const direct = () => script(transport, 'echo', (n) => ({ message: `m${n}` }), 8);
      const { ours, theirs } = await compare(5, () => runLoop(id), direct);
      figures.push(
        {
          name: `echo over ${name}, concurrency 8: overhead a call`,
          value: rounded(((ours - theirs) * 1000) / CALLS),
          unit: 'µs',
          aim: '150',
        },
        { name: `echo over ${name}: script, a call`, value: rounded((theirs * 1000) / CALLS), unit: 'µs' },
      );
    }
    figures.push(...(await countEvents(engine.endpoints.sfn, 'echo-http', await runLoop('echo-http'))));
  } finally {
    await engine.end();
    await waiting.stop();
    await http.stop();
  }
  return figures;
}

async function countEvents(endpoint: string, id: string, runId: string): Promise<Figure[]> {
  const sfn = new SFNClient(clientConfig({ region: LOCAL_REGION, credentials: LOCAL_CREDENTIALS, endpoint }));
  const { events = [] } = await sfn.send(
    new GetExecutionHistoryCommand({
      executionArn: `arn:aws:states:us-east-1:000000000000:execution:mwe-${id}:${runId}`,
      maxResults: 1000,
    }),
  );
  sfn.destroy();
  const entered = events.filter((event: HistoryEvent) => event.type?.endsWith('StateEntered'));
  return [
    { name: `state transitions of a loop of ${CALLS} calls`, value: entered.length, unit: '' },
    {
      name: `history events of a loop of ${CALLS} calls`,
      value: events.length,
      unit: '',
      aim: '30 with the transitions',
    },
  ];
}

interface Server {
  url: string;
  stop(): Promise<void>;
}

async function startWaiting(): Promise<Server> {
  const child = spawn(process.execPath, ['scripts/run.js', 'bench/servers/waiting-server.ts'], {
    cwd: projectRoot(),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [chunk] = (await once(child.stdout, 'data')) as [Buffer];
  return { url: chunk.toString().trim(), stop: () => end(child) };
}

async function startEverything(): Promise<Server> {
  const port = await freePort();
  const child = spawn(process.execPath, [everything, 'streamableHttp'], {
    env: { ...process.env, PORT: String(port) },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  // It says that it listens on stderr.
  await once(child.stderr, 'data');
  child.stderr.resume();
  const url = `http://127.0.0.1:${port}/mcp`;
  for (let tries = 0; ; tries++) {
    const up = await fetch(url).then(
      () => true,
      () => false,
    );
    if (up) return { url, stop: () => end(child) };
    if (tries > 100) throw new Error('server-everything does not listen');
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as { port: number };
  probe.close();
  return port;
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
}
