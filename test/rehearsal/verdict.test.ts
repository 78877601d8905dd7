/** What fails a rehearsal, and how it is told. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkLambdaLimits } from '../../rehearsal/lambda-limits.ts';
import { verdictTable } from '../../rehearsal/table.ts';
import { hasPassed, type Row, type Verdict } from '../../rehearsal/verdict.ts';

const GOOD: Verdict = { denied: [], faults: [], unused: [], idle: [], rows: [] };
const row = (role: string, action: string, scenario: string): Row => ({
  role,
  action,
  calls: 2,
  scenarios: [scenario],
});

describe('the verdict', () => {
  const cases: [string, Partial<Verdict>, string][] = [
    ['a call that is not allowed', { denied: ['a'] }, 'NOT ALLOWED'],
    ['a right that nobody used', { unused: ['a'] }, 'ALLOWED AND NEVER USED'],
    ['a justification that is not needed', { idle: ['a'] }, 'JUSTIFIED AND NOT NEEDED ANY MORE'],
    ['a scenario or a delivery that went wrong', { faults: ['a'] }, 'WENT WRONG'],
  ];
  it.each(cases)('fails for %s', (_name, part, title) => {
    const verdict = { ...GOOD, ...part };
    expect(hasPassed(verdict)).toBe(false);
    const table = verdictTable(verdict, []);
    expect(table).toContain(title);
    expect(table).toContain('The rehearsal FAILED.');
  });

  it('passes for nothing of that', () => {
    expect(hasPassed(GOOD)).toBe(true);
    expect(verdictTable(GOOD, [])).toContain('The rehearsal went well.');
  });

  it('tells calls by role and action over all deployments, and reasons once', () => {
    const rows = [
      row('B', 's3:GetObject', 'one'),
      row('A', 's3:GetObject', 'one'),
      row('B', 's3:GetObject', 'two'),
    ];
    const because = 'No stand-in takes logs.';
    const justified = ['logs:CreateLogStream', 'logs:PutLogEvents'].map((action) => ({
      owner: 'A',
      action,
      because,
    }));
    const lines = verdictTable({ ...GOOD, rows }, justified)
      .split('\n')
      .map((line) => line.trim());
    expect(lines).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^s3:GetObject +2 calls in 1 scenarios$/),
        expect.stringMatching(/^s3:GetObject +4 calls in 2 scenarios$/),
        because,
        'A: logs:CreateLogStream, logs:PutLogEvents',
      ]),
    );
    expect(lines.indexOf('A')).toBeLessThan(lines.indexOf('B'));
    expect(lines.filter((line) => line === because)).toHaveLength(1);
  });
});

describe('what Lambda would refuse', () => {
  it('is an environment over 4 KiB', () => {
    const folder = mkdtempSync(join(tmpdir(), 'limits-'));
    writeFileSync(join(folder, 'index.mjs'), '');
    expect(() => checkLambdaLimits('F', { A: 'x'.repeat(4_000) }, folder)).not.toThrow();
    expect(() => checkLambdaLimits('F', { A: 'x'.repeat(4_096) }, folder)).toThrow(
      'F: its environment is 4104 bytes',
    );
    rmSync(folder, { recursive: true });
  });
});
