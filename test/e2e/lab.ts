/**
 * The laboratory: a whole engine in front of the lab server (test/fixtures/lab-server.mjs), and what a test does with it:
 * save and run a blueprint as an agent does, then look at the calls that were made and at the execution's history.
 */
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  DescribeExecutionCommand,
  type DescribeExecutionCommandOutput,
  GetExecutionHistoryCommand,
  type HistoryEvent,
  RedriveExecutionCommand,
  SFNClient,
} from '@aws-sdk/client-sfn';
import { expect } from 'vitest';
import type { StepError } from '../../lib/blueprint/errors.ts';
import type { Json, JsonObject } from '../../lib/blueprint/json.ts';
import type { StepsLimits } from '../../lib/steps/environment.ts';
import { clientConfig, LOCAL_CREDENTIALS, LOCAL_REGION } from '../../lib/store/aws-config.ts';
import { type RunningEngine, startRunningEngine } from '../running-engine.ts';

/** What an agent hears of a run that has ended. */
export interface Outcome {
  runId: string;
  status: string;
  /** undefined: the run has none. */
  output: Json | undefined;
  errors: StepError[];
  failure: JsonObject | undefined;
}

export interface LabCall {
  tool: string;
  args: JsonObject;
  /** When it came, epoch ms. */
  at: number;
}

export interface Lab extends RunningEngine {
  sfn: SFNClient;
  call(tool: string, args: JsonObject): Promise<JsonObject>;
  /** Saves under the blueprint's id, or a fresh one. Throws what create_workflow says where it refuses. */
  save(blueprint: JsonObject): Promise<string>;
  /** Saves, starts and waits for the end. */
  run(blueprint: JsonObject, params?: JsonObject): Promise<Outcome>;
  start(blueprint: JsonObject, params?: JsonObject): Promise<string>;
  /** Waits for the end of a run. */
  ended(runId: string): Promise<Outcome>;
  /** All pages of a list: a value, or a loop's items. */
  list(runId: string, step: string, field: 'value' | 'items'): Promise<Json[]>;
  /** The records of a run's steps by occurrence path. */
  steps(runId: string): Promise<Map<string, JsonObject>>;
  /** Calls that reached the lab server with this in their arguments, in order. */
  calls(marked: JsonObject): LabCall[];
  describe(runId: string): Promise<DescribeExecutionCommandOutput>;
  history(runId: string): Promise<HistoryEvent[]>;
  redrive(runId: string): Promise<void>;
  /** Waits until the execution has ended, then for the run. */
  executed(runId: string): Promise<Outcome>;
}

const SERVER = join(import.meta.dirname, '..', 'fixtures', 'lab-server.mjs');

export interface LabOptions {
  /** Fields of the lab server in mcp.json. */
  lab?: JsonObject;
  /** Those of a second lab server, `twin`; absent: there is none. */
  twin?: JsonObject;
  /** More servers. */
  servers?: Record<string, JsonObject>;
  limits?: Partial<StepsLimits>;
}

/** An entry of mcp.json for a lab server. */
export function labServer(journal: string, fields: JsonObject = {}): JsonObject {
  return {
    command: process.execPath,
    args: [SERVER, journal],
    maxConcurrency: 64,
    trustAnnotations: true,
    ...fields,
  };
}

