/**
 * Sub-workflows: they exist, do not call each other in a circle, are not nested too deep, and their parameters are given.
 * A circle is found through the saved workflows as they are now.
 */
import { childPointer, quoteValue } from '../../blueprint/diagnostics.ts';
import { isJsonObject, type Json, type JsonObject } from '../../blueprint/json.ts';
import { MAX_SUBWORKFLOW_DEPTH, WORKFLOW_REFERENCE } from '../../blueprint/limits.ts';
import { splitWorkflowName } from '../../blueprint/names.ts';
import { hasParamType, jsonType } from '../../blueprint/params.ts';
import { listNames } from '../../blueprint/suggest.ts';
import type { Blueprint, ParamDeclaration } from '../../blueprint/types.ts';
import { parseTemplate } from '../../expression/template.ts';
import type { ValidationEnvironment } from './environment.ts';
import { type Outline, type OutlineStep, outlineBlueprint } from './outline.ts';
import type { Report } from './report.ts';

type Lookup = NonNullable<ValidationEnvironment['workflows']>;

/** What lies below a workflow: a way back to where we came from, or how many levels. */
type Below = { circle: string[] } | { levels: number };

export function checkSubworkflows(outline: Outline, lookup: Lookup | undefined, report: Report): void {
  const own = outline.blueprint.id;
  const known = new Map<string, Below>();
  for (const step of outline.all) {
    const called = calledBy(step);
    if (called === undefined) continue;
    const pointer = `${step.pointer}/workflow`;
    if (called.workflow === own) {
      report.add('BP501', pointer, {
        message: `the workflow "${own}" calls itself`,
        got: quoteValue(own),
        expected: 'another workflow',
      });
    } else if (lookup !== undefined) {
      const target = lookup(called.workflow);
      if (target === undefined) unknownWorkflow(called, pointer, report);
      else {
        checkBelow(called.workflow, typeof own === 'string' ? own : '', pointer, lookup, known, report);
        checkArguments(step, called.workflow, target.blueprint, report);
      }
    }
  }
}

/** The workflow that a call step names. */
export function calledBy(step: OutlineStep): { workflow: string; floating: boolean } | undefined {
  const { workflow, tool } = step.raw;
  if (step.type !== 'call' || tool !== undefined || typeof workflow !== 'string') return undefined;
  return WORKFLOW_REFERENCE.test(workflow) ? splitWorkflowName(workflow) : undefined;
}

function unknownWorkflow(
  { workflow, floating }: { workflow: string; floating: boolean },
  pointer: string,
  report: Report,
): void {
  const got = quoteValue(workflow);
  if (floating) {
    report.add('BP505', pointer, {
      message: `there is no workflow "${workflow}" now; it is looked up when the step runs`,
      got,
      expected: 'the id of a saved workflow, and "@latest"',
    });
    return;
  }
  report.add('BP504', pointer, {
    message: `there is no workflow "${workflow}"`,
    got,
    expected: 'the id of a saved workflow',
    hint: `Save "${workflow}" first, or write "${workflow}@latest", which is looked up when the step runs.`,
  });
}

function checkBelow(
  workflow: string,
  own: string,
  pointer: string,
  lookup: Lookup,
  known: Map<string, Below>,
  report: Report,
): void {
  const below = look(workflow, [own], lookup, known);
  if ('circle' in below) {
    report.add('BP502', pointer, {
      message: `workflows call each other in a circle: ${below.circle.join(' calls ')}`,
      got: quoteValue(workflow),
      expected: 'a workflow that leads back to none of those above it',
    });
  } else if (below.levels > MAX_SUBWORKFLOW_DEPTH) {
    report.add('BP503', pointer, {
      message: `sub-workflows are nested ${below.levels} deep, at most ${MAX_SUBWORKFLOW_DEPTH} are allowed`,
      got: `${below.levels} levels`,
      expected: `at most ${MAX_SUBWORKFLOW_DEPTH}`,
    });
  }
}

/** Levels from `workflow` down, itself being one. `path` leads to it; each workflow is looked at once. */
function look(workflow: string, path: readonly string[], lookup: Lookup, known: Map<string, Below>): Below {
  if (path.includes(workflow)) return { circle: [...path.slice(path.indexOf(workflow)), workflow] };
  const before = known.get(workflow);
  if (before !== undefined) return before;
  const below = lookBelow(workflow, [...path, workflow], lookup, known);
  known.set(workflow, below);
  return below;
}

function lookBelow(
  workflow: string,
  path: readonly string[],
  lookup: Lookup,
  known: Map<string, Below>,
): Below {
  const blueprint = lookup(workflow)?.blueprint;
  if (blueprint === undefined) return { levels: 1 };
  let deepest = 0;
  for (const step of outlineBlueprint(blueprint as unknown as JsonObject).all) {
    const called = calledBy(step);
    if (called === undefined) continue;
    const below = look(called.workflow, path, lookup, known);
    if ('circle' in below) return below;
    deepest = Math.max(deepest, below.levels);
  }
  return { levels: deepest + 1 };
}

function checkArguments(step: OutlineStep, workflow: string, target: Blueprint, report: Report): void {
  const declared = target.params ?? {};
  const given = isJsonObject(step.raw.params) ? step.raw.params : {};
  const names = Object.keys(declared);
  for (const [name, value] of Object.entries(given)) {
    const pointer = childPointer(`${step.pointer}/params`, name);
    const declaration = Object.hasOwn(declared, name) ? declared[name] : undefined;
    if (declaration === undefined) {
      report.add('BP506', pointer, {
        message: `the workflow "${workflow}" has no parameter "${name}"; it has ${listNames(names)}`,
        got: quoteValue(name),
        expected: names.length === 0 ? 'no parameters' : `one of ${listNames(names)}`,
        meant: report.nearest(name, names),
      });
    } else checkArgument(value, declaration, workflow, name, pointer, report);
  }
  for (const [name, declaration] of Object.entries(declared)) {
    const missing = given[name] === undefined || given[name] === null;
    if (declaration.default !== undefined || !missing) continue;
    report.add('BP506', step.pointer, {
      message: `the workflow "${workflow}" requires the parameter "${name}"`,
      got: 'nothing',
      expected: `"${name}": a value of type ${declaration.type}`,
    });
  }
}

function checkArgument(
  value: Json,
  { type }: ParamDeclaration,
  workflow: string,
  name: string,
  pointer: string,
  report: Report,
): void {
  const { template } = parseTemplate(value);
  if (template.kind === 'expression' || value === null) return;
  if (hasParamType(template.kind === 'literal' ? template.value : value, type)) return;
  report.add('BP506', pointer, {
    message: `the parameter "${name}" of "${workflow}" is of type ${type}, not ${jsonType(value)}`,
    got: quoteValue(value),
    expected: `a value of type ${type}`,
  });
}
