/**
 * Whether a request may be made, as IAM decides it within one account: an explicit deny of any policy ends it; else an allow of the
 * principal's own policies or of the resource's policy is enough; else it is denied because nothing allows it.
 *
 * No permissions boundaries, session policies, SCPs or other accounts: the template makes none, and what an account has beside the
 * template nobody can rehearse.
 * Source: IAM user guide, "Policy evaluation logic" and "Policy evaluation for requests within a single account".
 */
import { conditionsHold, type RequestContext } from './conditions.ts';
import { matchesAction, matchesArn } from './patterns.ts';
import type { PrincipalPattern, Statement } from './policy.ts';
import { UnknownToRehearsal } from './refusal.ts';

/** A role or user by its IAM ARN (of a session: its role's), an AWS service, or somebody without credentials. */
export type Caller = { kind: 'aws'; arn: string } | { kind: 'service'; name: string } | { kind: 'anonymous' };

export interface AccessRequest {
  caller: Caller;
  /** `service:Operation`. */
  action: string;
  resource: string;
  context: RequestContext;
}

export interface Policies {
  /** What is attached to the caller. */
  identity: readonly Statement[];
  /** What is attached to the resource. */
  resource: readonly Statement[];
}

export interface Decision {
  outcome: 'allowed' | 'explicitly denied' | 'not allowed';
  /** The statements that decided: all that allow, or the one that denies. */
  by: readonly Statement[];
}

/** Throws `UnknownToRehearsal` where a statement that matters cannot be judged. */
export function evaluate(request: AccessRequest, policies: Policies): Decision {
  const statements = [...policies.identity, ...policies.resource];
  // All are looked at before any counts, so that a deny later in the list is not missed and what is unknown is told.
  const applying = statements.filter((statement) => applies(statement, request));
  const denying = applying.find((statement) => statement.effect === 'Deny');
  if (denying !== undefined) return { outcome: 'explicitly denied', by: [denying] };
  if (applying.length > 0) return { outcome: 'allowed', by: applying };
  return { outcome: 'not allowed', by: [] };
}

function applies(statement: Statement, request: AccessRequest): boolean {
  return (
    (statement.principals === undefined || speaksOf(statement, statement.principals, request.caller)) &&
    statement.actions.some((pattern) => matchesAction(pattern, request.action)) &&
    statement.resources.some((pattern) => matchesArn(pattern, request.resource)) &&
    conditionsHold(statement.conditions, request.context)
  );
}

function speaksOf(statement: Statement, principals: readonly PrincipalPattern[], caller: Caller): boolean {
  return principals.some((principal) => means(statement, principal, caller));
}

function means(statement: Statement, principal: PrincipalPattern, caller: Caller): boolean {
  switch (principal.kind) {
    case 'everyone':
      return true;
    case 'service':
      return caller.kind === 'service' && caller.name === principal.name;
    case 'aws':
      if (!principal.arn.endsWith(':root')) return caller.kind === 'aws' && caller.arn === principal.arn;
      if (statement.effect === 'Deny') {
        throw new UnknownToRehearsal(
          statement.place,
          'a deny for a whole account',
          'denies for roles and "*"',
        );
      }
      // An account in a policy hands the question on to that account's own policies: it allows nobody by itself.
      return false;
  }
}
