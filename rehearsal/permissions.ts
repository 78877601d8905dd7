/**
 * All policies of the deployed template: who has which role, what each may, what each resource allows, who may take a role. Every
 * decision is noted with the statements that made it, so that in the end a right that nobody used can be told.
 */
import { LOCAL_ACCOUNT } from '../lib/store/aws-config.ts';
import { CONTEXT_KEYS, type Needed, TRANSPORT } from './actions/needed.ts';
import { type Caller, type Decision, evaluate } from './iam/evaluate.ts';
import { matchesAction, matchesArn } from './iam/patterns.ts';
import type { Statement } from './iam/policy.ts';
import { UnknownToRehearsal } from './iam/refusal.ts';

export interface Role {
  arn: string;
  name: string;
  /** Where the template makes it, e.g. `CallTool/Function/Role`. */
  label: string;
  trust: readonly Statement[];
}

/** An action that a statement allows on a resource, as both are written there. */
export interface Right {
  /** Label of the role or of the resource whose policy it is. */
  owner: string;
  statement: string;
  action: string;
  resource: string;
}

export interface Permissions {
  addRole(role: Role): void;
  /** Attaches to a role by its name. */
  attach(roleName: string, statements: readonly Statement[]): void;
  /** Adds to a resource's policy. `label`: where the template makes it. */
  protect(resourceArn: string, label: string, statements: readonly Statement[]): void;
  role(nameOrArn: string): Role | undefined;
  decide(caller: Caller, needed: Needed): Decision;
  /** Whether a service may take a role for what it does for `sourceArn`. */
  mayAssume(roleArn: string, service: string, sourceArn?: string): boolean;
  /** Every right, those of resources' policies included. */
  all(): Right[];
  /** Those that no decision has used. */
  unused(): Right[];
}

export function createPermissions(): Permissions {
  const roles = new Map<string, Role>();
  const identity = new Map<string, Statement[]>();
  const resources = new Map<string, { label: string; statement: Statement }[]>();
  const used = new Map<Statement, Set<string>>();

  const find = (nameOrArn: string): Role | undefined =>
    roles.get(nameOrArn) ?? [...roles.values()].find((role) => role.arn === nameOrArn);

  function policyOf(resource: string): readonly Statement[] {
    // An object is under its bucket's policy.
    const owner = resource.startsWith('arn:aws:s3:::') ? (resource.split('/')[0] ?? resource) : resource;
    return (resources.get(owner) ?? []).map(({ statement }) => statement);
  }

  function note(decision: Decision, needed: Needed): void {
    if (decision.outcome !== 'allowed') return;
    for (const statement of decision.by) {
      const pairs = used.get(statement) ?? new Set();
      used.set(statement, pairs);
      for (const [action, resource] of pairsOf(statement)) {
        if (matchesAction(action, needed.action) && matchesArn(resource, needed.resource)) {
          pairs.add(`${action} ${resource}`);
        }
      }
    }
  }

  function rights(): [Right, Statement][] {
    const owned = [
      ...[...identity].flatMap(([name, statements]) =>
        statements.map((statement) => ({ label: roles.get(name)?.label ?? name, statement })),
      ),
      ...[...resources.values()].flat(),
    ];
    return owned
      .filter(({ statement }) => statement.effect === 'Allow')
      .flatMap(({ label, statement }) =>
        pairsOf(statement).map(([action, resource]): [Right, Statement] => [
          { owner: label, statement: statement.place, action, resource },
          statement,
        ]),
      );
  }

  return {
    addRole(role) {
      refuseUnknownKeys(role.trust);
      roles.set(role.name, role);
      identity.set(role.name, []);
    },
    attach(roleName, statements) {
      refuseUnknownKeys(statements);
      const attached = identity.get(roleName);
      if (attached === undefined)
        throw new UnknownToRehearsal(roleName, 'a policy for it', 'roles of the template');
      attached.push(...statements);
    },
    protect(resourceArn, label, statements) {
      refuseUnknownKeys(statements);
      const there = resources.get(resourceArn) ?? [];
      there.push(...statements.map((statement) => ({ label, statement })));
      resources.set(resourceArn, there);
    },
    role: find,
    decide(caller, needed) {
      const role = caller.kind === 'aws' ? find(caller.arn) : undefined;
      const decision = evaluate(
        { caller, ...needed, context: { ...TRANSPORT, ...needed.context } },
        {
          identity: role === undefined ? [] : (identity.get(role.name) ?? []),
          resource: policyOf(needed.resource),
        },
      );
      note(decision, needed);
      return decision;
    },
    mayAssume(roleArn, service, sourceArn) {
      const role = find(roleArn);
      if (role === undefined) return false;
      const context = {
        ...TRANSPORT,
        'aws:SourceAccount': LOCAL_ACCOUNT,
        ...(sourceArn === undefined ? {} : { 'aws:SourceArn': sourceArn }),
      };
      const request = { caller: { kind: 'service', name: service }, action: 'sts:AssumeRole' } as const;
      const decision = evaluate(
        { ...request, resource: role.arn, context },
        { identity: [], resource: role.trust },
      );
      return decision.outcome === 'allowed';
    },
    all: () => rights().map(([right]) => right),
    unused: () =>
      rights()
        .filter(
          ([{ action, resource }, statement]) => used.get(statement)?.has(`${action} ${resource}`) !== true,
        )
        .map(([right]) => right),
  };
}

function pairsOf(statement: Statement): [string, string][] {
  return statement.actions.flatMap((action) =>
    statement.resources.map((resource): [string, string] => [action, resource]),
  );
}

/** A key that no request here ever has would make a condition mean something else than on AWS. */
function refuseUnknownKeys(statements: readonly Statement[]): void {
  for (const { conditions } of statements) {
    for (const { key, place } of conditions) {
      if (!CONTEXT_KEYS.has(key.toLowerCase())) {
        throw new UnknownToRehearsal(place, `the context key ${key}`, [...CONTEXT_KEYS].join(', '));
      }
    }
  }
}
