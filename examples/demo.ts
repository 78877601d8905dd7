/**
 * `npm run demo`: what an agent does once, and what happens every time after. An engine is started on this machine with
 * its embedded AWS services; an MCP client looks at the tools, saves a blueprint and runs it against two published MCP
 * servers, on this repository's own sources.
 */
import { mkdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { JsonObject } from '../lib/blueprint/json.ts';
import { type Agent, connectAgent } from '../lib/cli/agent.ts';
import { startEngine } from '../lib/cli/engine.ts';
import { EXIT } from '../lib/cli/exit-codes.ts';
import { createProgress } from '../lib/cli/progress.ts';
import { projectRoot } from '../lib/cli/project.ts';
import { jsonLines, stdio } from '../lib/cli/terminal.ts';

const root = projectRoot();
const dataDir = join(root, '.engine', 'demo');

async function main(): Promise<number> {
  // A demo shows a first run: last time's graph and runs are dropped.
  await rm(dataDir, { recursive: true, force: true });
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const started = performance.now();
  const engine = await startEngine({
    port: 0,
    config: join(root, 'mcp.json'),
    dataDir,
    blueprints: join(root, 'blueprints'),
  });
  try {
    stdio.out(`MCP endpoint ${engine.mcp}  (ready in ${Math.round(performance.now() - started)} ms)`);
    const agent = await connectAgent(engine.mcp);
    try {
      const code = await codeToGraph(agent);
      return code === EXIT.ok ? await triage(agent) : code;
    } finally {
      await agent.close();
    }
  } finally {
    await engine.stop();
  }
}

/** Looks at the tools, saves a blueprint of its own, runs it. */
async function codeToGraph(agent: Agent): Promise<number> {
  const { answer: listed } = await agent.call('list_tools', {});
  const tools = listed.tools as { server: string; name: string }[];
  const servers = [...new Set(tools.map((tool) => tool.server))];
  stdio.out(`\nThe agent finds ${tools.length} tools on ${servers.join(' and ')}, and writes a blueprint.`);

  const text = await readFile(join(root, 'blueprints', 'repo-to-graph.json'), 'utf8');
  const blueprint = { ...(JSON.parse(text) as JsonObject), id: 'my-repo-to-graph' };
  const saved = await agent.call('create_workflow', { blueprint });
  if (saved.isError) return fail('create_workflow', saved.answer);
  const { id, revision, hash } = saved.answer;
  stdio.out(`create_workflow  ${String(id)}, revision ${String(revision)}, ${String(hash).slice(0, 12)}`);
  return run(agent, String(id), { root: 'lib' });
}

/** A blueprint that ships: a missing file does not stop it. */
function triage(agent: Agent): Promise<number> {
  stdio.out('\nA blueprint that ships with the engine: steps with conditions, and a failure that goes on.');
  return run(agent, 'triage', { path: 'lib' });
}

async function run(agent: Agent, id: string, params: JsonObject): Promise<number> {
  stdio.out(`run_workflow     ${JSON.stringify({ id, params })}`);
  const progress = createProgress(stdio);
  const started = performance.now();
  let { answer, isError } = await agent.call('run_workflow', { id, params }, progress.update);
  if (!isError && answer.status === 'RUNNING') {
    answer = await agent.follow(String(answer.runId), progress.update);
  }
  progress.end();
  if (isError) return fail('run_workflow', answer);
  const { answer: seen } = await agent.call('get_run', { runId: String(answer.runId) });
  const ms = Math.round(performance.now() - started);
  stdio.out(
    `${String(answer.status)}        ${String(seen.attempts)} tool calls in ${ms} ms, no model in the loop`,
  );
  stdio.out(jsonLines(answer.output));
  return answer.status === 'SUCCEEDED' ? EXIT.ok : fail('run', answer);
}

function fail(what: string, answer: JsonObject): number {
  stdio.err(`${what}: ${jsonLines(answer)}`);
  return EXIT.failed;
}

process.exitCode = await main();
