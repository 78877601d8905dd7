/**
 * Validation with what only the engine knows: the live catalog of tools and the saved workflows. The language's own rules
 * are in lib/compile/validate.
 */
import { hasError } from '../blueprint/diagnostics.ts';
import type { Json } from '../blueprint/json.ts';
import { checkBounds } from '../compile/validate/bounds.ts';
import { createReport } from '../compile/validate/report.ts';
import { validateBlueprint } from '../compile/validate.ts';
import { getDocument } from '../store/documents.ts';
import type { Principal } from '../store/records.ts';
import { getHead } from '../store/workflows.ts';
import { boundTools } from './bound-tools.ts';
import { shownDiagnostics } from './bounded.ts';
import { getCatalog } from './catalog.ts';
import { type Checked, calledWorkflows, checkAgainst, type KnownWorkflow } from './check-blueprint.ts';
import type { EngineEnvironment } from './environment.ts';
import { EngineError } from './errors.ts';
import { liveHead } from './workflows.ts';

/** A blueprint of 1 MB can name ten thousand of them. */
const READ_AT_ONCE = 25;

/** Reads the named workflows and, in turn, those that they name. */
async function knownWorkflows(
  env: EngineEnvironment,
  blueprint: unknown,
  withTools: boolean,
): Promise<Map<string, KnownWorkflow>> {
  const known = new Map<string, KnownWorkflow>();
  const seen = new Set<string>();
  let wanted = calledWorkflows(blueprint);
  while (wanted.length > 0) {
    const next: string[] = [];
    for (let from = 0; from < wanted.length; from += READ_AT_ONCE) {
      const ids = wanted.slice(from, from + READ_AT_ONCE).filter((id) => !seen.has(id));
      for (const id of ids) seen.add(id);
      for (const workflow of await Promise.all(ids.map((id) => readWorkflow(env, id, withTools)))) {
        if (workflow === undefined) continue;
        known.set(workflow.blueprint.id, workflow);
        next.push(...calledWorkflows(workflow.blueprint));
      }
    }
    wanted = next;
  }
  return known;
}

async function readWorkflow(
  env: EngineEnvironment,
  id: string,
  withTools: boolean,
): Promise<KnownWorkflow | undefined> {
  const head = await getHead(env.store, id);
  if (head === undefined || head.deletedAt !== undefined) return undefined;
  const { revision, hash } = head;
  const document = await getDocument(env.store, id, hash);
  const tools = withTools ? { tools: await boundTools(env.store, document) } : {};
  return { blueprint: document.blueprint, hash, revision, ...tools };
}

/**
 * Validates, binds and compiles. Never throws for anything a blueprint can be.
 * @param options.offline the downstream servers are not asked: tools without a server's name stay unbound.
 * @param options.allowed the author's allow-list of tools; absent: all.
 */
export async function checkBlueprint(
  env: EngineEnvironment,
  input: Json,
  options: { offline?: boolean; allowed?: readonly string[] | undefined; stackOwned?: boolean } = {},
): Promise<Checked> {
  // What is too large for a blueprint is refused before anything that it names is looked up.
  if (checkBounds(input, createReport()) === undefined) return validateBlueprint(input);
  const [catalog, workflows] = await Promise.all([
    options.offline === true ? undefined : getCatalog(env),
    knownWorkflows(env, input, options.allowed !== undefined),
  ]);
  const { callToolArn, functionTimeoutSeconds } = env.config;
  const target = { callToolArn, functionTimeoutSeconds };
  const { allowed, stackOwned } = options;
  return checkAgainst(input, { catalog, workflows, target, allowed, stackOwned });
}

/** The tool `validate_workflow`: a blueprint, or the current revision of a saved one against today's tools. */
export async function validateWorkflow(
  env: EngineEnvironment,
  principal: Principal,
  args: { blueprint?: Json | undefined; id?: string | undefined },
) {
  if ((args.blueprint === undefined) === (args.id === undefined)) {
    throw new EngineError('Invalid', 'give either "blueprint" or "id"');
  }
  const { blueprint, stackOwned } =
    args.blueprint === undefined
      ? await savedBlueprint(env, args.id ?? '')
      : { blueprint: args.blueprint, stackOwned: false };
  const { diagnostics, estimate } = await checkBlueprint(env, blueprint, {
    allowed: principal.tools,
    stackOwned,
  });
  const answer = {
    valid: !hasError(diagnostics),
    ...shownDiagnostics(diagnostics, 'error'),
    ...shownDiagnostics(diagnostics, 'warning'),
  };
  return estimate === undefined ? answer : { ...answer, estimate: { ...estimate } };
}

async function savedBlueprint(
  env: EngineEnvironment,
  id: string,
): Promise<{ blueprint: Json; stackOwned: boolean }> {
  const head = await liveHead(env, id);
  const document = await getDocument(env.store, id, head.hash);
  return { blueprint: document.blueprint as unknown as Json, stackOwned: head.readOnly };
}
