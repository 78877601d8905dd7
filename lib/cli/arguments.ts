/** Command-line arguments by Node's own parser, with our errors: the argument, and what the command takes. */
import { type ParseArgsConfig, parseArgs } from 'node:util';
import { CliError, EXIT } from './exit-codes.ts';

type Options = NonNullable<ParseArgsConfig['options']>;

/** @throws CliError (usage) */
export function readArguments<O extends Options>(args: readonly string[], options: O) {
  try {
    return parseArgs({
      args: [...args],
      options: { ...options, help: { type: 'boolean', short: 'h' } },
      allowPositionals: true,
      strict: true,
    });
  } catch (error) {
    const message = error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error);
    throw new CliError(`${message} (--help tells the arguments)`, EXIT.usage);
  }
}

/** The one positional argument. @throws CliError (usage) */
export function onlyPositional(positionals: readonly string[], what: string): string {
  const [first, second] = positionals;
  if (first === undefined) throw new CliError(`${what} is missing (--help tells the arguments)`, EXIT.usage);
  if (second !== undefined) throw new CliError(`one ${what} only; "${second}" is one too many`, EXIT.usage);
  return first;
}

/** A port number, 0 for any free one. @throws CliError (usage) */
export function readPort(text: string): number {
  const port = Number(text);
  if (!/^\d+$/.test(text) || port > 65_535) {
    throw new CliError(`--port ${text}: a port is a whole number from 0 (any free one) to 65535`, EXIT.usage);
  }
  return port;
}
