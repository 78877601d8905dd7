/**
 * `mwe`: the engine on the command line. One table of commands; each parses its own arguments, prints results on stdout
 * and everything else on stderr, and answers with an exit code of exit-codes.ts.
 */
import { CliError, EXIT, EXIT_HELP } from './exit-codes.ts';
import { type Output, stdio } from './terminal.ts';

interface Command {
  summary: string;
  /** Loads what the command needs: `--help` and `validate` do not wait for the AWS SDK. */
  run(args: readonly string[], output: Output): Promise<number>;
}

const COMMANDS: Readonly<Record<string, Command>> = {
  serve: {
    summary: 'run the engine with its embedded AWS stand-ins',
    run: async (...given) => (await import('./serve.ts')).runServe(...given),
  },
  validate: {
    summary: 'check a blueprint file',
    run: async (...given) => (await import('./validate.ts')).runValidate(...given),
  },
  compile: {
    summary: 'print the state machine of a blueprint file',
    run: async (...given) => (await import('./compile.ts')).runCompile(...given),
  },
  run: {
    summary: 'save a blueprint file and run it, as an agent would',
    run: async (...given) => (await import('./run.ts')).runRun(...given),
  },
  token: {
    summary: "make, list and revoke a deployment's bearer tokens",
    run: async (...given) => (await import('./token.ts')).runToken(...given),
  },
};

const HELP = `mwe: workflows of MCP tool calls with no model in the loop

Usage: mwe COMMAND [arguments]

${Object.entries(COMMANDS)
  .map(([name, { summary }]) => `  ${name.padEnd(10)} ${summary}`)
  .join('\n')}

mwe COMMAND --help tells a command's arguments.

${EXIT_HELP}`;

async function main(argv: readonly string[]): Promise<number> {
  const [name = '--help', ...args] = argv;
  if (name === '--help' || name === '-h' || name === 'help') {
    stdio.out(HELP);
    return EXIT.ok;
  }
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (command === undefined) {
    const known = Object.keys(COMMANDS).join(', ');
    throw new CliError(`unknown command "${name}"; the commands are ${known}`, EXIT.usage);
  }
  return command.run(args, stdio);
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  if (error instanceof CliError) {
    stdio.err(`mwe: ${error.message}`);
    process.exitCode = error.exitCode;
  } else {
    const detail =
      process.env.MWE_DEBUG === undefined ? '' : `\n${error instanceof Error ? error.stack : ''}`;
    stdio.err(`mwe: unexpected failure: ${error instanceof Error ? error.message : String(error)}${detail}`);
    process.exitCode = EXIT.failed;
  }
}
