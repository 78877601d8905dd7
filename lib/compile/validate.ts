/**
 * Validation: an input of any kind in, every diagnostic at once out. This is its table of contents.
 *
 *     1  bounds        is it JSON, of a size and depth that can be walked?         lib/compile/validate/bounds.ts
 *     2  outline       the tree of steps, whatever else is wrong                   outline.ts
 *     3  shape         fields, types, limits; fields that depend on one another    shape.ts, forms.ts
 *     4  names         ids, loop names, parameters                                 names.ts
 *     5  templates     every place that may hold one, parsed                       sites.ts, templates.ts
 *     6  references    does every name exist where it is read?                     references.ts, visibility.ts
 *     7  lints         expressions that fail, or are probably not meant            lints.ts, nullability.ts
 *     8  flow          loops beyond a limit, schedules                             flow.ts, schedules.ts
 *     9  environment   sub-workflows and tools as they are now                     subworkflows.ts, tools.ts, arguments.ts, allowed.ts
 *    10  usage         values and parameters that nobody reads                     usage.ts
 *
 * An error keeps a blueprint from being saved, a warning does not. Nothing here throws, changes its input, or waits: what
 * the environment knows was fetched before.
 */
import { type Diagnostic, sortDiagnostics } from '../blueprint/diagnostics.ts';
import type { Blueprint } from '../blueprint/types.ts';
import { parseProgram } from './parse.ts';
import type { Program } from './program.ts';
import { checkAllowed } from './validate/allowed.ts';
import { checkBounds } from './validate/bounds.ts';
import type { ValidationEnvironment } from './validate/environment.ts';
import { checkFlow } from './validate/flow.ts';
import { checkForms } from './validate/forms.ts';
import { checkLints } from './validate/lints.ts';
import { checkNames } from './validate/names.ts';
import { outlineBlueprint } from './validate/outline.ts';
import { checkReferences } from './validate/references.ts';
import { createReport } from './validate/report.ts';
import { checkSchedules } from './validate/schedules.ts';
import { checkShape } from './validate/shape.ts';
import { templateSites } from './validate/sites.ts';
import { checkSubworkflows } from './validate/subworkflows.ts';
import { parseSites } from './validate/templates.ts';
import { checkTools, indexCatalog, toolOf } from './validate/tools.ts';
import { checkUsage, createUsage } from './validate/usage.ts';

export type { ToolInfo, ValidationEnvironment } from './validate/environment.ts';

export interface Validation {
  /** The input itself, typed, and its program; present exactly where no diagnostic is an error. */
  blueprint?: Blueprint;
  program?: Program;
  /** Errors first, then in the order of the document. */
  diagnostics: Diagnostic[];
}

/** Validates an input of any kind. Never throws. Without an environment nothing is said about tools and other workflows. */
export function validateBlueprint(input: unknown, env: ValidationEnvironment = {}): Validation {
  const report = createReport();
  const bounded = checkBounds(input, report);
  if (bounded === undefined) return { diagnostics: sortDiagnostics(report.diagnostics) };

  const outline = outlineBlueprint(bounded);
  checkShape(outline, report);
  checkForms(outline, report);
  checkNames(outline, report);

  const sites = parseSites(templateSites(outline), report);
  const usage = createUsage();
  const catalog = indexCatalog(env);
  checkReferences(sites, outline, usage, report);
  checkLints(sites, outline, catalog, report);
  checkFlow(outline, report);
  checkSchedules(outline, env.stackOwned === true, report);

  checkSubworkflows(outline, env.workflows?.bind(env), report);
  if (catalog !== undefined) checkTools(outline, catalog, report);
  checkAllowed(outline, env, catalog, report);
  const valid = !report.diagnostics.some(({ severity }) => severity === 'error');
  // Where an expression cannot be read, what it reads is not known, and "nobody reads this" would be a guess.
  if (valid) checkUsage(outline, usage, (step) => toolOf(step, catalog)?.readOnly === true, report);

  const diagnostics = sortDiagnostics(report.diagnostics);
  if (!valid) return { diagnostics };
  const blueprint = bounded as unknown as Blueprint;
  return { blueprint, program: parseProgram(blueprint), diagnostics };
}
