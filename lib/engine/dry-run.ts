/** A dry run: what a run would call, with what, without changing anything. It leaves no run record. */
import type { JsonObject } from '../blueprint/json.ts';
import { resolveParams } from '../blueprint/params.ts';
import { getDocument } from '../store/documents.ts';
import type { Principal } from '../store/records.ts';
import { requireTools } from './bound-tools.ts';
import { dryRun } from './catalog.ts';
import type { EngineEnvironment } from './environment.ts';
import { EngineError } from './errors.ts';
import { requireScope } from './principals.ts';
import { liveHead, revisionOf } from './workflows.ts';

/** @throws EngineError Forbidden, NotFound, Invalid (parameters) */
export async function dryRunWorkflow(
  env: EngineEnvironment,
  principal: Principal,
  request: { id: string; params?: JsonObject | undefined; revision?: number | undefined; hops: number },
) {
  // Its answer shows the inside of the blueprint, which starting a run does not.
  requireScope(principal, 'workflows:read');
  const head = await liveHead(env, request.id);
  const { hash, revision } = await revisionOf(env, head, request.revision);
  const document = await getDocument(env.store, head.workflow, hash);
  requireTools(principal, document);
  const { params, problems } = resolveParams(document.blueprint.params ?? {}, request.params);
  if (problems.length > 0) throw new EngineError('Invalid', problems.join('; '));
  const answer = await dryRun(env, {
    workflow: head.workflow,
    revision,
    hash,
    params,
    hops: request.hops,
    ...(principal.tools === undefined ? {} : { allowed: principal.tools }),
  });
  return { dryRun: true, id: head.workflow, revision, ...answer };
}
