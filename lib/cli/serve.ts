/** `mwe serve`: the engine until Ctrl-C. */
import { resolve } from 'node:path';
import { readArguments, readPort } from './arguments.ts';
import { type Engine, startEngine } from './engine.ts';
import { CliError, EXIT } from './exit-codes.ts';
import { projectRoot } from './project.ts';
import type { Output } from './terminal.ts';

export const DEFAULT_PORT = '8787';

const HELP = `mwe serve [--port N] [--config FILE] [--data FOLDER]

Runs the engine with its embedded AWS stand-ins and serves MCP on 127.0.0.1.

  --port N         port of the MCP endpoint, 0 for any free one (default ${DEFAULT_PORT})
  --config FILE    downstream servers (default mcp.json)
  --data FOLDER    where everything is kept (default .engine)
  --blueprints F   blueprints that are there from the start (default: those that ship)
  --verbose        log events on stderr, without values
  --help

The environment may raise or lower what one run and its sub-workflows may do: MWE_MAX_ATTEMPTS (calls with their retries,
100000) and MWE_MAX_SUB_RUNS (1000).

When it is ready it prints the endpoint and has written FOLDER/endpoints.json with the URLs of the endpoint and of the
stand-ins (mcp, sfn, lambda, dynamodb, s3), so that the AWS CLI can be pointed at them. Ctrl-C stops it; what was running
is found as aborted at the next start and can be redriven.`;

export async function runServe(args: readonly string[], output: Output): Promise<number> {
  const { values, positionals } = readArguments(args, {
    port: { type: 'string' },
    config: { type: 'string' },
    data: { type: 'string' },
    blueprints: { type: 'string' },
    verbose: { type: 'boolean' },
  });
  if (values.help === true) {
    output.out(HELP);
    return EXIT.ok;
  }
  if (positionals.length > 0) {
    throw new CliError(`serve takes no argument "${positionals[0]}" (--help tells them)`, EXIT.usage);
  }
  const stopped = untilSignal();
  const engine = await startEngine({
    port: readPort(String(values.port ?? DEFAULT_PORT)),
    config: resolve(String(values.config ?? 'mcp.json')),
    dataDir: resolve(String(values.data ?? '.engine')),
    blueprints: resolve(String(values.blueprints ?? `${projectRoot()}/blueprints`)),
    ...(values.verbose === true ? { log: (entry) => output.err(JSON.stringify(entry)) } : {}),
  });
  output.out(`MCP endpoint ${engine.mcp}`);
  await stopped;
  await stopWithin(engine, output);
  return EXIT.ok;
}

/** Resolves at the first SIGINT or SIGTERM; a second one ends the process at once. */
function untilSignal(): Promise<void> {
  return new Promise((resolve) => {
    let asked = false;
    const onSignal = (): void => {
      if (asked) process.exit(EXIT.interrupted);
      asked = true;
      resolve();
    };
    process.on('SIGINT', onSignal);
    process.on('SIGTERM', onSignal);
  });
}

async function stopWithin(engine: Engine, output: Output): Promise<void> {
  try {
    await engine.stop();
  } catch (error) {
    output.err(`stopping: ${error instanceof Error ? error.message : String(error)}`);
  }
}
