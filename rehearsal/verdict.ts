/**
 * What the rehearsal comes to: every call that a role made, judged against its policies; every right that no scenario used, held
 * against the list of those that are justified; and whatever went wrong unheard.
 */

import type { Deployment } from './deploy.ts';
import { matchesPattern } from './iam/patterns.ts';
import type { Justification } from './justified.ts';
import type { Right } from './permissions.ts';
import type { Recorded } from './recorder.ts';

export interface Verdict {
  /** One line each; any of them fails the rehearsal. */
  denied: string[];
  faults: string[];
  unused: string[];
  /** Justifications that nothing needs any more. */
  idle: string[];
  /** What was allowed and used, for the table. */
  rows: Row[];
}

export interface Row {
  role: string;
  action: string;
  calls: number;
  scenarios: readonly string[];
}

/** Judges what one deployment was seen to do. Policies are asked here for the first time, so it comes before `unusedOf`. */
export function judgeCalls({ permissions, recorder, faults }: Deployment): Omit<Verdict, 'unused' | 'idle'> {
  const denied = new Map<string, string>();
  const rows = new Map<string, Row & { scenarios: string[] }>();
  for (const call of recorder.calls) {
    const problem = problemOf(call, permissions);
    const role = permissions.role(call.accessKey)?.label ?? call.accessKey;
    if (problem !== undefined) {
      denied.set(
        `${role} ${call.action} ${generic(call.resource)}`,
        `${role}: ${call.action} on ${call.resource} is ${problem} (scenario "${call.scenario}")`,
      );
    }
    const key = `${role} ${call.action}`;
    const row = rows.get(key) ?? { role, action: call.action, calls: 0, scenarios: [] };
    row.calls += 1;
    if (!row.scenarios.includes(call.scenario)) row.scenarios.push(call.scenario);
    rows.set(key, row);
  }
  return {
    denied: [...denied.values()],
    faults: [...faults, ...recorder.faults],
    rows: [...rows.values()].sort((a, b) => `${a.role} ${a.action}`.localeCompare(`${b.role} ${b.action}`)),
  };
}

function problemOf(call: Recorded, permissions: Deployment['permissions']): string | undefined {
  const role = permissions.role(call.accessKey);
  if (role === undefined) return `asked by "${call.accessKey}", which is no role of the template`;
  const { outcome } = permissions.decide({ kind: 'aws', arn: role.arn }, call);
  if (outcome !== 'allowed') return outcome;
  const service = call.context['iam:PassedToService'];
  if (call.action !== 'iam:PassRole' || typeof service !== 'string') return undefined;
  return permissions.role(call.resource) === undefined
    ? 'about a role that the template does not make'
    : undefined;
}

/** One line for many executions or objects of a kind. */
function generic(resource: string): string {
  return resource.split(':').slice(0, 7).join(':').replace(/\/.*$/, '');
}

/**
 * Rights that no scenario used, in all deployments together: one that a deployment used counts for all of them, since they are the
 * same rights by the same names.
 */
export function unusedRights(deployments: readonly Deployment[]): Right[] {
  const keyOf = (right: Right): string => `${right.owner}\n${right.action}\n${right.resource}`;
  const counts = new Map<string, { right: Right; unused: number; present: number }>();
  for (const { permissions } of deployments) {
    const unused = new Set(permissions.unused().map(keyOf));
    for (const right of permissions.all()) {
      const count = counts.get(keyOf(right)) ?? { right, unused: 0, present: 0 };
      count.present += 1;
      if (unused.has(keyOf(right))) count.unused += 1;
      counts.set(keyOf(right), count);
    }
  }
  return [...counts.values()].filter(({ unused, present }) => unused === present).map(({ right }) => right);
}

/** Holds unused rights against the justified ones. */
export function holdAgainst(
  unused: readonly Right[],
  justified: readonly Justification[],
): Pick<Verdict, 'unused' | 'idle'> {
  const needed = new Set<Justification>();
  const left = unused.filter((right) => {
    const found = justified.find((each) => covers(each, right));
    if (found !== undefined) needed.add(found);
    return found === undefined;
  });
  return {
    unused: left.map(({ owner, action, resource }) => `${owner}: ${action} on ${resource}`),
    idle: justified
      .filter((each) => !needed.has(each))
      .map(({ owner, action, resource = '*' }) => `${owner}: ${action} on ${resource}`),
  };
}

function covers({ owner, action, resource = '*' }: Justification, right: Right): boolean {
  return owner === right.owner && action === right.action && matchesPattern(resource, right.resource);
}

export function hasPassed({ denied, faults, unused, idle }: Verdict): boolean {
  return denied.length + faults.length + unused.length + idle.length === 0;
}
