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

/** Kinds that come from outside. Schedules and the console start runs in an owner's name, without a request. */
const OUTSIDE = ['token', 'iam', 'oauth'] as const;

/**
 * The one gate that every request's principal passes, however the host made it. An id begins with its kind, so no two kinds
 * share one and none from outside is `local` or `stack`: ownership compares ids alone.
 * @throws Error when its id is not one of its kind: `token:NAME`, `iam:ARN`, `oauth:SUBJECT`, or `local`.
 */
export function requirePrincipal({ kind, id }: Principal): void {
  const own =
    OUTSIDE.some((each) => each === kind) && id.startsWith(`${kind}:`) && id.length > kind.length + 1;
  if (own || (kind === 'local' && id === LOCAL_PRINCIPAL.id)) return;
  throw new Error(`"${id}" is no id of a principal of kind ${kind}`);
}

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
    const where =
      head.deletedAt === undefined
        ? `belongs to the deployment and is read-only here; change blueprints/${head.workflow}.json and deploy`
        : `belonged to the deployment, which does not ship it any more; ship blueprints/${head.workflow}.json again`;
    throw new EngineError(
      'Forbidden',
      `workflow "${head.workflow}" ${where}, or save yours under another id`,
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
