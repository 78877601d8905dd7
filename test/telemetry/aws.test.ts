/** What a function tells: every line that a real process writes, and every datagram that it sends, compared whole. */
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MAX_SPANS } from '../../lib/telemetry/trace.ts';
import { type InvokeOptions, startContainer } from '../functions/container.ts';
import { bundler } from '../functions/stage.ts';
import type { Telling } from './telling-process.ts';

const TRACE = 'Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=1';

let folder: string;
let daemon: Socket;
const segments: Record<string, unknown>[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mwe-telemetry-'));
  const { bundleFunction } = await bundler();
  await bundleFunction('telling', folder, { entry: 'test/telemetry/telling-process.ts' });
  daemon = createSocket('udp4').bind(0, '127.0.0.1');
  await once(daemon, 'listening');
  daemon.on('message', (bytes) => {
    const [head, body] = bytes.toString().split('\n');
    expect(head).toBe('{"format":"json","version":1}');
    segments.push(JSON.parse(body ?? ''));
  });
});
afterAll(async () => {
  daemon.close();
  await rm(folder, { recursive: true, force: true });
});

/** Invocations of one process, their answers, and every line that it wrote, parsed. */
async function tell(...tellings: [Telling, InvokeOptions?][]) {
  const container = await startContainer(folder, {
    PATH: process.env.PATH ?? '',
    POWERTOOLS_SERVICE_NAME: 'mwe',
    AWS_XRAY_DAEMON_ADDRESS: `127.0.0.1:${daemon.address().port}`,
  });
  const answers: unknown[] = [];
  for (const [telling, options] of tellings) answers.push(await container.invoke(telling, options));
  await container.stop();
  // Powertools writes warnings and errors to stderr; Lambda's log takes both.
  const text = container.stdout() + container.stderr();
  const lines = text.split('\n').filter((line) => line !== '');
  return { answers, lines: lines.map((line) => JSON.parse(line) as Record<string, unknown>) };
}

/** One line of EMF. */
function emf(dimensions: Record<string, string>, metrics: [string, string, number | number[]][]) {
  return {
    _aws: {
      Timestamp: expect.any(Number),
      CloudWatchMetrics: [
        {
          Namespace: 'McpWorkflowEngine',
          Dimensions: [['service', ...Object.keys(dimensions)]],
          Metrics: metrics.map(([Name, Unit]) => ({ Name, Unit })),
        },
      ],
    },
    service: 'mwe',
    ...dimensions,
    ...Object.fromEntries(metrics.map(([name, , value]) => [name, value])),
  };
}

describe('metrics', () => {
  it.each<[string, Telling, object[]]>([
    [
      'runs, by how they ended and what started them',
      {
        runs: [
          ['SUCCEEDED', 'call'],
          ['SUCCEEDED', 'call'],
          ['FAILED', 'schedule'],
        ],
      },
      [
        emf({ status: 'SUCCEEDED' }, [['Runs', 'Count', 2]]),
        emf({ status: 'SUCCEEDED', trigger: 'call' }, [['Runs', 'Count', 2]]),
        emf({ status: 'FAILED' }, [['Runs', 'Count', 1]]),
        emf({ status: 'FAILED', trigger: 'schedule' }, [['Runs', 'Count', 1]]),
      ],
    ],
    [
      'failures by kind',
      { failures: [['ToolError'], ['OutcomeUnknown'], ['ToolError']] },
      [
        emf({ kind: 'ToolError' }, [['Failures', 'Count', 2]]),
        emf({ kind: 'OutcomeUnknown' }, [['Failures', 'Count', 1]]),
      ],
    ],
    [
      'tool calls with their latency',
      {
        toolCalls: [
          ['succeeded', 12],
          ['failed', 900],
          ['succeeded', 7],
        ],
      },
      [
        emf({ outcome: 'succeeded' }, [
          ['ToolCalls', 'Count', 2],
          ['ToolCallLatency', 'Milliseconds', [12, 7]],
        ]),
        emf({ outcome: 'failed' }, [
          ['ToolCalls', 'Count', 1],
          ['ToolCallLatency', 'Milliseconds', 900],
        ]),
      ],
    ],
    [
      'requests, all and by tool',
      { requests: [['get_run', 'refused', 3]] },
      [
        emf({ outcome: 'refused' }, [['Requests', 'Count', 1]]),
        emf({ tool: 'get_run', outcome: 'refused' }, [['Requests', 'Count', 1]]),
        emf({}, [['RequestLatency', 'Milliseconds', 3]]),
        emf({ tool: 'get_run' }, [['RequestLatency', 'Milliseconds', 3]]),
      ],
    ],
    ['nothing', {}, []],
  ])('%s', async (_, telling, expected) => {
    const { lines } = await tell([telling]);
    expect(lines).toEqual(expected);
  });

  it('writes latencies of a long loop a hundred to a line, and its count once', async () => {
    const { lines } = await tell([{ toolCalls: Array.from({ length: 250 }, (_, ms) => ['succeeded', ms]) }]);
    expect(lines.map((line) => [line.ToolCallLatency].flat().length)).toEqual([100, 100, 50]);
    expect(lines.flatMap((line) => line.ToolCallLatency)).toEqual(Array.from({ length: 250 }, (_, ms) => ms));
    expect(lines.map((line) => line.ToolCalls).filter((sum) => sum !== undefined)).toEqual([250]);
  });
});

