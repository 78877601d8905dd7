/**
 * `mwe run FILE`: saves the blueprint and runs it through the MCP endpoint, exactly as an agent would. It talks to the
 * engine that serves the data folder, or to one of its own for the time of the run.
 */
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Json, JsonObject } from '../blueprint/json.ts';
import { type Agent, connectAgent } from './agent.ts';
import { onlyPositional, readArguments } from './arguments.ts';
import { readBlueprintFile } from './blueprint-file.ts';
import { startEngine } from './engine.ts';
import { CliError, EXIT } from './exit-codes.ts';
import { readParams } from './params.ts';
import { createProgress } from './progress.ts';
import { jsonLines, type Output } from './terminal.ts';

const HELP = `mwe run FILE [--param k=v ...] [--json]

Saves a blueprint and runs it through the MCP endpoint, as an agent would.

  --param k=v      a parameter; v is JSON where it parses as JSON of the declared type, else a string
  --config FILE    downstream servers, where no engine is running (default mcp.json)
  --data FOLDER    the engine's data folder (default .engine)
  --json           the run's answer as JSON on stdout, and nothing else
  --help

Exit code 0 when the run succeeded (also with errors it went on past), 2 when the parameters are not the blueprint's, 3 when
the blueprint has errors, 4 when the run ended otherwise. Ctrl-C cancels the run.`;

export async function runRun(args: readonly string[], output: Output): Promise<number> {
  const { values, positionals } = readArguments(args, {
    param: { type: 'string', multiple: true },
    config: { type: 'string' },
    data: { type: 'string' },
    json: { type: 'boolean' },
  });
  if (values.help === true) {
    output.out(HELP);
    return EXIT.ok;
  }
  const blueprint = await readBlueprintFile(onlyPositional(positionals, 'FILE'));
  const params = readParams(values.param ?? [], blueprint);
  const dataDir = resolve(values.data ?? '.engine');
  const running = await runningEngine(dataDir);
  const engine =
    running === undefined
      ? await startEngine({ port: 0, config: resolve(values.config ?? 'mcp.json'), dataDir })
      : undefined;
  const agent = await connectAgent(running ?? engine?.mcp ?? '');
  try {
    return await saveAndRun(agent, blueprint, params, output, values.json === true);
  } finally {
    await agent.close();
    await engine?.stop();
  }
}

/** URL of the endpoint that serves the data folder now, if one answers. */
async function runningEngine(dataDir: string): Promise<string | undefined> {
  try {
    const { mcp } = JSON.parse(await readFile(join(dataDir, 'endpoints.json'), 'utf8')) as { mcp: string };
    const answer = await fetch(mcp, { method: 'GET', signal: AbortSignal.timeout(1000) });
    return answer.status === 405 ? mcp : undefined;
  } catch {
    return undefined;
  }
}

async function saveAndRun(
  agent: Agent,
  blueprint: Json,
  params: JsonObject,
  output: Output,
  json: boolean,
): Promise<number> {
  const saved = await agent.call('create_workflow', { blueprint });
  if (saved.isError) return refused(saved.answer, output, json);
  const { id, revision, warnings } = saved.answer as { id: string; revision: number; warnings: JsonObject[] };
  if (!json) {
    for (const { code, message } of warnings) output.err(`warning ${String(code)}  ${String(message)}`);
    output.err(`${id}, revision ${revision}`);
  }
  const progress = createProgress(json ? { ...output, err: () => undefined, interactive: false } : output);
  const ended = await runToEnd(agent, id, params, progress.update);
  progress.end();
  if (json) output.out(jsonLines(ended));
  else report(ended, output);
  return ended.status === 'SUCCEEDED' ? EXIT.ok : EXIT.runFailed;
}

function refused(answer: JsonObject, output: Output, json: boolean): number {
  const { message, errors } = answer as { message: string; errors?: JsonObject[] };
  if (json) output.out(jsonLines(answer));
  else {
    for (const { code, message: fault, hint } of errors ?? []) {
      output.err(`error ${String(code)}  ${String(fault)}`);
      if (hint !== undefined) output.err(`       ${String(hint)}`);
    }
    output.err(`mwe: ${message}`);
  }
  return EXIT.invalid;
}

/** Starts the run and follows it to its end. Ctrl-C cancels it. */
async function runToEnd(
  agent: Agent,
  id: string,
  params: JsonObject,
  onProgress: (done: number, total: number, message: string) => void,
): Promise<JsonObject> {
  let runId: string | undefined;
  const cancel = (): void => {
    if (runId !== undefined) void agent.call('cancel_run', { runId }).catch(() => undefined);
  };
  process.once('SIGINT', cancel);
  try {
    const started = await agent.call('run_workflow', { id, params, wait: 0 });
    // The blueprint has been taken: what is refused now are the parameters.
    if (started.isError) throw new CliError(String(started.answer.message), EXIT.usage);
    runId = String(started.answer.runId);
    return await agent.follow(runId, onProgress);
  } finally {
    process.removeListener('SIGINT', cancel);
  }
}

function report(ended: JsonObject, output: Output): void {
  const { status, runId, output: value, errors, failure } = ended;
  if (value !== undefined) output.out(jsonLines(value));
  for (const error of Array.isArray(errors) ? errors : []) {
    const { path, kind, message } = error as JsonObject;
    output.err(`failed ${String(path)}  ${String(kind)}: ${String(message)}`);
  }
  if (failure !== undefined) output.err(`failed  ${JSON.stringify(failure)}`);
  output.err(`run ${String(runId)} ${String(status)}`);
}
