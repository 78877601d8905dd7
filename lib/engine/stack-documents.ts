/**
 * The blueprints that the deployment owns, compiled: a folder of files in, documents with their hashes out. Pure, and what saving
 * does is done here by the same code, so a hash at synth is the hash at run time.
 *
 * Beside the language's rules these hold, for nothing may be left to what a server says at run time, or to what an agent has saved:
 * tools name their server, sub-workflows are blueprints of the folder, and a file is named after its blueprint.
 */
import { documentHash } from '../blueprint/canonical.ts';
import type { Diagnostic } from '../blueprint/diagnostics.ts';
import { isJsonObject, type Json } from '../blueprint/json.ts';
import { nearestName } from '../blueprint/suggest.ts';
import type { Blueprint, BlueprintDocument } from '../blueprint/types.ts';
import type { CompileTarget } from '../compile/compile.ts';
import { parseProgram } from '../compile/parse.ts';
import { validateBlueprint } from '../compile/validate.ts';
import { jsonPlace } from '../downstream/json-place.ts';
import { calledWorkflows, checkAgainst, type KnownWorkflow } from './check-blueprint.ts';

export interface StackFile {
  /** Name in the folder. */
  file: string;
  text: string;
}

export interface StackDocument {
  id: string;
  file: string;
  hash: string;
  document: BlueprintDocument;
  warnings: Diagnostic[];
}

/** What keeps one file from being deployed. */
export interface FileFault {
  file: string;
  faults: Fault[];
}

/** A diagnostic, or what is wrong for the deployment alone. The message begins with the place. */
export type Fault = Pick<Diagnostic, 'pointer' | 'message' | 'hint'> & { code?: Diagnostic['code'] };

/** Sub-workflows stand before the workflows that call them. */
export type StackFolder = { documents: StackDocument[] } | { faults: FileFault[] };

interface Parsed {
  file: string;
  id: string;
  json: Json;
  /** What the file holds, where it is valid by itself. */
  blueprint?: Blueprint | undefined;
}

/** Compiles the files of a folder, in whatever order they come. Never throws for anything that a file can hold. */
export function compileStackFolder(files: readonly StackFile[], target: CompileTarget): StackFolder {
  const faults: FileFault[] = [];
  const all: Parsed[] = [];
  for (const { file, text } of files) {
    const read = parseFile(file, text);
    if ('fault' in read) faults.push({ file, faults: [read.fault] });
    else all.push(read);
  }
  const documents: StackDocument[] = [];
  for (const each of subWorkflowsFirst(all)) {
    const compiled = compileFile(each, documents, all, target);
    if ('faults' in compiled) faults.push(compiled);
    else documents.push(compiled);
  }
  if (faults.length === 0) return { documents };
  // A file that only waits for another's faults to be mended has none to tell of.
  return { faults: faults.filter((each) => each.faults.length > 0).sort(byFile) };
}

const byFile = (a: { file: string }, b: { file: string }): number => (a.file < b.file ? -1 : 1);

function parseFile(file: string, text: string): Parsed | { fault: Fault } {
  let json: Json;
  try {
    json = JSON.parse(text.replace(/^\uFEFF/, '')) as Json;
  } catch {
    const message = `blueprint: it is not JSON${jsonPlace(text)}`;
    return {
      fault: { pointer: '', message, hint: 'mend it there; JSON has no comments and no comma at an end' },
    };
  }
  return { file, json, id: idOf(json), blueprint: validateBlueprint(json, { stackOwned: true }).blueprint };
}

/** In the order of the files, but sub-workflows first. A circle is left where it is met: validation tells of it. */
export function subWorkflowsFirst<T extends { file: string; json: Json }>(all: readonly T[]): T[] {
  const sorted = [...all].sort(byFile);
  const byId = new Map(sorted.map((each) => [idOf(each.json), each]));
  const order = new Set<T>();
  const begun = new Set<T>();
  const visit = (each: T): void => {
    if (begun.has(each)) return;
    begun.add(each);
    const children = isJsonObject(each.json) ? calledWorkflows(each.json.steps) : [];
    for (const id of children) {
      const child = byId.get(id);
      if (child !== undefined) visit(child);
    }
    order.add(each);
  };
  for (const each of sorted) visit(each);
  return [...order];
}

function idOf(json: Json): string {
  return isJsonObject(json) && typeof json.id === 'string' ? json.id : '';
}

function compileFile(
  { file, id, json, blueprint }: Parsed,
  documents: readonly StackDocument[],
  all: readonly Parsed[],
  target: CompileTarget,
): StackDocument | FileFault {
  const workflows = surroundings(documents, all);
  const { diagnostics, valid } = checkAgainst(json, { workflows, target, stackOwned: true });
  // Of a sub-workflow that is not in the folder the rules below say more.
  const errors = diagnostics.filter(({ severity, code }) => severity === 'error' && code !== 'BP504');
  const rules = blueprint === undefined ? [] : [...misnamed(file, id), ...unbound(blueprint, all)];
  const faults = [...errors, ...rules];
  if (faults.length > 0 || valid === undefined) return { file, faults };
  const { document } = valid;
  const warnings = diagnostics.filter(({ severity }) => severity === 'warning');
  return { id, file, hash: documentHash(document), document, warnings };
}

/** The blueprints of the folder: with their hashes where they have been compiled, and for what is around a circle without. */
function surroundings(
  documents: readonly StackDocument[],
  all: readonly Parsed[],
): ReadonlyMap<string, KnownWorkflow> {
  const known = new Map<string, KnownWorkflow>();
  for (const { id, blueprint } of all) if (blueprint !== undefined) known.set(id, { blueprint, hash: '' });
  for (const { id, document, hash } of documents) known.set(id, { blueprint: document.blueprint, hash });
  return known;
}

/** Whoever is refused a change is told the file by the blueprint's name; so no two files hold the same one either. */
function misnamed(file: string, id: string): Fault[] {
  if (file === `${id}.json`) return [];
  const message = `id: the file is ${file}, and its blueprint is "${id}"`;
  return [{ pointer: '/id', message, hint: `name the file ${id}.json, or the blueprint after the file` }];
}

function unbound(blueprint: Blueprint, all: readonly Parsed[]): Fault[] {
  const ids = all.map(({ id }) => id);
  const faults: Fault[] = [];
  for (const node of parseProgram(blueprint).byId.values()) {
    if (node.type !== 'call') continue;
    if (node.call === 'tool' && node.server === undefined) {
      const pointer = `${node.pointer}/tool`;
      faults.push({
        pointer,
        message: `${pointer.slice(1)}: "${node.tool}" names no server, and what the deployment owns must not depend on which servers can be reached`,
        hint: `write "SERVER/${node.tool}", with the server's name in mcp.json`,
      });
    }
    if (node.call === 'workflow' && !ids.includes(node.workflow)) {
      const pointer = `${node.pointer}/workflow`;
      const near = nearestName(node.workflow, ids);
      const meant = near === undefined ? '' : `. Did you mean "${near}"?`;
      faults.push({
        pointer,
        message: `${pointer.slice(1)}: there is no ${node.workflow}.json beside it, and what the deployment owns calls only what it owns${meant}`,
        hint: `ship ${node.workflow}.json in the same folder${near === undefined ? '' : `, or write "${near}"`}`,
      });
    }
  }
  return faults;
}
