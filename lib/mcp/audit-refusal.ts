/**
 * Audit entries of what was refused before the engine was asked: the caller lacks the scope, or its arguments are none. What
 * gets past that is told by the engine itself (lib/engine/audit.ts).
 */
import { audit } from '../engine/audit.ts';
import type { EngineEnvironment } from '../engine/environment.ts';
import type { EngineError } from '../engine/errors.ts';
import type { Principal } from '../store/records.ts';
import type { AuditAction, AuditEvent } from '../telemetry/audit.ts';

/** Every tool that changes or starts something; a test holds it against the tools' annotations. */
export const AUDITED_TOOLS: Readonly<Record<string, AuditAction>> = {
  create_workflow: 'workflow.save',
  delete_workflow: 'workflow.delete',
  run_workflow: 'run.start',
  cancel_run: 'run.cancel',
  call_tool: 'tool.try',
  schedule_workflow: 'schedule.save',
};

export function auditRefusal(
  env: EngineEnvironment,
  principal: Principal,
  tool: string,
  given: unknown,
  { code }: Pick<EngineError, 'code'>,
): void {
  const action = Object.hasOwn(AUDITED_TOOLS, tool) ? AUDITED_TOOLS[tool] : undefined;
  if (action !== undefined) audit(env, principal, { action, outcome: code, ...named(given) });
}

/** What the arguments name; whether it is formed as a name is looked at where the entry is made. */
function named(given: unknown): Omit<AuditEvent, 'action'> {
  const args = (typeof given === 'object' && given !== null ? given : {}) as Record<string, unknown>;
  const blueprint = (typeof args.blueprint === 'object' && args.blueprint !== null ? args.blueprint : {}) as {
    id?: unknown;
  };
  return { workflow: text(args.id ?? blueprint.id), run: text(args.runId), tool: text(args.tool) };
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
