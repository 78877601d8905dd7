/**
 * Fields that depend on one another: exactly one of two, fields that belong to the other form of a step, and the two
 * limits that differ by form.
 */
import { quoteValue } from '../../blueprint/diagnostics.ts';
import { MAX_CALL_TIMEOUT_SECONDS } from '../../blueprint/limits.ts';
import { isStepType, type Outline, type OutlineStep } from './outline.ts';
import type { Report } from './report.ts';

export function checkForms(outline: Outline, report: Report): void {
  for (const step of outline.all) {
    if (!isStepType(step.raw.type)) continue;
    if (step.type === 'call') checkCall(step, report);
    if (step.type === 'loop') checkLoop(step, report);
  }
}

function checkCall(step: OutlineStep, report: Report): void {
  const { raw, pointer } = step;
  exactlyOne(step, 'tool', 'workflow', report);
  if (raw.workflow !== undefined && raw.tool === undefined) {
    meaningless(step, 'parse', 'a sub-workflow\'s value is its "output"; shape it with "select"', report);
    meaningless(step, 'retryUnknown', 'a sub-workflow is started once and never twice', report);
  }
  const seconds = raw.timeoutSeconds;
  if (raw.workflow === undefined && typeof seconds === 'number' && seconds > MAX_CALL_TIMEOUT_SECONDS) {
    report.add('BP114', `${pointer}/timeoutSeconds`, {
      message: `a tool call may take at most ${MAX_CALL_TIMEOUT_SECONDS} seconds, ${seconds} came`,
      got: String(seconds),
      expected: `at most ${MAX_CALL_TIMEOUT_SECONDS}`,
      hint: 'A call runs inside one function. Start longer work with one call and look for its end in a while loop.',
    });
  }
}

function checkLoop(step: OutlineStep, report: Report): void {
  const { raw, pointer } = step;
  exactlyOne(step, 'over', 'while', report);
  if (raw.over !== undefined && raw.while === undefined) {
    meaningless(step, 'max', 'it bounds the passes of a "while"; for "over" it is "maxItems"', report);
  }
  if (raw.while !== undefined && raw.over === undefined) {
    meaningless(step, 'maxItems', 'it bounds the items of "over"; for "while" it is "max"', report);
    meaningless(step, 'as', 'a pass has no item; "input" is the value of the pass before', report);
    if (raw.max === undefined) {
      report.add('BP120', pointer, {
        message: 'a "while" loop needs "max"',
        got: 'nothing',
        expected: '"max": a whole number of passes',
        hint: 'Reaching max is an error, never a cut: choose it well above what is ever needed.',
      });
    }
    if (typeof raw.concurrency === 'number' && raw.concurrency > 1) {
      report.add('BP703', `${pointer}/concurrency`, {
        message: 'the passes of a "while" loop run one after another, so "concurrency" has no effect',
        got: quoteValue(raw.concurrency),
        hint: 'Leave "concurrency" out.',
      });
    }
  }
}

function exactlyOne(step: OutlineStep, a: string, b: string, report: Report): void {
  const both = step.raw[a] !== undefined && step.raw[b] !== undefined;
  if (!both && (step.raw[a] !== undefined || step.raw[b] !== undefined)) return;
  report.add('BP118', step.pointer, {
    message: `a ${step.type} has exactly one of "${a}" and "${b}"; ${both ? 'both are' : 'none is'} there`,
    got: both ? `"${a}" and "${b}"` : 'neither',
    expected: `"${a}" or "${b}"`,
  });
}

function meaningless(step: OutlineStep, field: string, why: string, report: Report): void {
  if (step.raw[field] === undefined) return;
  report.add('BP119', `${step.pointer}/${field}`, {
    message: `"${field}" has no meaning here: ${why}`,
    got: quoteValue(step.raw[field]),
    expected: `no "${field}"`,
  });
}
