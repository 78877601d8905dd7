/**
 * Audit entries: who changed or started what, and how it went. One log entry each, of one shape, whoever writes it (the endpoint,
 * ` begin` for executions that the console or a schedule started, the deployment).
 *
 *     { "level": "info", "event": "audit", "action": "run.start", "principal": "token:ci", "kind": "token",
 *       "workflow": "sync", "revision": 3, "run": "4f0c…", "trigger": "call", "outcome": "ok" }
 *
 * Refused ones are told too: `outcome` is then the error's code or kind. No parameter, result, description or message stands in
 * an entry; a name that came from a caller does only where it is formed as one.
 */
import { BLUEPRINT_ID, TOOL_NAME } from '../blueprint/limits.ts';
import type { Principal, RunTrigger } from '../store/records.ts';
import type { LogEntry } from './telemetry.ts';

export const AUDIT_ACTIONS = [
  'workflow.save',
  'workflow.delete',
  'run.start',
  'run.cancel',
  'tool.try',
  'schedule.save',
  'schedule.delete',
  'schedule.disable',
  'stack.publish',
  'stack.remove',
] as const;

export type AuditAction = (typeof AUDIT_ACTIONS)[number];

/** What was done, or tried. */
export interface AuditEvent {
  action: AuditAction;
  workflow?: string | undefined;
  revision?: number | undefined;
  run?: string | undefined;
  trigger?: RunTrigger | undefined;
  /** Of `tool.try`: as it was asked for, or `server/tool`. */
  tool?: string | undefined;
  /** Name of a schedule. */
  schedule?: string | undefined;
  /** Default `ok`; else an error's code or kind. */
  outcome?: string | undefined;
}

const RUN = /^[0-9a-f]{32}$/;
const SCHEDULE = /^[A-Za-z0-9_.-]{1,64}$/;

/** The entry of an event. */
export function auditEntry(principal: Pick<Principal, 'id' | 'kind'>, event: AuditEvent): LogEntry {
  const { action, workflow, revision, run, trigger, tool, schedule, outcome = 'ok' } = event;
  return {
    level: 'info',
    event: 'audit',
    action,
    principal: principal.id,
    kind: principal.kind,
    ...formed('workflow', BLUEPRINT_ID, workflow),
    ...(revision === undefined ? {} : { revision }),
    ...formed('run', RUN, run),
    ...(trigger === undefined ? {} : { trigger }),
    ...formed('tool', TOOL_NAME, tool),
    ...formed('schedule', SCHEDULE, schedule),
    outcome,
  };
}

function formed(field: string, form: RegExp, value: string | undefined): LogEntry {
  return value !== undefined && form.test(value) ? { [field]: value } : {};
}
