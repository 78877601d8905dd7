/**
 * An engine without its endpoint: the stand-ins, call-tool's work in a local Lambda, real downstream servers, and blueprints
 * that are stored, compiled and started as the engine would.
 */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  CreateStateMachineCommand,
  DescribeExecutionCommand,
  RedriveExecutionCommand,
  SFNClient,
  StartExecutionCommand,
  StopExecutionCommand,
} from '@aws-sdk/client-sfn';
import { documentHash } from '../../lib/blueprint/canonical.ts';
import type { Json, JsonObject } from '../../lib/blueprint/json.ts';
import type { Blueprint, BlueprintDocument } from '../../lib/blueprint/types.ts';
import { compileDocument } from '../../lib/compile/compile.ts';
import type { Task } from '../../lib/compile/protocol.ts';
import { parseServers } from '../../lib/downstream/config.ts';
import { createPool, type Pool } from '../../lib/downstream/pool.ts';
import { type Local, startLocal } from '../../lib/local/start.ts';
import {
  DEFAULT_STEPS_LIMITS,
  type StepsEnvironment,
  type StepsLimits,
} from '../../lib/steps/environment.ts';
import { createExecutions } from '../../lib/steps/executions.ts';
import { createDownstream } from '../../lib/steps/mediator.ts';
import { runTask } from '../../lib/steps/run-task.ts';
import { clientConfig, LOCAL_CREDENTIALS, LOCAL_REGION } from '../../lib/store/aws-config.ts';
import { putDocument } from '../../lib/store/documents.ts';
import { readResults } from '../../lib/store/journal.ts';
import type { ItemResult, RunRecord, StepRecord } from '../../lib/store/records.ts';
import { createRun, getRun } from '../../lib/store/runs.ts';
import { allSteps } from '../../lib/store/steps.ts';
import { closeStore, openStore, type Store } from '../../lib/store/store.ts';
import { getValue, putValue } from '../../lib/store/values.ts';
import { commitHead, publishRevision, putRevision } from '../../lib/store/workflows.ts';
import { SILENT } from '../../lib/telemetry/telemetry.ts';

const CALL_TOOL = 'arn:aws:lambda:us-east-1:000000000000:function:mwe-call-tool';
const OWNER = { kind: 'local' as const, id: 'local', scopes: [] };
/** Tests run in the project's folder; the harness may be bundled and lie somewhere else. */
export const FIXTURES = resolve('test/steps/fixtures');
const MODULES = resolve('node_modules');

export interface Call {
  tool: string;
  args: JsonObject;
  at: number;
}

export interface Saved {
  id: string;
  hash: string;
  document: BlueprintDocument;
  stateMachineArn: string;
  versionArn: string;
}

export interface Finished {
  run: RunRecord;
  /** Status of the execution. */
  execution: string;
  output: Json | undefined;
  errors: Json;
  steps: Map<string, StepRecord>;
  error: string | undefined;
  cause: string | undefined;
}

export interface Harness {
  store: Store;
  sfn: SFNClient;
  local: Local;
  pool: Pool;
  folder: string;
  /** Changed by tests between runs; each task gets it as it stands. */
  env: StepsEnvironment;
  /** `invocationMs`: time that each invocation of call-tool has. */
  knobs: { invocationMs: number };
  /** Tasks as they came, newest last. */
  tasks: { task: Task; answer?: unknown; error?: Error }[];
  calls(): Call[];
  clearCalls(): void;
  save(blueprint: Blueprint, bound?: Partial<BlueprintDocument>): Promise<Saved>;
  /** `changes`: of the run's record. */
  start(saved: Saved, params?: JsonObject, changes?: Partial<RunRecord>): Promise<string>;
  finish(run: string): Promise<Finished>;
  run(blueprint: Blueprint, params?: JsonObject): Promise<Finished>;
  redrive(run: string): Promise<void>;
  cancel(run: string): Promise<void>;
  results(run: string, at: string): Promise<ItemResult[]>;
  stop(): Promise<void>;
}

