/** Exit codes of `mwe`, the same for every command; they are part of its contract and of its `--help`. */
export const EXIT = {
  ok: 0,
  /** The engine could not start, or something that nobody expected happened. */
  failed: 1,
  /** The command line itself is wrong. */
  usage: 2,
  /** The blueprint has errors. */
  invalid: 3,
  /** The run ended as FAILED, CANCELLED or TIMED_OUT. */
  runFailed: 4,
  /** Ended by Ctrl-C. */
  interrupted: 130,
} as const;

export const EXIT_HELP = `Exit codes
  0    done
  1    the engine could not start, or an unexpected failure
  2    wrong usage
  3    the blueprint has errors
  4    the run ended as FAILED, CANCELLED or TIMED_OUT
  130  interrupted`;

/** A fault that is told in one line, without a stack. */
export class CliError extends Error {
  readonly exitCode: number;

  constructor(message: string, exitCode: number = EXIT.failed, options?: ErrorOptions) {
    super(message, options);
    this.name = 'CliError';
    this.exitCode = exitCode;
  }
}
