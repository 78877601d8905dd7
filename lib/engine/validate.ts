/**
 * Validation with what only the engine knows: the live catalog of tools and the saved workflows. The language's own rules
 * are in lib/compile/validate.
 */
import type { Diagnostic } from '../blueprint/diagnostics.ts';
import type { Json } from '../blueprint/json.ts';
import { BLUEPRINT_ID } from '../blueprint/limits.ts';
import { splitWorkflowName } from '../blueprint/names.ts';
import type { Blueprint, BlueprintDocument, Step } from '../blueprint/types.ts';
import { compileDocument } from '../compile/compile.ts';
import type { Estimate } from '../compile/estimate.ts';
import { checkBounds } from '../compile/validate/bounds.ts';
import { createReport } from '../compile/validate/report.ts';
import { type ValidationEnvironment, validateBlueprint } from '../compile/validate.ts';
import type { CatalogAnswer } from '../steps/explore-protocol.ts';
import { getDocument } from '../store/documents.ts';
import type { Principal, WorkflowHead } from '../store/records.ts';
import { getHead } from '../store/workflows.ts';
import { bindDocument } from './bind.ts';
import { shownDiagnostics } from './bounded.ts';
import { getCatalog } from './catalog.ts';
import type { EngineEnvironment } from './environment.ts';
import { EngineError } from './errors.ts';
import { liveHead } from './workflows.ts';

/** A blueprint of 1 MB can name ten thousand of them. */
const READ_AT_ONCE = 25;

/** A saved workflow that a blueprint names, as it stands now. */
export interface KnownWorkflow {
  head: WorkflowHead;
  document: BlueprintDocument;
}

export interface Checked {
  diagnostics: Diagnostic[];
  /** Present when there is no error. */
  valid?: { blueprint: Blueprint; document: BlueprintDocument };
  estimate?: Estimate;
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

/** Reads the named workflows and, in turn, those that they name. */
async function knownWorkflows(
  env: EngineEnvironment,
  blueprint: unknown,
): Promise<Map<string, KnownWorkflow>> {
  const known = new Map<string, KnownWorkflow>();
  const seen = new Set<string>();
  let wanted = calledWorkflows(blueprint);
  while (wanted.length > 0) {
    const next: string[] = [];
    for (let from = 0; from < wanted.length; from += READ_AT_ONCE) {
      const ids = wanted.slice(from, from + READ_AT_ONCE).filter((id) => !seen.has(id));
      for (const id of ids) seen.add(id);
      for (const workflow of await Promise.all(ids.map((id) => readWorkflow(env, id)))) {
        if (workflow === undefined) continue;
        known.set(workflow.head.workflow, workflow);
        next.push(...calledWorkflows(workflow.document.blueprint));
      }
    }
    wanted = next;
  }
  return known;
}

async function readWorkflow(env: EngineEnvironment, id: string): Promise<KnownWorkflow | undefined> {
  const head = await getHead(env.store, id);
  if (head === undefined || head.deletedAt !== undefined) return undefined;
  return { head, document: await getDocument(env.store, id, head.hash) };
}

function environment(
  catalog: CatalogAnswer | undefined,
  known: Map<string, KnownWorkflow>,
): ValidationEnvironment {
  return {
    ...(catalog === undefined ? {} : toolsOf(catalog)),
    workflows: (id: string) => {
      const found = known.get(id);
      return found && { blueprint: found.document.blueprint, revision: found.head.revision };
    },
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

/**
 * Validates, binds and compiles. Never throws for anything a blueprint can be.
 * @param options.offline the downstream servers are not asked: tools without a server's name stay unbound.
 */
export async function checkBlueprint(
  env: EngineEnvironment,
  input: Json,
  options: { offline?: boolean } = {},
): Promise<Checked> {
  // What is too large for a blueprint is refused before anything that it names is looked up.
  if (checkBounds(input, createReport()) === undefined) return validateBlueprint(input);
  const [catalog, known] = await Promise.all([
    options.offline === true ? undefined : getCatalog(env),
    knownWorkflows(env, input),
  ]);
  const { blueprint, program, diagnostics } = validateBlueprint(input, environment(catalog, known));
  if (blueprint === undefined || program === undefined || hasError(diagnostics)) return { diagnostics };
  const document = bindDocument(blueprint, program, catalog, known);
  const compiled = compileDocument(document, '0'.repeat(64), {
    callToolArn: env.config.callToolArn,
    functionTimeoutSeconds: env.config.functionTimeoutSeconds,
  });
  const all = [...diagnostics, ...compiled.diagnostics];
  if (hasError(all)) return { diagnostics: all, estimate: compiled.estimate };
  return { diagnostics: all, valid: { blueprint, document }, estimate: compiled.estimate };
}

function hasError(diagnostics: readonly Diagnostic[]): boolean {
  return diagnostics.some((d) => d.severity === 'error');
}

/** The tool `validate_workflow`: a blueprint, or the current revision of a saved one against today's tools. */
export async function validateWorkflow(
  env: EngineEnvironment,
  _principal: Principal,
  args: { blueprint?: Json | undefined; id?: string | undefined },
) {
  if ((args.blueprint === undefined) === (args.id === undefined)) {
    throw new EngineError('Invalid', 'give either "blueprint" or "id"');
  }
  const blueprint = args.blueprint ?? (await savedBlueprint(env, args.id ?? ''));
  const { diagnostics, estimate } = await checkBlueprint(env, blueprint);
  const answer = {
    valid: !hasError(diagnostics),
    ...shownDiagnostics(diagnostics, 'error'),
    ...shownDiagnostics(diagnostics, 'warning'),
  };
  return estimate === undefined ? answer : { ...answer, estimate: { ...estimate } };
}

async function savedBlueprint(env: EngineEnvironment, id: string): Promise<Json> {
  const head = await liveHead(env, id);
  const document = await getDocument(env.store, id, head.hash);
  return document.blueprint as unknown as Json;
}