/** Starts it; `end` stops it and drops its data. */
export async function startLab({ lab = {}, twin, servers = {}, limits = {} }: LabOptions = {}): Promise<Lab> {
  const folder = await mkdtemp(join(tmpdir(), 'mwe-lab-'));
  const journal = join(folder, 'calls.jsonl');
  await writeFile(journal, '');
  const engine = await startRunningEngine(
    {
      lab: labServer(journal, lab),
      ...(twin === undefined ? {} : { twin: labServer(journal, twin) }),
      ...servers,
    },
    { limits },
  );
  const sfn = new SFNClient(
    clientConfig({ region: LOCAL_REGION, credentials: LOCAL_CREDENTIALS, endpoint: engine.endpoints.sfn }),
  );
  let count = 0;

  const call = async (tool: string, args: JsonObject) => (await engine.agent.call(tool, args)).answer;

  async function save(blueprint: JsonObject): Promise<string> {
    count += 1;
    const { isError, answer } = await engine.agent.call('create_workflow', {
      blueprint: { id: `lab-${count}`, ...blueprint },
    });
    if (isError) throw new Error(`refused: ${JSON.stringify(answer, null, 2)}`);
    return String(answer.id);
  }

  async function start(blueprint: JsonObject, params: JsonObject = {}): Promise<string> {
    const id = await save(blueprint);
    const { isError, answer } = await engine.agent.call('run_workflow', { id, params, wait: 0 });
    if (isError) throw new Error(`not started: ${JSON.stringify(answer)}`);
    return String(answer.runId);
  }

  /** All pages of a value that is a list, as get_run gives them. */
  async function list(runId: string, step: string, field: 'value' | 'items'): Promise<Json[]> {
    const all: Json[] = [];
    let cursor: Json | undefined;
    do {
      const page = await call('get_run', { runId, step, ...(cursor === undefined ? {} : { cursor }) });
      all.push(...(page[field] as Json[]));
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    return all;
  }

  async function ended(runId: string): Promise<Outcome> {
    const answer = await engine.agent.follow(runId, () => undefined);
    const errors = answer.errorCount === undefined ? answer.errors : await list(runId, '$errors', 'value');
    return outcomeOf(
      { ...answer, errors: errors ?? [] },
      answer.status === 'SUCCEEDED' ? answer.output : undefined,
    );
  }

  async function run(blueprint: JsonObject, params: JsonObject = {}): Promise<Outcome> {
    const id = await save(blueprint);
    const { isError, answer } = await engine.agent.call('run_workflow', { id, params, wait: 50 });
    if (isError) throw new Error(`not started: ${JSON.stringify(answer)}`);
    const more =
      answer.status === 'RUNNING' || answer.summary !== undefined || answer.errorCount !== undefined;
    if (more) return ended(String(answer.runId));
    return outcomeOf(answer, answer.output);
  }

  async function executionArn(runId: string): Promise<string> {
    const { workflow } = await call('get_run', { runId });
    return `arn:aws:states:us-east-1:000000000000:execution:mwe-${String(workflow)}:${runId}`;
  }

  async function describe(runId: string): Promise<DescribeExecutionCommandOutput> {
    return sfn.send(new DescribeExecutionCommand({ executionArn: await executionArn(runId) }));
  }

  return {
    ...engine,
    sfn,
    call,
    save,
    start,
    ended,
    run,
    list,
    async steps(runId) {
      const steps = new Map<string, JsonObject>();
      let cursor: Json | undefined;
      do {
        const page = await call('get_run', { runId, ...(cursor === undefined ? {} : { cursor }) });
        for (const step of page.steps as JsonObject[]) steps.set(String(step.at), step);
        cursor = page.nextCursor;
      } while (cursor !== undefined);
      return steps;
    },
    calls(marked) {
      const lines = readFileSync(journal, 'utf8').split('\n');
      return lines
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as LabCall)
        .filter(({ args }) =>
          Object.entries(marked).every(([key, value]) => JSON.stringify(args[key]) === JSON.stringify(value)),
        );
    },
    describe,
    async history(runId) {
      const arn = await executionArn(runId);
      const events: HistoryEvent[] = [];
      let nextToken: string | undefined;
      do {
        const page = await sfn.send(
          new GetExecutionHistoryCommand({ executionArn: arn, nextToken, maxResults: 1000 }),
        );
        events.push(...(page.events ?? []));
        nextToken = page.nextToken;
      } while (nextToken !== undefined);
      return events;
    },
    async redrive(runId) {
      await sfn.send(new RedriveExecutionCommand({ executionArn: await executionArn(runId) }));
    },
    async executed(runId) {
      await until(async () => (await describe(runId)).status !== 'RUNNING');
      return ended(runId);
    },
    async end() {
      sfn.destroy();
      await engine.end();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

const POLL_MS = 20;
const PATIENCE_MS = 100_000;

/** Looks until the condition holds. (`expect.poll` cannot be called in tests that run side by side.) */
export async function until(condition: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + PATIENCE_MS;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error(`did not happen within ${PATIENCE_MS / 1000} s`);
    await sleep(POLL_MS);
  }
}

function outcomeOf(answer: JsonObject, output: Json | undefined): Outcome {
  return {
    runId: String(answer.runId),
    status: String(answer.status),
    output,
    errors: (answer.errors ?? []) as unknown as StepError[],
    failure: answer.failure as JsonObject | undefined,
  };
}

/** A call step of the lab server. */
export function call(id: string, tool: string, params: JsonObject = {}, more: JsonObject = {}): JsonObject {
  return { id, type: 'call', tool: `lab/${tool}`, params, ...more };
}

/** A call that answers with its `value`. */
export function value(id: string, given: Json, more: JsonObject = {}): JsonObject {
  return call(id, 'value', { value: given }, more);
}

/** A call that always fails. */
export function fails(id: string, more: JsonObject = {}): JsonObject {
  return call(id, 'fail', { message: `${id} broke` }, more);
}

export const CONTINUE: JsonObject = { errorStrategy: { onStepFailure: 'continue' } };

/** A blueprint, and what an agent hears and sees of its run. */
export interface RunCase {
  name: string;
  blueprint: JsonObject;
  params?: JsonObject;
  status?: 'SUCCEEDED' | 'FAILED' | 'TIMED_OUT';
  /** Exactly this. */
  output?: Json;
  /** Each has at least these fields; in order. Default: none. */
  errors?: Partial<StepError>[];
  /** How often calls with these arguments reached the server. */
  calls?: [marked: JsonObject, times: number][];
  /** Occurrences as get_run lists them: status, or status and reason. Only those named are looked at. */
  steps?: Record<string, string>;
}

/** Runs the case and compares. */
export async function expectRun(lab: Lab, { blueprint, params, ...expected }: RunCase): Promise<Outcome> {
  const run = await lab.run(blueprint, params);
  const { status, output, errors } = run;
  // An answer lists errors by their path.
  const told = [...(expected.errors ?? [])].sort(byPath).map((error) => expect.objectContaining(error));
  expect({ status, output, errors: [...errors].sort(byPath) }).toEqual({
    status: expected.status ?? 'SUCCEEDED',
    output: expected.output,
    errors: told,
  });
  for (const [marked, times] of expected.calls ?? []) {
    expect([marked, lab.calls(marked).length]).toEqual([marked, times]);
  }
  if (expected.steps !== undefined) {
    const records = await lab.steps(run.runId);
    const seen = Object.keys(expected.steps).map((at) => {
      const { status: how = 'absent', reason } = records.get(at) ?? {};
      return [at, reason === undefined ? how : `${String(how)} ${String(reason)}`];
    });
    expect(Object.fromEntries(seen)).toEqual(expected.steps);
  }
  return run;
}

function byPath(a: Partial<StepError>, b: Partial<StepError>): number {
  const [x, y] = [a.path ?? a.step ?? '', b.path ?? b.step ?? ''];
  return x < y ? -1 : x > y ? 1 : 0;
}
