/**
 * Who may do what. Every request has a principal; a scope opens a kind of operation, ownership opens the object. What is
 * in no table is refused.
 */
import type { Principal, RunRecord, WorkflowHead } from '../store/records.ts';
import { EngineError } from './errors.ts';

export const SCOPES = [
  'workflows:read',
  'workflows:write',
  'workflows:delete',
  'runs:start',
  'runs:read',
  'runs:cancel',
  'tools:read',
  'tools:call',
  'schedules:write',
  'admin',
] as const;

export type Scope = (typeof SCOPES)[number];

/** The one principal of an engine that runs on one machine: whoever can reach its loopback port. */
export const LOCAL_PRINCIPAL: Principal = { kind: 'local', id: 'local', scopes: [...SCOPES] };

/** Owner of the blueprints that ship with the product. */
export const STACK_PRINCIPAL: Principal = { kind: 'stack', id: 'stack', scopes: [] };

export function isAdmin(principal: Principal): boolean {
  return principal.scopes.includes('admin');
}

/** @throws EngineError Forbidden when the principal lacks the scope. */
export function requireScope(principal: Principal, scope: Scope): void {
  if (principal.scopes.includes(scope) || isAdmin(principal)) return;
  throw new EngineError('Forbidden', `this needs the scope "${scope}", which the caller does not have`);
}

/**
 * Only the owner or an admin changes or deletes a workflow; what the deployment owns is changed in its files.
 * @throws EngineError Forbidden
 */
export function requireChange(principal: Principal, head: WorkflowHead): void {
  if (head.readOnly) {
    throw new EngineError(
      'Forbidden',
      `workflow "${head.workflow}" belongs to the deployment and is read-only here; change blueprints/${head.workflow}.json and deploy, or save yours under another id`,
    );
  }
  if (head.owner.id !== principal.id && !isAdmin(principal)) {
    throw new EngineError(
      'Forbidden',
      `workflow "${head.workflow}" belongs to another principal; save yours under another id`,
    );
  }
}

/** A run may be read by who started it, by the workflow's owner and by admins. */
export function mayRead(principal: Principal, run: RunRecord): boolean {
  return run.principal.id === principal.id || run.owner === principal.id || isAdmin(principal);
}
