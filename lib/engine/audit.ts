/** Audit entries of the engine's own operations (their shape: lib/telemetry/audit.ts). */
import type { Principal } from '../store/records.ts';
import { type AuditEvent, auditEntry } from '../telemetry/audit.ts';
import type { EngineEnvironment } from './environment.ts';
import { EngineError } from './errors.ts';

export function audit(env: Pick<EngineEnvironment, 'log'>, principal: Principal, event: AuditEvent): void {
  env.log(auditEntry(principal, event));
}

/**
 * Does `work` and tells how it went: an entry when it succeeded, with what `told` adds from its answer, and one when it was
 * refused or failed. Where `told` answers undefined nothing was changed or started, and nothing is told.
 */
export async function audited<T>(
  env: Pick<EngineEnvironment, 'log'>,
  principal: Principal,
  event: AuditEvent,
  work: () => Promise<T>,
  told: (answer: T) => Omit<AuditEvent, 'action'> | undefined = () => ({}),
): Promise<T> {
  let answer: T;
  try {
    answer = await work();
  } catch (error) {
    audit(env, principal, { ...event, outcome: outcomeOf(error) });
    throw error;
  }
  const more = told(answer);
  if (more !== undefined) audit(env, principal, { ...event, ...more });
  return answer;
}

/** A fault that is not the request's is told as `Internal`, whatever it is. */
function outcomeOf(error: unknown): string {
  return error instanceof EngineError ? error.code : 'Internal';
}
