/**
 * Validates, binds and compiles a blueprint against what is known of its surroundings. Pure: whoever saves has read the
 * catalog and the saved workflows from the table, synth has read the folder it ships. So what synth accepts is what saving
 * accepts, and both give a document the same hash.
 */
import { type Diagnostic, hasError } from '../blueprint/diagnostics.ts';
import type { Json } from '../blueprint/json.ts';
import { BLUEPRINT_ID } from '../blueprint/limits.ts';
import { splitWorkflowName } from '../blueprint/names.ts';
import type { Blueprint, BlueprintDocument, Step, ToolBinding } from '../blueprint/types.ts';
import { type CompileTarget, compileDocument } from '../compile/compile.ts';
import type { Estimate } from '../compile/estimate.ts';
import { type ValidationEnvironment, validateBlueprint } from '../compile/validate.ts';
import type { CatalogAnswer } from '../steps/explore-protocol.ts';
import { bindDocument } from './bind.ts';

/** A workflow that a blueprint may name, as it stands now. */
export interface KnownWorkflow {
  blueprint: Blueprint;
  hash: string;
  /** Absent at synth: the number is given when the document is deployed. */
  revision?: number;
  /** What it and all that it pins are bound to; looked at where the author has an allow-list. */
  tools?: readonly ToolBinding[];
}

export interface Surroundings {
  /** Absent: the downstream servers were not asked, and tools without a server's name stay unbound. */
  catalog?: CatalogAnswer | undefined;
  workflows: ReadonlyMap<string, KnownWorkflow>;
  target: CompileTarget;
  /** The author's allow-list of tools. Absent: all. */
  allowed?: readonly string[] | undefined;
  /** Whether the deployment owns the blueprint. Default: no. */
  stackOwned?: boolean | undefined;
}

export interface Checked {
  diagnostics: Diagnostic[];
  /** Present when there is no error. */
  valid?: { blueprint: Blueprint; document: BlueprintDocument };
  estimate?: Estimate;
}

/** Never throws for anything a blueprint can be. */
export function checkAgainst(input: Json, surroundings: Surroundings): Checked {
  const { catalog, workflows, target } = surroundings;
  const { blueprint, program, diagnostics } = validateBlueprint(input, environment(surroundings));
  if (blueprint === undefined || program === undefined || hasError(diagnostics)) return { diagnostics };
  const document = bindDocument(blueprint, program, catalog, workflows);
  const compiled = compileDocument(document, '0'.repeat(64), target);
  const all = [...diagnostics, ...compiled.diagnostics];
  if (hasError(all)) return { diagnostics: all, estimate: compiled.estimate };
  return { diagnostics: all, valid: { blueprint, document }, estimate: compiled.estimate };
}

function environment({ catalog, workflows, allowed, stackOwned }: Surroundings): ValidationEnvironment {
  return {
    ...(allowed === undefined ? {} : { allowed }),
    ...(stackOwned === undefined ? {} : { stackOwned }),
    ...(catalog === undefined ? {} : toolsOf(catalog)),
    workflows: (id: string) => workflows.get(id),
  };
}

function toolsOf(
  catalog: CatalogAnswer,
): Pick<ValidationEnvironment, 'tools' | 'serverNames' | 'unavailable'> {
  const tools = catalog.tools.map((tool) => ({
    ...tool,
    readOnly: tool.annotations.readOnlyHint === true && catalog.trusted.includes(tool.server),
  }));
  return { tools, serverNames: catalog.servers, unavailable: catalog.unavailable };
}

/** Ids of all sub-workflows that any step of a JSON value of any shape seems to call. */
export function calledWorkflows(value: unknown): string[] {
  const found = new Set<string>();
  const visit = (node: unknown, depth: number): void => {
    if (depth > 64 || typeof node !== 'object' || node === null) return;
    if (Array.isArray(node)) {
      for (const item of node) visit(item, depth + 1);
      return;
    }
    const step = node as Partial<Step> & {
      workflow?: unknown;
      do?: unknown;
      branches?: unknown;
      steps?: unknown;
    };
    if (step.type === 'call' && typeof step.workflow === 'string') {
      const { workflow } = splitWorkflowName(step.workflow);
      if (BLUEPRINT_ID.test(workflow)) found.add(workflow);
    }
    for (const inner of [step.do, step.branches, step.steps]) visit(inner, depth + 1);
  };
  visit(value, 0);
  return [...found];
}
