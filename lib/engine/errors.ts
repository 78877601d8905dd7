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

  constructor(
    code: EngineErrorCode,
    message: string,
    options: { diagnostics?: readonly Diagnostic[]; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'EngineError';
    this.code = code;
    this.diagnostics = options.diagnostics ?? [];
  }
}
