/**
 * What nobody reads: values that a step only makes to be read, and parameters. A step that changes something in the world
 * needs no reader, so a call counts here only where its tool is known to be read-only or where it has a `select`.
 */
import { childPointer, quoteValue } from '../../blueprint/diagnostics.ts';
import { isJsonObject } from '../../blueprint/json.ts';
import { type Outline, type OutlineStep, siblingsOf } from './outline.ts';
import type { Report } from './report.ts';

/** What the expressions of a blueprint read. */
export interface Usage {
  params: Set<string>;
  /** `params` was read as a whole. */
  allParams: boolean;
  /** Ids under `steps` and under `results`. */
  values: Set<string>;
  results: Set<string>;
  /** Steps whose value is read as `input`. */
  inputs: Set<OutlineStep>;
  /** Steps that read their own `output`. */
  outputs: Set<OutlineStep>;
}

export function createUsage(): Usage {
  return {
    params: new Set(),
    allParams: false,
    values: new Set(),
    results: new Set(),
    inputs: new Set(),
    outputs: new Set(),
  };
}

/** Notes that a template of `step` reads `input`: the step before in a pipe, or the last one of a pass. */
export function useInput(step: OutlineStep | undefined, outline: Outline, usage: Usage): void {
  for (let at = step; at?.parent !== undefined; at = at.parent) {
    const siblings = siblingsOf(at, outline);
    if (at.parent.type === 'pipe' && at.index > 0) {
      const before = siblings[at.index - 1];
      if (before !== undefined) usage.inputs.add(before);
      return;
    }
    if (at.parent.type === 'loop' && at.parent.raw.while !== undefined) {
      const last = siblings.at(-1);
      if (last !== undefined) usage.inputs.add(last);
      return;
    }
  }
}

/** @param isReadOnly whether the tool of a call step is known to change nothing. */
export function checkUsage(
  outline: Outline,
  usage: Usage,
  isReadOnly: (step: OutlineStep) => boolean,
  report: Report,
): void {
  const implicit = outline.blueprint.output === undefined ? outline.steps.at(-1) : undefined;
  const visit = (list: readonly OutlineStep[], whichAreRead: (step: OutlineStep) => boolean) => {
    for (const step of list) {
      const read = whichAreRead(step) || isRead(step, usage);
      if (!read && onlyMakesValue(step, isReadOnly)) reportUnread(step, report);
      const output = usage.outputs.has(step);
      for (const inner of step.inner) visit(inner, (each) => passesOn(step, each, inner, read || output));
    }
  };
  visit(outline.steps, (step) => step === implicit);
  checkParams(outline, usage, report);
}

function isRead(step: OutlineStep, usage: Usage): boolean {
  if (step.id === undefined) return true;
  return (
    usage.values.has(step.id) ||
    usage.results.has(step.id) ||
    usage.inputs.has(step) ||
    step.raw.failWhen !== undefined
  );
}

/** Whether the value of an inner step is part of the value of a container that is read. */
function passesOn(
  container: OutlineStep,
  step: OutlineStep,
  list: readonly OutlineStep[],
  read: boolean,
): boolean {
  return read && (container.type === 'collect' || step === list.at(-1));
}

function onlyMakesValue(step: OutlineStep, isReadOnly: (step: OutlineStep) => boolean): boolean {
  if (step.type === 'call') return step.raw.select !== undefined || isReadOnly(step);
  return step.type === 'collect' && (step.raw.select !== undefined || step.inner.flat().every(isReadOnly));
}

function reportUnread(step: OutlineStep, report: Report): void {
  report.add('BP701', step.pointer, {
    message: `nothing reads the value of "${step.id ?? ''}"`,
    got: quoteValue(step.id),
    expected: `steps.${step.id ?? 'ID'} in a later step or in "output"`,
    hint: 'Read it, give the step a failWhen if it is there to check something, or remove it.',
  });
}

function checkParams({ blueprint }: Outline, usage: Usage, report: Report): void {
  const { params } = blueprint;
  if (!isJsonObject(params) || usage.allParams) return;
  for (const name of Object.keys(params)) {
    if (usage.params.has(name) || name === '__proto__') continue;
    report.add('BP705', childPointer('/params', name), {
      message: `nothing reads the parameter "${name.slice(0, 80)}"`,
      got: quoteValue(name),
      expected: `params.${name.slice(0, 80)} in a step or in "output"`,
    });
  }
}
