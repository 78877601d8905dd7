/**
 * (f) What a run costs on AWS, from what is counted here: state transitions, invocations of call-tool, and requests to the table
 * and the bucket, between the call of run_workflow and its answer. The machine's speed has a share in it: a loop writes its
 * journal once in about 250 ms of calls.
 *
 *     cost = transitions × T + invocations × L + seconds × memory × G + writes × W + reads × R + puts × P + gets × Q
 *
 * Prices: us-east-1 as AWS lists them, without the free tier. A key that is read counts one read unit, an item that
 * is put one write unit a KiB of its request; an update counts one, though a record over 1 KiB takes two.
 */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { IncomingMessage } from 'node:http';
import { GetExecutionHistoryCommand, type HistoryEvent, SFNClient } from '@aws-sdk/client-sfn';
import type { Json, JsonObject } from '../lib/blueprint/json.ts';
import { clientConfig, LOCAL_CREDENTIALS, LOCAL_REGION } from '../lib/store/aws-config.ts';
import { PUBLISHED, type RunningEngine, startRunningEngine } from '../test/running-engine.ts';
import { type Figure, rounded } from './measure.ts';

/** Dollars for one. */
const PRICE = {
  transition: 0.025 / 1000,
  invocation: 0.2 / 1_000_000,
  gigabyteSecond: 0.0000133334,
  write: 0.625 / 1_000_000,
  read: 0.125 / 1_000_000,
  put: 0.005 / 1000,
  get: 0.0004 / 1000,
} as const;
/** Memory of call-tool as the stack has it by default. */
const CALL_TOOL_GB = 1769 / 1024;
/** A run's record enters three indexes at its start and leaves one at its end. */
const INDEX_WRITES_PER_RUN = 4;

interface Workload {
  name: string;
  /** Runs, sub-runs included. */
  runs: number;
  id: string;
  params?: JsonObject;
  blueprints: JsonObject[];
}

const echo = (id: string, message: Json): JsonObject => ({
  id,
  type: 'call',
  tool: 'everything/echo',
  params: { message },
  parse: 'text',
});
const loopOf = (id: string, items: number): Workload => ({
  name: `a loop of ${items.toLocaleString('en')} calls, 8 at once`,
  runs: 1,
  id,
  params: { n: Array.from({ length: items }, (_, n) => n) },
  blueprints: [
    {
      id,
      params: { n: { type: 'array' } },
      steps: [
        {
          id: 'all',
          type: 'loop',
          over: '{{ params.n }}',
          as: 'n',
          concurrency: 8,
          do: echo('one', 'n {{ n }}'),
        },
      ],
      output: '{{ length(steps.all) }}',
    },
  ],
});

const WORKLOADS: readonly Workload[] = [
  {
    name: 'one call',
    runs: 1,
    id: 'cost-one',
    blueprints: [{ id: 'cost-one', steps: [echo('say', 'hello')] }],
  },
  {
    name: 'ten calls, each reading the one before',
    runs: 1,
    id: 'cost-ten',
    blueprints: [
      {
        id: 'cost-ten',
        steps: Array.from({ length: 10 }, (_, n) =>
          echo(`s${n}`, n === 0 ? 'hello' : `{{ steps.s${n - 1} }}`),
        ),
      },
    ],
  },
  loopOf('cost-hundred', 100),
  loopOf('cost-two-thousand', 2000),
  {
    name: 'a loop of ten sub-workflows of one call',
    runs: 11,
    id: 'cost-parent',
    blueprints: [
      { id: 'cost-child', params: { n: { type: 'integer' } }, steps: [echo('say', 'n {{ params.n }}')] },
      {
        id: 'cost-parent',
        steps: [
          {
            id: 'all',
            type: 'loop',
            over: Array.from({ length: 10 }, (_, n) => n),
            as: 'n',
            do: { id: 'sub', type: 'call', workflow: 'cost-child', params: { n: '{{ n }}' } },
          },
        ],
        output: '{{ length(steps.all) }}',
      },
    ],
  },
];

interface Counts {
  writes: number;
  reads: number;
  puts: number;
  gets: number;
}

/** Counts what the stand-ins are asked, as they hear it. @returns the counts so far; `stop` ends it. */
function countRequests(engine: RunningEngine): { counts: Counts; stop(): void } {
  const counts: Counts = { writes: 0, reads: 0, puts: 0, gets: 0 };
  const portOf = (url: string): number => Number(new URL(url).port);
  const [dynamodb, s3] = [portOf(engine.endpoints.dynamodb), portOf(engine.endpoints.s3)];
  const onRequest = (message: unknown): void => {
    const { request } = message as { request: IncomingMessage };
    const port = request.socket.localPort;
    if (port === s3) {
      if (request.method === 'PUT') counts.puts += 1;
      else counts.gets += 1;
    }
    if (port !== dynamodb) return;
    const operation = String(request.headers['x-amz-target']).split('.')[1] ?? '';
    whenRead(request, (body) => count(counts, operation, body));
  };
  subscribe('http.server.request.start', onRequest);
  return { counts, stop: () => unsubscribe('http.server.request.start', onRequest) };
}

