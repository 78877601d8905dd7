/**
 * The engine with its functions and a Scheduler whose clock the test moves: schedules fire, executions run, status events come to
 * run-events. There is no endpoint: the tests call the engine as its tools do.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { LambdaClient } from '@aws-sdk/client-lambda';
import { SchedulerClient } from '@aws-sdk/client-scheduler';
import { SFNClient, StartExecutionCommand } from '@aws-sdk/client-sfn';
import { type CallToolHandler, createCallTool } from '../../functions/call-tool/handler.ts';
import { createRunEvents, type RunEventsHandler } from '../../functions/run-events/handler.ts';
import type { Json, JsonObject } from '../../lib/blueprint/json.ts';
import { parseServers } from '../../lib/downstream/config.ts';
import { createPool } from '../../lib/downstream/pool.ts';
import type { EngineEnvironment } from '../../lib/engine/environment.ts';
import { saveBlueprint } from '../../lib/engine/save.ts';
import { startServer } from '../../lib/local/http-server.ts';
import type { StartExecutionRequest } from '../../lib/local/scheduler/delivery/invocation.ts';
import { createScheduler } from '../../lib/local/scheduler/service.ts';
import { startLocal } from '../../lib/local/start.ts';
import { clientConfig, LOCAL_CREDENTIALS, LOCAL_REGION } from '../../lib/store/aws-config.ts';
import type { Principal, RunRecord } from '../../lib/store/records.ts';
import { listRuns } from '../../lib/store/run-lists.ts';
import { isOpen } from '../../lib/store/runs.ts';
import { closeStore, openStore } from '../../lib/store/store.ts';
import { SILENT } from '../../lib/telemetry/telemetry.ts';
import { testClock } from '../local/scheduler/test-clock.ts';

import { TEST_CONFIG } from './engine-environment.ts';

export interface ScheduledEngine {
  env: EngineEnvironment;
  /** What Scheduler has asked Step Functions for, in order. */
  started: StartExecutionRequest[];
  /** Status events as run-events got them. */
  events: JsonObject[];
  runEvents: RunEventsHandler;
  /** Saves a blueprint that says `value`; with `fails` its one step fails. */
  save(principal: Principal, id: string, options?: { fails?: boolean }): Promise<void>;
  /** Lets time pass; what fires is started when it resolves. */
  pass(ms: number): Promise<void>;
  /** All runs of a workflow, newest first, once none is open and run-events has heard of the end of each. */
  settled(workflow: string, count: number): Promise<RunRecord[]>;
  stop(): Promise<void>;
}

export async function startScheduledEngine(): Promise<ScheduledEngine> {
  const dataDir = await mkdtemp(join(tmpdir(), 'mwe-scheduled-'));
  const counting = {
    command: process.execPath,
    args: [resolve('test/steps/fixtures/counting-server.mjs'), join(dataDir, 'calls.jsonl')],
  };
  const pool = createPool(
    parseServers(JSON.stringify({ mcpServers: { counting } }), {
      file: join(dataDir, 'mcp.json'),
      dataFolder: dataDir,
    }),
  );
  const clock = testClock(new Date().toISOString());
  const events: JsonObject[] = [];
  const started: StartExecutionRequest[] = [];
  const ready: { callTool?: CallToolHandler; runEvents?: RunEventsHandler } = {};
  const local = await startLocal({
    dataDir,
    tableName: 'mwe',
    bucketName: 'mwe-bucket',
    functions: {
      'mwe-call-tool': async (event, context) => ready.callTool?.(event, context),
      'mwe-run-events': async (event) => {
        const outcome = await ready.runEvents?.(event);
        events.push(event as JsonObject);
        return outcome;
      },
    },
    statusEvents: 'mwe-run-events',
  });
  const aws = (endpoint: string) =>
    clientConfig({ region: LOCAL_REGION, credentials: LOCAL_CREDENTIALS, endpoint });
  const sfn = new SFNClient(aws(local.endpoints.sfn));
  const lambda = new LambdaClient(aws(local.endpoints.lambda));
  const service = await createScheduler({
    dataDir: join(dataDir, 'clocked-scheduler'),
    groups: ['mwe'],
    clock,
    targets: {
      async startExecution(request) {
        started.push(request);
        await sfn.send(new StartExecutionCommand({ ...request }));
      },
      invokeLambda: () => Promise.reject(new Error('no schedule of the engine invokes a function')),
    },
  });
  const server = await startServer((request, response) => service.handle(request, response));
  const scheduler = new SchedulerClient(aws(server.url));
  const store = openStore({
    tableName: 'mwe',
    bucketName: 'mwe-bucket',
    region: LOCAL_REGION,
    endpoints: { dynamodb: local.endpoints.dynamodb, s3: local.endpoints.s3 },
    credentials: LOCAL_CREDENTIALS,
  });
  const env: EngineEnvironment = {
    store,
    sfn,
    lambda,
    scheduler,
    config: TEST_CONFIG,
    now: clock.now,
    log: () => undefined,
    telemetry: SILENT,
  };
  const runEvents = createRunEvents(env);
  ready.runEvents = runEvents;
  ready.callTool = createCallTool({
    store,
    pool,
    sfn,
    serversHash: 'none',
    boot: local.boot,
    now: Date.now,
    log: () => undefined,
  });
  return {
    env,
    started,
    events,
    runEvents,
    async save(principal, id, { fails = false } = {}) {
      const steps = fails
        ? [{ id: 'say', type: 'call', tool: 'counting/flaky', params: { key: '{{ run.id }}', times: 9 } }]
        : [{ id: 'say', type: 'call', tool: 'counting/work', params: { value: '{{ params.value }}' } }];
      const params = { value: { type: 'string', default: 'none' } };
      await saveBlueprint(env, principal, { id, params, steps } as unknown as Json);
    },
    pass: (ms) => clock.moveTo(clock.now() + ms, () => service.idle()),
    async settled(workflow, count) {
      for (;;) {
        const { runs } = await listRuns(store, { workflow, now: clock.now(), limit: 100 });
        const told = runs.filter(({ execution }) =>
          events.some(({ detail }) => {
            const { executionArn, status } = detail as JsonObject;
            return executionArn === execution && status !== 'RUNNING';
          }),
        );
        if (runs.length >= count && told.length === runs.length && runs.every((run) => !isOpen(run.status)))
          return runs;
        await new Promise((next) => setTimeout(next, 20));
      }
    },
    async stop() {
      scheduler.destroy();
      await server.close();
      await service.close();
      sfn.destroy();
      lambda.destroy();
      await local.stop();
      closeStore(store);
      await pool.close();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
