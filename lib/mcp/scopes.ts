/**
 * The one table of what a caller needs to use the endpoint: every tool, prompt and resource with its scope. What is not in it
 * is refused to everybody. Which object may be touched is another question: ownership, in lib/engine.
 */
import type { ScopeChallengeHandler } from '@modelcontextprotocol/server';
import { EngineError } from '../engine/errors.ts';
import { isAdmin, requireScope, type Scope } from '../engine/principals.ts';
import type { Principal } from '../store/records.ts';

export type Kind = 'tool' | 'prompt' | 'resource';

/** Resources by their URI or template. */
export const ACCESS: Readonly<Record<Kind, Readonly<Record<string, Scope>>>> = {
  tool: {
    create_workflow: 'workflows:write',
    run_workflow: 'runs:start',
    list_workflows: 'workflows:read',
    get_workflow: 'workflows:read',
    validate_workflow: 'workflows:read',
    delete_workflow: 'workflows:delete',
    get_run: 'runs:read',
    list_runs: 'runs:read',
    cancel_run: 'runs:cancel',
    schedule_workflow: 'schedules:write',
    list_tools: 'tools:read',
    call_tool: 'tools:call',
  },
  prompt: {
    design_workflow: 'workflows:read',
  },
  resource: {
    'schema://blueprint': 'workflows:read',
    'workflow://{id}': 'workflows:read',
    'workflow://{id}/revisions/{revision}': 'workflows:read',
    'workflow://{id}/revisions/{revision}/machine': 'workflows:read',
    'run://{id}': 'runs:read',
    'run://{id}/output': 'runs:read',
    'run://{id}/value/{+at}': 'runs:read',
  },
};

/** @throws EngineError Forbidden where the principal lacks the scope, or the table has no such thing. */
export function authorize(principal: Principal, kind: Kind, name: string): void {
  const scope = Object.hasOwn(ACCESS[kind], name) ? ACCESS[kind][name] : undefined;
  if (scope === undefined) throw new EngineError('Forbidden', `the ${kind} "${name}" is open to nobody`);
  requireScope(principal, scope);
}

/**
 * An OAuth client whose token lacks the scope is told so by HTTP, 403 with the scope to ask for, so that it can get a token with
 * it and come again. Callers of other kinds cannot, and read the refusal as the answer of what they called.
 * Source: MCP 2026-07-28, "Runtime Insufficient Scope Errors".
 */
export function scopeChallenge(principal: Principal, kind: Kind, name: string): ScopeChallengeHandler {
  return () => {
    const scope = Object.hasOwn(ACCESS[kind], name) ? ACCESS[kind][name] : undefined;
    if (principal.kind !== 'oauth' || scope === undefined) return undefined;
    if (principal.scopes.includes(scope) || isAdmin(principal)) return undefined;
    return { scopes: [scope], errorDescription: `this needs the scope ${scope}` };
  };
}
