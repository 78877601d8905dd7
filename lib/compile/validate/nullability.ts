/**
 * What can be null at a place, as far as it can be known before a run: a step with `when`, a failed step where failures
 * read as null, an optional parameter, the first `input`, and whatever a tool is not obliged to answer.
 */
import { isJsonObject, type Json, type JsonObject } from '../../blueprint/json.ts';
import type { Outline, OutlineStep } from './outline.ts';
import type { Site } from './sites.ts';
import { type Catalog, toolOf } from './tools.ts';

interface Place {
  site: Site;
  outline: Outline;
  catalog: Catalog | undefined;
}

/** Whether a path into the scope, root first, can be null at the site. */
export function nullKnowledge(
  site: Site,
  outline: Outline,
  catalog: Catalog | undefined,
): (path: string[]) => boolean {
  const place = { site, outline, catalog };
  return (path) => {
    const [root, name, ...rest] = path;
    if (name === undefined) return root === 'input' && site.surroundings.input === 'perhaps-null';
    switch (root) {
      case 'params':
        return rest.length > 0 || isOptional(outline.blueprint.params, name);
      case 'steps': {
        const step = outline.byId.get(name);
        return step === undefined || valueMayBeNull(step, rest, place);
      }
      case 'results': {
        const step = outline.byId.get(name);
        return step === undefined || resultMayBeNull(step, rest, place);
      }
      case 'run':
        return rest.length > 0;
      case 'output':
        return outputMayBeNull([name, ...rest], place);
      default:
        return true;
    }
  };
}

function isOptional(params: Json | undefined, name: string): boolean {
  const declaration = isJsonObject(params) && Object.hasOwn(params, name) ? params[name] : undefined;
  return !isJsonObject(declaration) || declaration.default === null;
}

function valueMayBeNull(step: OutlineStep, path: readonly string[], place: Place): boolean {
  if (mayNotHaveRun(step, place)) return true;
  const [name, ...rest] = path;
  if (name === undefined) {
    const last = step.type === 'pipe' ? step.inner[0]?.at(-1) : undefined;
    return last !== undefined && valueMayBeNull(last, [], place);
  }
  if (step.raw.select !== undefined) {
    return rest.length > 0 || !isJsonObject(step.raw.select) || !isSurelyThere(step.raw.select, name);
  }
  if (step.type === 'collect') {
    const inner = step.inner[0]?.find((each) => each.id === name);
    return inner === undefined || valueMayBeNull(inner, rest, place);
  }
  return !toolPromises(step, path, place);
}

/** The step's own value: in `select` as the tool gave it, in `failWhen` and `while` as `select` made it. */
function outputMayBeNull(path: readonly string[], place: Place): boolean {
  const { step, field } = place.site;
  if (step === undefined || (field !== 'select' && step.raw.select !== undefined)) return true;
  return !toolPromises(step, path, place);
}

/** Whether a call's value, before `select`, has something other than null at the path, as its tool's schema says. */
function toolPromises(step: OutlineStep, path: readonly string[], { catalog }: Place): boolean {
  const { parse } = step.raw;
  const schema =
    parse === undefined || parse === 'structured' ? toolOf(step, catalog)?.outputSchema : undefined;
  return schema !== undefined && promises(schema, path);
}

/** Skipped, or failed where that reads as null: in readers of its value before they run a failed step skips them. */
function mayNotHaveRun(step: OutlineStep, { site, outline }: Place): boolean {
  for (let at: OutlineStep | undefined = step; at !== undefined && !isAround(at, site.step); at = at.parent) {
    if (at.raw.when !== undefined && at.raw.when !== true) return true;
    // A loop or parallel that goes on past failures succeeds itself; whether it is reached is up to what is around it.
    const inside = at.type === 'loop' || at.type === 'parallel' ? at.parent : at;
    if (site.phase === 'after' && mayGoOn(inside, outline)) return true;
  }
  return false;
}

/** Whether a run goes on past a failure of the step: the nearest strategy says `continue`. */
function mayGoOn(step: OutlineStep | undefined, outline: Outline): boolean {
  for (let at = step; at !== undefined; at = at.parent) {
    if (isJsonObject(at.raw.errorStrategy)) return at.raw.errorStrategy.onStepFailure === 'continue';
  }
  const { errorStrategy } = outline.blueprint;
  return isJsonObject(errorStrategy) && errorStrategy.onStepFailure === 'continue';
}

function isAround(step: OutlineStep, inner: OutlineStep | undefined): boolean {
  for (let at = inner; at !== undefined; at = at.parent) if (at === step) return true;
  return false;
}

function resultMayBeNull(step: OutlineStep, path: readonly string[], place: Place): boolean {
  const [field] = path;
  if (field === undefined) return false;
  if (path.length === 1 && ['status', 'attempts', 'ms'].includes(field)) return false;
  const ofLoop = step.type === 'loop' && ['count', 'failed', 'skipped', 'items'].includes(field);
  return path.length > 1 || !ofLoop || mayNotHaveRun(step, place);
}

/** A member of a `select` object that is null only if its author wrote null. */
function isSurelyThere(select: JsonObject, name: string): boolean {
  const member = Object.hasOwn(select, name) ? select[name] : undefined;
  if (member === undefined || member === null) return false;
  return typeof member !== 'string' || !/^\s*\{\{/.test(member);
}

/** Whether an output schema obliges the tool to answer something other than null at a path. */
function promises(schema: JsonObject, path: readonly string[]): boolean {
  let at: Json | undefined = schema;
  for (const name of path) {
    if (!isJsonObject(at) || !Array.isArray(at.required) || !at.required.includes(name)) return false;
    if (!isJsonObject(at.properties) || !Object.hasOwn(at.properties, name)) return false;
    at = at.properties[name];
  }
  return isJsonObject(at) && typeof at.type === 'string' && at.type !== 'null';
}
