/**
 * The promise that matters most, shown the hard way: the engine's process is killed at random points of a loop of calls
 * that are neither read-only nor idempotent, started again, and the execution is redriven. No call is made twice, and
 * every call is either recorded or `OutcomeUnknown`.
 */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RedriveExecutionCommand, SFNClient } from '@aws-sdk/client-sfn';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../lib/blueprint/json.ts';
import { type Agent, connectAgent } from '../../lib/cli/agent.ts';
import { projectRoot } from '../../lib/cli/project.ts';
import { clientConfig, LOCAL_CREDENTIALS, LOCAL_REGION } from '../../lib/store/aws-config.ts';
import { type Command, mwe } from '../cli/command.ts';

const CALLS = 200;
/** Milliseconds after the first call was made; random, and told when a case fails. */
const KILLS = Array.from({ length: 4 }, () => Math.round(Math.random() * 600));

let folder: string;
let config: string;
let recorded: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mwe-kill-'));
  config = join(folder, 'mcp.json');
  recorded = join(folder, 'recorded.txt');
  const server = join(projectRoot(), 'test/crash/recording-server.js');
  await writeFile(
    config,
    JSON.stringify({
      mcpServers: {
        recording: {
          command: process.execPath,
          args: [server],
          env: { RECORD_FILE: recorded },
          maxConcurrency: 8,
          trustAnnotations: true,
        },
      },
    }),
  );
});
afterAll(() => rm(folder, { recursive: true, force: true }));

interface Serving {
  engine: Command;
  agent: Agent;
  sfn: SFNClient;
}

async function serve(dataDir: string): Promise<Serving> {
  const engine = mwe(['serve', '--port', '0', '--config', config, '--data', dataDir]);
  await engine.said('MCP endpoint');
  const endpoints = JSON.parse(await readFile(join(dataDir, 'endpoints.json'), 'utf8')) as {
    mcp: string;
    sfn: string;
  };
  const aws = { region: LOCAL_REGION, credentials: LOCAL_CREDENTIALS, endpoint: endpoints.sfn };
  return { engine, agent: await connectAgent(endpoints.mcp), sfn: new SFNClient(clientConfig(aws)) };
}

async function kill({ engine, agent, sfn }: Serving): Promise<void> {
  engine.child.kill('SIGKILL');
  await engine.ended;
  sfn.destroy();
  await agent.close().catch(() => undefined);
}

async function calls(): Promise<number[]> {
  const text = await readFile(recorded, 'utf8').catch(() => '');
  return text.split('\n').filter(Boolean).map(Number);
}

const loop = (id: string, concurrency: number): JsonObject => ({
  id,
  params: { numbers: { type: 'array' } },
  errorStrategy: { onStepFailure: 'continue' },
  steps: [
    {
      id: 'calls',
      type: 'loop',
      over: '{{ params.numbers }}',
      as: 'n',
      concurrency,
      do: { id: 'one', type: 'call', tool: 'recording/record', params: { n: '{{ n }}' } },
    },
  ],
  output: { ok: '{{ results.calls.count }}', failed: '{{ results.calls.failed }}' },
});

async function items(agent: Agent, runId: string): Promise<JsonObject[]> {
  const all: JsonObject[] = [];
  let cursor: string | undefined;
  do {
    const { answer } = await agent.call('get_run', {
      runId,
      step: 'calls',
      ...(cursor === undefined ? {} : { cursor }),
    });
    all.push(...(answer.items as JsonObject[]));
    cursor = answer.nextCursor as string | undefined;
  } while (cursor !== undefined);
  return all;
}

describe.each([1, 4, 25])('a loop of 200 calls, %i at once', (concurrency) => {
  it.each(KILLS)('killed %i ms after its first call', { timeout: 60_000 }, async (delayMs) => {
    const dataDir = await mkdtemp(join(folder, 'data-'));
    await rm(recorded, { force: true });
    const first = await serve(dataDir);
    const id = `loop-${concurrency}`;
    expect((await first.agent.call('create_workflow', { blueprint: loop(id, concurrency) })).isError).toBe(
      false,
    );
    const numbers = Array.from({ length: CALLS }, (_, n) => n);
    const { answer: started } = await first.agent.call('run_workflow', { id, params: { numbers }, wait: 0 });
    const runId = String(started.runId);
    await expect
      .poll(async () => (await calls()).length, { timeout: 20_000, interval: 5 })
      .toBeGreaterThan(0);
    await new Promise((resolve) => setTimeout(resolve, delayMs));
    await kill(first);
    const before = await calls();

    const second = await serve(dataDir);
    try {
      const { answer: found } = await second.agent.call('get_run', { runId });
      if (before.length < CALLS) {
        expect(found).toMatchObject({ status: 'CANCELLED' });
        expect(JSON.stringify(found.failure)).toContain('process');
      }
      if (found.status !== 'SUCCEEDED') {
        const executionArn = `arn:aws:states:us-east-1:000000000000:execution:mwe-${id}:${runId}`;
        await second.sfn.send(new RedriveExecutionCommand({ executionArn }));
        await expect
          .poll(async () => (await second.agent.call('get_run', { runId })).answer.status, {
            timeout: 40_000,
          })
          .toBe('SUCCEEDED');
      }
      const made = await calls();
      expect(made.length, 'no call is made twice').toBe(new Set(made).size);
      const results = await items(second.agent, runId);
      expect(results).toHaveLength(CALLS);
      const succeeded = results.filter((item) => item.status === 'succeeded').map((item) => item.item);
      const unknown = results.filter((item) => item.status === 'failed');
      for (const item of unknown) expect(item.error).toMatchObject({ kind: 'OutcomeUnknown' });
      expect(succeeded.length + unknown.length).toBe(CALLS);
      expect(made, 'what succeeded was made').toEqual(expect.arrayContaining(succeeded));
      // What was never announced is made after the redrive: only what was in flight, or about to be, is unknown.
      expect(made.length).toBeGreaterThanOrEqual(succeeded.length);
    } finally {
      await kill(second);
    }
  });
});