/** A key that is read counts one, also one of a batch; a put counts the KiB that it has begun, an update one. */
function count(counts: Counts, operation: string, body: string): void {
  if (operation === 'BatchGetItem') {
    const { RequestItems } = JSON.parse(body) as { RequestItems: Record<string, { Keys: unknown[] }> };
    for (const { Keys } of Object.values(RequestItems)) counts.reads += Keys.length;
  } else if (operation === 'GetItem' || operation === 'Query') counts.reads += 1;
  else counts.writes += operation === 'PutItem' ? Math.ceil(body.length / 1024) : 1;
}

/** Looks at a body as it passes by, without taking it from who reads it. */
function whenRead(request: IncomingMessage, look: (body: string) => void): void {
  const chunks: Buffer[] = [];
  const push = request.push.bind(request);
  request.push = (chunk: Buffer | null, encoding?: BufferEncoding): boolean => {
    if (chunk === null) look(Buffer.concat(chunks).toString());
    else chunks.push(chunk);
    return push(chunk, encoding);
  };
}

export async function benchCost(): Promise<Figure[]> {
  const engine = await startRunningEngine({
    everything: { ...PUBLISHED.everything, maxConcurrency: 8 },
  });
  const sfn = new SFNClient(
    clientConfig({ region: LOCAL_REGION, credentials: LOCAL_CREDENTIALS, endpoint: engine.endpoints.sfn }),
  );
  const figures: Figure[] = [];
  try {
    for (const workload of WORKLOADS) figures.push(...(await costOf(engine, sfn, workload)));
  } finally {
    sfn.destroy();
    await engine.end();
  }
  return figures;
}

async function costOf(engine: RunningEngine, sfn: SFNClient, workload: Workload): Promise<Figure[]> {
  for (const blueprint of workload.blueprints) {
    const { isError, answer } = await engine.agent.call('create_workflow', { blueprint });
    if (isError) throw new Error(JSON.stringify(answer));
  }
  const run = async (): Promise<string> => {
    const request = { id: workload.id, params: workload.params ?? {}, wait: 50 };
    const { answer } = await engine.agent.call('run_workflow', request);
    if (answer.status !== 'SUCCEEDED') throw new Error(JSON.stringify(answer));
    return String(answer.runId);
  };
  await run(); // Documents are read once a container.
  const { counts, stop } = countRequests(engine);
  const runId = await run();
  stop();
  const { transitions, invocations, seconds } = await countStates(sfn, workload, runId);
  const writes = counts.writes + INDEX_WRITES_PER_RUN * workload.runs;
  const dollars =
    transitions * PRICE.transition +
    invocations * PRICE.invocation +
    seconds * CALL_TOOL_GB * PRICE.gigabyteSecond +
    writes * PRICE.write +
    counts.reads * PRICE.read +
    counts.puts * PRICE.put +
    counts.gets * PRICE.get;
  const of = (what: string): string => `${workload.name}: ${what}`;
  return [
    { name: of('state transitions'), value: transitions, unit: '' },
    { name: of('invocations of call-tool'), value: invocations, unit: '' },
    { name: of('seconds in call-tool'), value: rounded(seconds), unit: 's' },
    { name: of('table, write units'), value: writes, unit: '' },
    { name: of('table, read units'), value: counts.reads, unit: '' },
    { name: of('bucket, puts and gets'), value: counts.puts + counts.gets, unit: '' },
    { name: of('1,000 runs'), value: rounded(dollars * 1000), unit: '$' },
  ];
}

/** Of an execution and of those that it started. */
async function countStates(
  sfn: SFNClient,
  workload: Workload,
  runId: string,
): Promise<{ transitions: number; invocations: number; seconds: number }> {
  const total = { transitions: 0, invocations: 0, seconds: 0 };
  const left = [`arn:aws:states:${LOCAL_REGION}:000000000000:execution:mwe-${workload.id}:${runId}`];
  for (let executionArn = left.pop(); executionArn !== undefined; executionArn = left.pop()) {
    const events: HistoryEvent[] = [];
    let nextToken: string | undefined;
    do {
      const page = await sfn.send(new GetExecutionHistoryCommand({ executionArn, nextToken }));
      events.push(...(page.events ?? []));
      nextToken = page.nextToken;
    } while (nextToken !== undefined);
    const begun = new Map<number, number>();
    for (const event of events) {
      if (event.type?.endsWith('StateEntered') === true) total.transitions += 1;
      if (event.type === 'TaskStarted' && event.taskStartedEventDetails?.resourceType === 'lambda') {
        total.invocations += 1;
        begun.set(event.id ?? 0, event.timestamp?.getTime() ?? 0);
      }
      const started = begun.get(event.previousEventId ?? 0);
      if (started !== undefined) total.seconds += ((event.timestamp?.getTime() ?? 0) - started) / 1000;
      const child = event.taskSubmittedEventDetails?.output;
      if (child !== undefined) left.push(String((JSON.parse(child) as JsonObject).ExecutionArn));
    }
  }
  return total;
}
