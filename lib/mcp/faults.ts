/** Faults on their way to the caller. What is not a fault of the request says no more than that it happened. */
import { ProtocolError, ProtocolErrorCode, ResourceNotFoundError } from '@modelcontextprotocol/server';
import type { EngineEnvironment } from '../engine/environment.ts';
import { EngineError } from '../engine/errors.ts';
import { faultFields } from '../telemetry/fault-fields.ts';

/** A fault of ours: its details go to the log. */
export function internalFault(env: EngineEnvironment, what: string, error: unknown): EngineError {
  const fields = faultFields(error);
  env.log({ level: 'error', event: 'request-failed', what, ...fields });
  return new EngineError(
    'Internal',
    `${what} failed inside the engine (${fields.error}); its log has the details`,
    {
      cause: error,
    },
  );
}

/** As a prompt or a resource answers a fault: a JSON-RPC error. */
export function protocolError(
  env: EngineEnvironment,
  what: string,
  error: unknown,
  uri?: string,
): ProtocolError {
  const fault = error instanceof EngineError ? error : internalFault(env, what, error);
  if (fault.code === 'NotFound' && uri !== undefined) return new ResourceNotFoundError(uri, fault.message);
  const code = fault.code === 'Internal' ? ProtocolErrorCode.InternalError : ProtocolErrorCode.InvalidParams;
  return new ProtocolError(code, fault.message, { code: fault.code });
}