describe('logs', () => {
  it('have what the engine says under one key, which nothing can leave', async () => {
    const entry = {
      level: 'warn',
      event: 'call-tool-failed',
      service: 'forged',
      timestamp: 'forged',
      _aws: '{"CloudWatchMetrics":[]}',
      function_request_id: 'forged',
      text: 'one\n{"_aws":{}}',
    };
    const { lines } = await tell([{ log: [entry] }]);
    const { level: _level, event: _event, ...data } = entry;
    expect(lines).toEqual([
      {
        level: 'WARN',
        message: 'call-tool-failed',
        timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
        service: 'mwe',
        function_request_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        sampling_rate: 0,
        data,
      },
    ]);
  });

  it('name the invocation that they belong to', async () => {
    const { lines } = await tell(
      [{ log: [{ level: 'info', event: 'a' }] }],
      [
        {
          log: [
            { level: 'error', event: 'b' },
            { level: 'debug', message: 'c' },
          ],
        },
      ],
    );
    const told = lines.map(({ level, message }) => `${level} ${message}`);
    expect(told).toEqual(['INFO a', 'INFO c', 'ERROR b']);
    const [a, c, b] = lines.map((line) => line.function_request_id);
    expect(a).not.toBe(b);
    expect(b).toBe(c);
  });
});

describe('traces', () => {
  /** What a process sends that tells this within this trace, and then once more within one that is sampled. */
  async function traced(spans: Telling['spans'], traceHeader?: string) {
    segments.length = 0;
    const end: Telling = { spans: [['end', {}, 'answers']] };
    const { answers, lines } = await tell(
      [{ spans: spans ?? [] }, traceHeader === undefined ? {} : { traceHeader }],
      [end, { traceHeader: TRACE }],
    );
    expect(lines).toEqual([]);
    // A datagram on loopback may be read a moment after the process has ended; they come in order.
    while (segments.at(-1)?.name !== 'end') await once(daemon, 'message');
    return { answer: answers[0], sent: segments.slice(0, -1) };
  }

  it('hang a subsegment a call below the function, with server and tool and without what was said', async () => {
    const { answer, sent } = await traced(
      [
        ['k8s/list_pods', { server: 'k8s', tool: 'list_pods' }, 'answers'],
        ['k8s/list\npods<>', { server: 'k8s' }, 'answers with a fault'],
        ['graph/put', { server: 'graph' }, 'rejects'],
      ],
      TRACE,
    );
    expect(answer).toEqual(['answers', 'answers with a fault', 'secret', TRACE]);
    const common = {
      type: 'subsegment',
      id: expect.stringMatching(/^[0-9a-f]{16}$/),
      trace_id: '1-5759e988-bd862e3fe1be46a994272793',
      parent_id: '53995c3f42cd8ad8',
      start_time: expect.any(Number),
      end_time: expect.any(Number),
    };
    const byName = (a: { name?: unknown }, b: { name?: unknown }) =>
      String(a.name).localeCompare(String(b.name));
    expect(sent.sort(byName)).toEqual(
      [
        { ...common, name: 'graph/put', annotations: { server: 'graph' }, fault: true },
        { ...common, name: 'k8s/list_pods__', annotations: { server: 'k8s' }, fault: true },
        { ...common, name: 'k8s/list_pods', annotations: { server: 'k8s', tool: 'list_pods' } },
      ].sort(byName),
    );
    expect(new Set(sent.map(({ id }) => id)).size).toBe(3);
  });

  it('are bounded an invocation, and begin anew with the next', async () => {
    const spans: Telling['spans'] = Array.from({ length: MAX_SPANS + 50 }, () => ['s/t', {}, 'answers']);
    const { sent } = await traced(spans, TRACE);
    expect(sent).toHaveLength(MAX_SPANS);
  });

  it.each([
    ['is not sampled', TRACE.replace('Sampled=1', 'Sampled=0')],
    ['has no parent', 'Root=1-5759e988-bd862e3fe1be46a994272793'],
    ['is none', undefined],
  ])('are not sent where the trace %s', async (_, header) => {
    const { answer, sent } = await traced([['s/t', {}, 'answers']], header);
    expect(sent).toEqual([]);
    expect(answer).toEqual(['answers', header ?? 'no trace']);
  });
});
