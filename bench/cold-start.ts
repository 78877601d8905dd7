/**
 * (f) What a function's cold start costs: a fresh process each time, the time to load the bundle and to answer a first
 * request, against a bare handler of the same MCP SDK with one tool, bundled in the same way. And whether the AWS SDK is
 * better bundled or taken from outside (here from node_modules; on Lambda from the runtime's copy).
 *
 * Everything is measured in turn, so that what the machine does meanwhile falls on all alike; ratios are what counts.
 */
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { projectRoot } from '../lib/cli/project.ts';
import { startContainer } from '../test/functions/container.ts';
import { bundler, openStage, type Stage } from '../test/functions/stage.ts';
import { mcpEvent } from '../test/functions/url-event.ts';
import { type Figure, median, rounded, timed } from './measure.ts';

const ROUNDS = 21;
const QUICK_ROUNDS = 5;

/** One bundle and what is asked of it first. */
interface Candidate {
  name: string;
  folder: string;
  /** Of a streaming handler, else of one that answers at once. */
  streams: boolean;
  event: object;
  importMs: number[];
  requestMs: number[];
}

export async function benchColdStart({ quick }: { quick: boolean }): Promise<Figure[]> {
  // Below the project, so that what is left outside of a bundle is found.
  const folder = join(projectRoot(), 'dist', 'cold-start');
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const stage = await openStage();
  try {
    const candidates = await prepare(stage, folder);
    for (let round = 0; round <= (quick ? QUICK_ROUNDS : ROUNDS); round++) {
      for (const candidate of candidates) await startOnce(stage, candidate, round > 0);
    }
    return figuresOf(candidates);
  } finally {
    await stage.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

async function prepare(stage: Stage, folder: string): Promise<Candidate[]> {
  const { bundleFunction } = await bundler();
  const outside = { external: ['@aws-sdk/*', '@smithy/*'] };
  const built = async (name: string, out: string, options = {}): Promise<string> => {
    await bundleFunction(name, join(folder, out), options);
    return join(folder, out);
  };
  const bare = await built('bare', 'bare', { entry: 'bench/cold-start/bare.ts' });
  const bareAws = await built('bare-aws', 'bare-aws', { entry: 'bench/cold-start/bare-aws.ts' });
  const endpoint = await built('mcp-endpoint', 'endpoint');
  const endpointOutside = await built('mcp-endpoint', 'endpoint-outside', outside);
  const callTool = await built('call-tool', 'call-tool');
  const callToolOutside = await built('call-tool', 'call-tool-outside', outside);
  const runEvents = await built('run-events', 'run-events');
  const runEventsOutside = await built('run-events', 'run-events-outside', outside);
  for (const asset of [callTool, callToolOutside])
    await writeFile(join(asset, 'mcp.json'), '{"mcpServers":{}}');

  const authorization = { authorization: `Bearer ${stage.token}` };
  const list = mcpEvent('tools/list', {}, authorization);
  const say = mcpEvent('tools/call', { name: 'say', arguments: { text: 'hello' } });
  const workflows = mcpEvent('tools/call', { name: 'list_workflows', arguments: {} }, authorization);
  const catalog = { op: 'catalog' };
  const sweep = { source: 'aws.events', 'detail-type': 'Scheduled Event' };
  const candidate = (name: string, at: string, event: object, streams = true): Candidate => ({
    name,
    folder: at,
    streams,
    event,
    importMs: [],
    requestMs: [],
  });
  return [
    candidate('bare handler, tools/list', bare, list),
    candidate('mcp-endpoint, tools/list', endpoint, list),
    candidate('mcp-endpoint with the SDK outside, tools/list', endpointOutside, list),
    candidate('bare handler with a secret and a count, tools/list', bareAws, list),
    candidate('bare handler, tools/call', bare, say),
    candidate('bare handler with a secret and a count, tools/call', bareAws, say),
    candidate('mcp-endpoint, tools/call list_workflows', endpoint, workflows),
    candidate('mcp-endpoint with the SDK outside, tools/call list_workflows', endpointOutside, workflows),
    candidate('call-tool, catalog', callTool, catalog, false),
    candidate('call-tool with the SDK outside, catalog', callToolOutside, catalog, false),
    candidate('run-events, sweep', runEvents, sweep, false),
    candidate('run-events with the SDK outside, sweep', runEventsOutside, sweep, false),
  ];
}

async function startOnce(stage: Stage, candidate: Candidate, counts: boolean): Promise<void> {
  const container = await startContainer(candidate.folder, stage.environment());
  try {
    const ms = await timed(async () => {
      if (!candidate.streams) return container.invoke(candidate.event);
      const answer = await container.stream(candidate.event);
      if (answer.statusCode !== 200)
        throw new Error(`${candidate.name}: ${answer.statusCode} ${answer.body}`);
    });
    if (!counts) return;
    candidate.importMs.push(container.importMs);
    candidate.requestMs.push(ms);
  } finally {
    await container.stop();
  }
}

/** Import and first request together: what an agent waits for. */
function totalOf({ importMs, requestMs }: Candidate): number {
  return median(importMs.map((ms, at) => ms + (requestMs[at] ?? Number.NaN)));
}

function figuresOf(candidates: readonly Candidate[]): Figure[] {
  const figures: Figure[] = candidates.flatMap((candidate) => [
    { name: `${candidate.name}: loaded`, value: rounded(median(candidate.importMs)), unit: 'ms' },
    { name: `${candidate.name}: first answer`, value: rounded(totalOf(candidate)), unit: 'ms' },
  ]);
  const total = new Map(candidates.map((candidate) => [candidate.name, totalOf(candidate)]));
  const against = (ours: string, theirs: string): Figure => ({
    name: `${ours} against: ${theirs}`,
    value: rounded((total.get(ours) ?? Number.NaN) / (total.get(theirs) ?? Number.NaN)),
    unit: 'times',
    aim: '1.3',
  });
  const call = 'mcp-endpoint, tools/call list_workflows';
  return [
    ...figures,
    against('mcp-endpoint, tools/list', 'bare handler, tools/list'),
    against('mcp-endpoint, tools/list', 'bare handler with a secret and a count, tools/list'),
    against(call, 'bare handler, tools/call'),
    against(call, 'bare handler with a secret and a count, tools/call'),
  ];
}
