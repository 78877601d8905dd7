/**
 * The blueprints of a deployment, made current. By now CloudFormation has made their machines and published the versions; here
 * documents, revisions, HEADs and the records of schedules follow, and what is not shipped any more gets its tombstone.
 *
 * What always holds: applying the same request again, after a crash or not, changes nothing more; a late delivery of an old request
 * changes nothing at all; nothing is given a tombstone that the stack did not own. An id that an agent had is taken over: the
 * template decides. A rollback is an update to older documents, and so a new revision with an older content.
 */
import { z } from 'zod';
import { BLUEPRINT_ID } from '../blueprint/limits.ts';
import type { BlueprintDocument } from '../blueprint/types.ts';
import { beginDeployment, endDeployment, isNewestDeployment } from '../store/deployments.ts';
import type { WorkflowHead } from '../store/records.ts';
import { getHead, tombstone } from '../store/workflows.ts';
import { audit } from './audit.ts';
import type { EngineEnvironment } from './environment.ts';
import { EngineError } from './errors.ts';
import { STACK_PRINCIPAL } from './principals.ts';
import { publish } from './publish.ts';
import { deleteSchedulesOf } from './remove-schedules.ts';
import { putStackSchedules } from './stack-schedules.ts';

/** One blueprint as the template names it; the document itself is in the function's asset, by its hash. */
export const stackBlueprint = z.object({
  id: z.string().regex(BLUEPRINT_ID),
  hash: z.string().regex(/^[0-9a-f]{64}$/),
  stateMachineArn: z.string().min(1),
  versionArn: z.string().min(1),
});

export type StackBlueprint = z.infer<typeof stackBlueprint>;

export interface StackDeployment {
  /** CloudFormation's id of the request: the same when it is delivered again. */
  request: string;
  /** Sub-workflows before the workflows that call them. */
  blueprints: readonly StackBlueprint[];
}

/** The document with a hash, as it was compiled at synth. Rejects where there is none. */
export type ReadStackDocument = (hash: string) => Promise<BlueprintDocument>;

/** Times that a blueprint is published anew because an agent was saving under its id. */
const TRIES = 5;

/**
 * @returns what was done, in one line
 * @throws EngineError Conflict where a newer deployment has come
 */
export async function applyStackBlueprints(
  env: EngineEnvironment,
  { request, blueprints }: StackDeployment,
  readDocument: ReadStackDocument,
): Promise<string> {
  const ids = blueprints.map(({ id }) => id);
  const { standing, owned } = await beginDeployment(env.store, request, ids);
  if (standing === 'applied') return 'applied before';
  if (standing === 'old') throw superseded();
  let published = 0;
  for (const blueprint of blueprints) {
    // A request that was given up by CloudFormation may still be under way when the next one comes.
    if (!(await isNewestDeployment(env.store, request))) throw superseded();
    const document = await readDocument(blueprint.hash);
    if (document.blueprint.id !== blueprint.id) {
      throw new Error(`the document of "${blueprint.id}" is one of "${document.blueprint.id}"`);
    }
    if (await makeCurrent(env, blueprint, document)) published += 1;
  }
  let removed = 0;
  for (const id of owned.filter((each) => !ids.includes(each))) {
    if (!(await isNewestDeployment(env.store, request))) throw superseded();
    if (await remove(env, id)) removed += 1;
  }
  await endDeployment(env.store, request, ids);
  return `${published} published, ${blueprints.length - published} unchanged, ${removed} removed`;
}

function superseded(): EngineError {
  return new EngineError('Conflict', 'a newer deployment has come since; this one changes nothing more');
}

/** @returns false where it was current already. */
async function makeCurrent(
  env: EngineEnvironment,
  blueprint: StackBlueprint,
  document: BlueprintDocument,
): Promise<boolean> {
  const { id, stateMachineArn, versionArn } = blueprint;
  for (let tries = 1; ; tries += 1) {
    const before = await getHead(env.store, id);
    const current = before !== undefined && isCurrent(before, blueprint);
    if (before !== undefined && !before.readOnly && tries === 1) tellTakeover(env, before);
    const head = current ? before : await tryPublish(env, blueprint, document, before, tries);
    if (head === undefined) continue;
    // Those that an agent had made fire for revisions of its own, and nobody could delete them any more.
    await deleteSchedulesOf(env, id);
    const pin = { workflow: id, revision: head.revision, versionArn };
    const at = new Date(env.now()).toISOString();
    await putStackSchedules(env.store, pin, document.blueprint.schedules ?? [], at);
    if (!current)
      audit(env, STACK_PRINCIPAL, { action: 'stack.publish', workflow: id, revision: head.revision });
    env.log({
      level: 'info',
      event: 'stack-blueprint',
      workflow: id,
      revision: head.revision,
      stateMachineArn,
    });
    return !current;
  }
}

/** The same document can have another machine: another time limit, another compiler. */
function isCurrent(head: WorkflowHead, { hash, versionArn }: StackBlueprint): boolean {
  return (
    head.hash === hash && head.versionArn === versionArn && head.readOnly && head.deletedAt === undefined
  );
}

/** @returns undefined where somebody else was saving, to be tried again. */
async function tryPublish(
  env: EngineEnvironment,
  { hash, stateMachineArn, versionArn }: StackBlueprint,
  document: BlueprintDocument,
  head: WorkflowHead | undefined,
  tries: number,
): Promise<WorkflowHead | undefined> {
  const publication = { document, hash, head, readOnly: true, patienceMs: 0 };
  try {
    return await publish(env, STACK_PRINCIPAL, publication, async () => ({ stateMachineArn, versionArn }));
  } catch (error) {
    if (tries < TRIES && error instanceof EngineError && error.code === 'Conflict') return undefined;
    throw error;
  }
}

function tellTakeover(env: EngineEnvironment, { workflow, owner, revision }: WorkflowHead): void {
  env.log({
    level: 'warn',
    event: 'stack-blueprint-takeover',
    workflow,
    owner: owner.id,
    revision,
    message:
      'the workflow belonged to an agent; from now on the deployment owns it, and schedules that agents made of it are gone',
  });
}

/** @returns false where it is not the stack's, or gone already. */
async function remove(env: EngineEnvironment, id: string): Promise<boolean> {
  const at = new Date(env.now()).toISOString();
  const head = await getHead(env.store, id);
  if (head === undefined || !head.readOnly || head.owner.id !== STACK_PRINCIPAL.id) return false;
  const pin = { workflow: id, revision: head.revision, versionArn: head.versionArn };
  await putStackSchedules(env.store, pin, [], at);
  if (head.deletedAt !== undefined) return false;
  if ((await tombstone(env.store, id, head.revision, at)) === undefined) throw superseded();
  audit(env, STACK_PRINCIPAL, { action: 'stack.remove', workflow: id, revision: head.revision });
  return true;
}
