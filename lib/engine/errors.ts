/**
 * Faults of a request to the engine, as the caller sees them. They name what came, what is allowed and the likely fix,
 * and never hold a stack, a path or a secret. Failures of a run are data and not errors of this kind.
 */
import type { Diagnostic } from '../blueprint/diagnostics.ts';

export type EngineErrorCode =
  | 'NotFound'
  | 'Invalid'
  | 'Conflict'
  | 'Forbidden'
  | 'LimitExceeded'
  | 'Unavailable'
  | 'Internal';

export class EngineError extends Error {
  readonly code: EngineErrorCode;
  /** All faults of a refused blueprint. */
  readonly diagnostics: readonly Diagnostic[];
  /** Of LimitExceeded, where it is known. */
  readonly retryAfterSeconds: number | undefined;

  constructor(
    code: EngineErrorCode,
    message: string,
    options: { diagnostics?: readonly Diagnostic[]; retryAfterSeconds?: number; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'EngineError';
    this.code = code;
    this.diagnostics = options.diagnostics ?? [];
    this.retryAfterSeconds = options.retryAfterSeconds;
  }
}

/** The caller was not answered in the time that a request is held; what was under way goes on. */
export class HeldTooLong extends EngineError {
  constructor(message: string) {
    super('Unavailable', message);
  }
}