export interface HarnessOptions {
  limits?: Partial<StepsLimits>;
  /** More servers, as in mcp.json. */
  servers?: JsonObject;
  folder?: string;
  /** Fields of the counting server. */
  counting?: JsonObject;
}

export async function startHarness(options: HarnessOptions = {}): Promise<Harness> {
  const folder = options.folder ?? mkdtempSync(join(tmpdir(), 'mwe-steps-'));
  const journal = join(folder, 'calls.jsonl');
  const servers = parseServers(
    JSON.stringify({
      mcpServers: {
        counting: {
          command: process.execPath,
          args: [join(FIXTURES, 'counting-server.mjs'), journal],
          trustAnnotations: true,
          maxConcurrency: 64,
          ...options.counting,
        },
        everything: {
          command: process.execPath,
          args: [join(MODULES, '@modelcontextprotocol/server-everything/dist/index.js')],
          trustAnnotations: true,
          maxConcurrency: 16,
        },
        ...options.servers,
      },
    }),
    { file: join(folder, 'mcp.json') },
  );
  const pool = createPool(servers);
  const tasks: Harness['tasks'] = [];
  const state: { env?: StepsEnvironment } = {};
  const knobs = { invocationMs: 900_000 };
  const local = await startLocal({
    dataDir: join(folder, 'data'),
    tableName: 'mwe',
    bucketName: 'mwe-000000000000',
    functions: {
      'mwe-call-tool': async (event) => {
        const entry: Harness['tasks'][number] = { task: event as Task };
        tasks.push(entry);
        if (state.env === undefined) throw new Error('not ready');
        try {
          const began = Date.now();
          const { invocationMs } = knobs;
          const remainingMs = () => began + invocationMs - Date.now();
          const answer = await runTask(event as Task, { ...state.env, remainingMs });
          entry.answer = answer;
          return answer;
        } catch (error) {
          entry.error = error as Error;
          throw error;
        }
      },
    },
  });
  const store = openStore({
    tableName: 'mwe',
    bucketName: 'mwe-000000000000',
    region: LOCAL_REGION,
    endpoints: { dynamodb: local.endpoints.dynamodb, s3: local.endpoints.s3 },
    credentials: LOCAL_CREDENTIALS,
  });
  const sfn = new SFNClient(
    clientConfig({ region: LOCAL_REGION, endpoint: local.endpoints.sfn, credentials: LOCAL_CREDENTIALS }),
  );
  const env: StepsEnvironment = {
    store,
    downstream: createDownstream(pool, store),
    clock: {
      now: Date.now,
      sleep: (ms, signal) => sleep(ms, undefined, signal === undefined ? {} : { signal }),
    },
    random: Math.random,
    newOwner: () => `${local.boot}/${randomUUID()}`,
    isDeadOwner: (owner) => !owner.startsWith(`${local.boot}/`),
    remainingMs: () => 900_000,
    executions: createExecutions(sfn),
    limits: { ...DEFAULT_STEPS_LIMITS, ...options.limits },
    logger: { info: () => undefined, warn: () => undefined },
    log: () => undefined,
    telemetry: SILENT,
    inspect: { mode: 'none' },
  };
  state.env = env;

  async function save(blueprint: Blueprint, bound: Partial<BlueprintDocument> = {}): Promise<Saved> {
    const document: BlueprintDocument = { abi: 1, blueprint, tools: {}, workflows: {}, ...bound };
    const hash = documentHash(document);
    const compiled = compileDocument(document, hash, { callToolArn: CALL_TOOL, functionTimeoutSeconds: 900 });
    if (compiled.diagnostics.length > 0) throw new Error(JSON.stringify(compiled.diagnostics));
    await putDocument(store, blueprint.id, hash, document);
    const created = await sfn.send(
      new CreateStateMachineCommand({
        name: `mwe-${blueprint.id}`,
        definition: compiled.text,
        roleArn: 'arn:aws:iam::000000000000:role/mwe',
        publish: true,
      }),
    );
    const machine = {
      stateMachineArn: created.stateMachineArn ?? '',
      versionArn: created.stateMachineVersionArn ?? '',
    };
    const now = new Date().toISOString();
    const workflow = blueprint.id;
    await putRevision(store, {
      workflow,
      revision: 1,
      hash,
      principal: OWNER,
      state: 'PENDING',
      createdAt: now,
    });
    await publishRevision(store, workflow, 1, { hash, ...machine });
    await commitHead(
      store,
      {
        workflow,
        owner: OWNER,
        revision: 1,
        hash,
        ...machine,
        readOnly: false,
        createdAt: now,
        updatedAt: now,
      },
      undefined,
    );
    return { id: workflow, hash, document, ...machine };
  }

  async function start(
    saved: Saved,
    params: JsonObject = {},
    changes: Partial<RunRecord> = {},
  ): Promise<string> {
    const run = randomUUID().replaceAll('-', '');
    const now = new Date().toISOString();
    await createRun(store, {
      run,
      workflow: saved.id,
      revision: 1,
      hash: saved.hash,
      principal: OWNER,
      owner: 'local',
      trigger: 'call',
      status: 'STARTING',
      stateMachineArn: saved.stateMachineArn,
      versionArn: saved.versionArn,
      executionName: run,
      epoch: 0,
      createdAt: now,
      touchedAt: now,
      paramsHash: '',
      root: run,
      depth: 0,
      attempts: 0,
      subRuns: 0,
      errorCount: 0,
      ...changes,
    });
    await putValue(store, run, '$params', params);
    await sfn.send(
      new StartExecutionCommand({
        stateMachineArn: saved.versionArn,
        name: run,
        input: JSON.stringify({ run }),
      }),
    );
    return run;
  }

  const executionOf = (record: RunRecord): string =>
    `${record.stateMachineArn.replace(':stateMachine:', ':execution:')}:${record.executionName}`;

  async function recordOf(run: string): Promise<RunRecord> {
    const record = await getRun(store, run);
    if (record === undefined) throw new Error(`no run ${run}`);
    return record;
  }

  async function finish(run: string): Promise<Finished> {
    const executionArn = executionOf(await recordOf(run));
    let described = await sfn.send(new DescribeExecutionCommand({ executionArn }));
    while (described.status === 'RUNNING') {
      await sleep(10);
      described = await sfn.send(new DescribeExecutionCommand({ executionArn }));
    }
    return {
      run: await recordOf(run),
      execution: described.status ?? '?',
      output: await getValue(store, run, '$output'),
      errors: (await getValue(store, run, '$errors')) ?? null,
      steps: new Map((await allSteps(store, run)).map((step) => [step.at, step])),
      error: described.error,
      cause: described.cause,
    };
  }

  return {
    store,
    sfn,
    local,
    pool,
    folder,
    env,
    knobs,
    tasks,
    calls: () => readLines(journal),
    clearCalls: () => rmSync(journal, { force: true }),
    save,
    start,
    finish,
    run: async (blueprint, params) => finish(await start(await save(blueprint), params)),
    redrive: async (run) => {
      await sfn.send(new RedriveExecutionCommand({ executionArn: executionOf(await recordOf(run)) }));
    },
    cancel: async (run) => {
      await sfn.send(new StopExecutionCommand({ executionArn: executionOf(await recordOf(run)) }));
    },
    results: (run, at) => readResults(store, run, at),
    stop: async () => {
      await local.stop();
      closeStore(store);
      sfn.destroy();
      await pool.close();
      if (options.folder === undefined) rmSync(folder, { recursive: true, force: true });
    },
  };
}

export function readLines(file: string): Call[] {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    return [];
  }
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Call);
}

let counter = 0;
/** A blueprint id that no other test of this process uses. */
export function freshName(): string {
  counter += 1;
  return `bp-${counter}`;
}
