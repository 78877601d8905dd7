/** The verdict for people: what each role did, what it did not, and what is wrong. */
import type { Justification } from './justified.ts';
import { hasPassed, type Row, type Verdict } from './verdict.ts';

export function verdictTable(
  verdict: Verdict & { rows: readonly Row[] },
  justified: readonly Justification[],
): string {
  const lines: string[] = [];
  let role: string | undefined;
  for (const row of merged(verdict.rows)) {
    if (row.role !== role) lines.push('', row.role);
    role = row.role;
    lines.push(
      `  ${row.action.padEnd(38)} ${String(row.calls).padStart(6)} calls in ${row.scenarios.length} scenarios`,
    );
  }
  lines.push('', 'Not exercised here');
  for (const [because, rights] of byReason(justified)) {
    lines.push(`  ${because}`, ...rights.map((right) => `      ${right}`));
  }
  section(lines, 'NOT ALLOWED', verdict.denied, 'the role needs the right, or the code must not ask');
  section(
    lines,
    'ALLOWED AND NEVER USED',
    verdict.unused,
    'remove it from infra/, or justify it in rehearsal/justified.ts',
  );
  section(lines, 'JUSTIFIED AND NOT NEEDED ANY MORE', verdict.idle, 'remove it from rehearsal/justified.ts');
  section(lines, 'WENT WRONG', verdict.faults, 'run with --verbose to see what the functions say');
  lines.push('', hasPassed(verdict) ? 'The rehearsal went well.' : 'The rehearsal FAILED.');
  return lines.join('\n');
}

function section(lines: string[], title: string, entries: readonly string[], hint: string): void {
  if (entries.length === 0) return;
  lines.push('', `${title} (${hint})`, ...entries.map((entry) => `  ${entry}`));
}

/** Rows of several deployments as one. */
function merged(rows: readonly Row[]): Row[] {
  const all = new Map<string, Row>();
  for (const row of rows) {
    const key = `${row.role} ${row.action}`;
    const known = all.get(key);
    all.set(key, {
      ...row,
      calls: row.calls + (known?.calls ?? 0),
      scenarios: [...new Set([...(known?.scenarios ?? []), ...row.scenarios])],
    });
  }
  return [...all.entries()].sort(([a], [b]) => a.localeCompare(b)).map(([, row]) => row);
}

/** Rights by the reason for which they are there: `Role: actions`. */
function byReason(justified: readonly Justification[]): Map<string, string[]> {
  const reasons = new Map<string, Map<string, string[]>>();
  for (const { because, owner, action } of justified) {
    const owners = reasons.get(because) ?? new Map<string, string[]>();
    reasons.set(because, owners);
    owners.set(owner, [...(owners.get(owner) ?? []), action]);
  }
  const lines = (owners: Map<string, string[]>): string[] =>
    [...owners].map(([owner, actions]) => `${owner}: ${actions.join(', ')}`);
  return new Map([...reasons].map(([because, owners]) => [because, lines(owners)]));
}
