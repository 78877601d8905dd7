/** Loops that would exceed a limit, and what has no effect where it stands. */
import { quoteValue } from '../../blueprint/diagnostics.ts';
import { isJsonObject } from '../../blueprint/json.ts';
import { DEFAULT_MAX_ITEMS, MAX_RUN_ATTEMPTS } from '../../blueprint/limits.ts';
import type { Outline, OutlineStep } from './outline.ts';
import type { Report } from './report.ts';

export function checkFlow(outline: Outline, report: Report): void {
  for (const step of outline.steps) countCalls(step, report);
  for (const step of outline.all) {
    if (step.type === 'call') checkStrategy(step, report);
    if (step.type !== 'loop') continue;
    checkLength(step, report);
    if (step.raw.mode === 'batch' && step.inner.flat().some(needsMap)) {
      report.add('BP704', `${step.pointer}/mode`, {
        message: 'the body has a sub-workflow or a map loop, so the loop runs as a map',
        got: '"batch"',
        expected: 'no "mode", or "map"',
      });
    }
  }
}

/** `continue` on a call that stands directly in a loop's item or in a pipe, which a failed step ends all the same. */
function checkStrategy({ raw, parent, pointer }: OutlineStep, report: Report): void {
  if (parent === undefined || (parent.type !== 'loop' && parent.type !== 'pipe')) return;
  if (!isJsonObject(raw.errorStrategy) || raw.errorStrategy.onStepFailure !== 'continue') return;
  const [what, hint] =
    parent.type === 'loop'
      ? ['an item of a loop', `To let other items go on, give "${parent.id ?? 'the loop'}" this strategy.`]
      : ['a pipe', `To go on after the pipe, give "${parent.id ?? 'the pipe'}" this strategy.`];
  report.add('BP707', `${pointer}/errorStrategy/onStepFailure`, {
    message: `a failed step ends ${what}, so "continue" has no effect here`,
    got: '"continue"',
    hint,
  });
}

function checkLength({ raw, pointer }: OutlineStep, report: Report): void {
  const limit = typeof raw.maxItems === 'number' ? raw.maxItems : DEFAULT_MAX_ITEMS;
  if (!Array.isArray(raw.over) || raw.over.length <= limit) return;
  report.add('BP702', `${pointer}/over`, {
    message: `the list has ${raw.over.length} items, and the loop takes at most ${limit}`,
    got: quoteValue(raw.over),
    expected: `at most ${limit} items`,
    hint: 'Raise "maxItems".',
  });
}

/** Calls that a step makes at most, as far as its author said how many items there are. Reports the innermost excess. */
function countCalls(step: OutlineStep, report: Report): number {
  if (step.type === 'call') return 1;
  const once = step.inner.flat().reduce((sum, inner) => sum + countCalls(inner, report), 0);
  if (step.type !== 'loop' || once > MAX_RUN_ATTEMPTS) return once;
  const calls = once * writtenSize(step);
  if (calls > MAX_RUN_ATTEMPTS) {
    report.add('BP702', step.pointer, {
      message: `the loop may make ${calls} calls, and a run at most ${MAX_RUN_ATTEMPTS}`,
      got: `${calls} calls`,
      expected: `at most ${MAX_RUN_ATTEMPTS}`,
      hint: 'Send many rows in one call, or lower the bound of the loop.',
    });
  }
  return calls;
}

function writtenSize({ raw }: OutlineStep): number {
  if (Array.isArray(raw.over)) return raw.over.length;
  const written = raw.over === undefined ? raw.max : raw.maxItems;
  return typeof written === 'number' && written >= 1 ? written : 1;
}

function needsMap(step: OutlineStep): boolean {
  if (step.type === 'call') return step.raw.workflow !== undefined;
  if (step.type === 'loop' && step.raw.mode === 'map') return true;
  return step.inner.some((list) => list.some(needsMap));
}
