/**
 * Publishing a document as the next revision of its workflow, in an order that a crash at any point leaves repairable:
 *
 *   1 document to S3 (by hash)   2 revision n PENDING   3 state machine updated and version published   4 HEAD
 *
 * The third is whoever's machine it is: saving makes one, a deployment has made it by then. A revision that a crash left PENDING
 * is finished by the next try with the same content and expired by one with another.
 */
import type { BlueprintDocument } from '../blueprint/types.ts';
import { putDocument } from '../store/documents.ts';
import type { Principal, WorkflowHead, WorkflowRevision } from '../store/records.ts';
import {
  commitHead,
  expireRevision,
  latestRevision,
  publishRevision,
  putRevision,
} from '../store/workflows.ts';
import type { EngineEnvironment } from './environment.ts';
import { EngineError } from './errors.ts';

/** A save takes seconds; one that is pending for longer has crashed. */
const STALE_PENDING_MS = 60_000;

export interface Machine {
  stateMachineArn: string;
  versionArn: string;
}

export interface Publication {
  document: BlueprintDocument;
  hash: string;
  /** As it was read before; undefined: there was none. */
  head: WorkflowHead | undefined;
  /** Owned by the stack. */
  readOnly: boolean;
  /** How long a save of other content is left to end by itself. Default: a minute. */
  patienceMs?: number;
}

/** @returns the new HEAD. @throws EngineError Conflict where somebody else publishes at the same time */
export async function publish(
  env: EngineEnvironment,
  principal: Principal,
  { document, hash, head, readOnly, patienceMs = STALE_PENDING_MS }: Publication,
  machineOf: () => Promise<Machine>,
): Promise<WorkflowHead> {
  const { id, description } = document.blueprint;
  const now = new Date(env.now()).toISOString();
  await putDocument(env.store, id, hash, document);
  const revision = await openRevision(env, id, hash, principal, patienceMs);
  const machine = await machineOf();
  const published = await publishRevision(env.store, id, revision, { hash, principal, ...machine });
  if (published === undefined) throw busy(id);
  const next: WorkflowHead = {
    workflow: id,
    // The id stays its owner's, past a deletion too: steps that float on it must not run what a stranger saves. An owner that
    // saves again is recorded anew, for console starts have the allow-list that stands here.
    owner: readOnly || head?.owner.id === principal.id ? principal : (head?.owner ?? principal),
    ...(description === undefined ? {} : { description }),
    revision,
    hash,
    ...machine,
    readOnly,
    createdAt: head?.createdAt ?? now,
    updatedAt: now,
  };
  if (!(await commitHead(env.store, next, head?.revision))) throw busy(id);
  return next;
}

export function busy(id: string): EngineError {
  return new EngineError(
    'Conflict',
    `workflow "${id}" is being saved by somebody else at this moment; read it and try again`,
  );
}

/**
 * Takes the next revision number. A PENDING revision of the same content is a save that a crash cut short: it is
 * finished. One of other content is left to its own save for a minute, then expired.
 */
async function openRevision(
  env: EngineEnvironment,
  workflow: string,
  hash: string,
  principal: Principal,
  patienceMs: number,
): Promise<number> {
  const latest = await latestRevision(env.store, workflow);
  if (latest?.state === 'PENDING') {
    if (latest.hash === hash) return latest.revision;
    if (env.now() - Date.parse(latest.createdAt) < patienceMs) throw busy(workflow);
    if (!(await expireRevision(env.store, workflow, latest.revision))) throw busy(workflow);
  }
  const revision: WorkflowRevision = {
    workflow,
    revision: (latest?.revision ?? 0) + 1,
    hash,
    principal,
    state: 'PENDING',
    createdAt: new Date(env.now()).toISOString(),
  };
  if (!(await putRevision(env.store, revision))) throw busy(workflow);
  return revision.revision;
}
