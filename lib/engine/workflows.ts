/** The saved workflows: list, read, delete. */
import { quoteValue } from '../blueprint/diagnostics.ts';
import type { Json, JsonObject } from '../blueprint/json.ts';
import { BLUEPRINT_ID } from '../blueprint/limits.ts';
import type { BlueprintDocument } from '../blueprint/types.ts';
import { compileDocument } from '../compile/compile.ts';
import { getDocument } from '../store/documents.ts';
import type { Principal, WorkflowHead } from '../store/records.ts';
import { getHead, getRevision, listHeads, tombstone } from '../store/workflows.ts';
import { audited } from './audit.ts';
import { summaryOf } from './bounded.ts';
import { openCursor, sealCursor } from './cursors.ts';
import type { EngineEnvironment } from './environment.ts';
import { EngineError } from './errors.ts';
import { requireChange } from './principals.ts';
import { deleteSchedulesOf } from './remove-schedules.ts';

/** A document up to this size is answered whole, and so is a machine. */
const MAX_DOCUMENT_BYTES = 32 * 1024;
/** Descriptions are cut in a list. */
const MAX_DESCRIPTION = 200;

/** @throws EngineError NotFound when there is none, or it is deleted. */
export async function liveHead(env: EngineEnvironment, id: string): Promise<WorkflowHead> {
  const head = BLUEPRINT_ID.test(id) ? await getHead(env.store, id) : undefined;
  if (head === undefined || head.deletedAt !== undefined) {
    const why = head === undefined ? 'there is no workflow' : 'deleted: workflow';
    throw new EngineError('NotFound', `id: ${why} ${quoteValue(id)}; list_workflows has those that exist`);
  }
  return head;
}

/** The tool `list_workflows`. */
export async function listWorkflows(env: EngineEnvironment, principal: Principal, cursor?: string) {
  const query = { operation: 'list_workflows', principal: principal.id };
  const from = cursor === undefined ? undefined : await openCursor(env.config.cursorSecret, query, cursor);
  const page = await listHeads(env.store, from === undefined ? {} : { cursor: from });
  const workflows = page.heads.map((head) => ({
    id: head.workflow,
    revision: head.revision,
    ...(head.description === undefined ? {} : { description: cut(head.description) }),
    ...(head.readOnly ? { readOnly: true } : {}),
    updatedAt: head.updatedAt,
  }));
  if (page.cursor === undefined) return { workflows };
  return { workflows, nextCursor: await sealCursor(env.config.cursorSecret, query, page.cursor) };
}

function cut(text: string): string {
  return text.length <= MAX_DESCRIPTION ? text : `${text.slice(0, MAX_DESCRIPTION)}…`;
}

interface WorkflowRequest {
  id: string;
  revision?: number | undefined;
  machine?: boolean | undefined;
}

export interface WholeWorkflow {
  id: string;
  revision: number;
  /** The current revision. */
  current: number;
  hash: string;
  owner: string;
  readOnly: boolean;
  updatedAt: string;
  blueprint: JsonObject;
  tools: BlueprintDocument['tools'];
  workflows: BlueprintDocument['workflows'];
  machine?: JsonObject;
}

/** A revision of a workflow (the current one by default) whole, its machine on request. */
export async function getWorkflow(
  env: EngineEnvironment,
  _principal: Principal,
  args: WorkflowRequest,
): Promise<WholeWorkflow> {
  const head = await liveHead(env, args.id);
  const { revision, hash } = await revisionOf(env, head, args.revision, true);
  const document = await getDocument(env.store, head.workflow, hash);
  const answer = {
    id: head.workflow,
    revision,
    current: head.revision,
    hash,
    owner: head.owner.id,
    readOnly: head.readOnly,
    updatedAt: head.updatedAt,
    blueprint: document.blueprint as unknown as JsonObject,
    tools: document.tools,
    workflows: document.workflows,
  };
  if (args.machine !== true) return answer;
  const { callToolArn, functionTimeoutSeconds } = env.config;
  const { definition } = compileDocument(document, hash, { callToolArn, functionTimeoutSeconds });
  return { ...answer, machine: definition as unknown as JsonObject };
}

/** The tool `get_workflow`: what is too large for an answer comes as a summary. */
export async function showWorkflow(env: EngineEnvironment, principal: Principal, args: WorkflowRequest) {
  const { blueprint, tools, workflows, machine, ...rest } = await getWorkflow(env, principal, args);
  const summary = summaryOf({ blueprint, tools, workflows } as unknown as Json, MAX_DOCUMENT_BYTES);
  const machineSummary = machine === undefined ? undefined : summaryOf(machine, MAX_DOCUMENT_BYTES);
  return {
    ...rest,
    ...(summary === undefined ? { blueprint, tools, workflows } : { summary }),
    ...(machine === undefined || machineSummary !== undefined ? {} : { machine }),
    ...(machineSummary === undefined ? {} : { machineSummary }),
  };
}

/**
 * @param toRead whether it is only to be read: a retired one can be, and cannot be run
 * @throws EngineError NotFound when the revision was never published, or is retired.
 */
export async function revisionOf(
  env: EngineEnvironment,
  head: WorkflowHead,
  revision: number | undefined,
  toRead = false,
): Promise<{ revision: number; hash: string; stateMachineArn: string; versionArn: string }> {
  if (revision === undefined || revision === head.revision) return head;
  const record = await getRevision(env.store, head.workflow, revision);
  if (record?.state === 'RETIRED' && !toRead) {
    throw new EngineError(
      'NotFound',
      `revision ${revision} of workflow "${head.workflow}" cannot be run any more: its version was deleted to make room for newer ones; the current one is ${head.revision}, and get_workflow still shows the old blueprint`,
    );
  }
  if (
    (record?.state !== 'PUBLISHED' && record?.state !== 'RETIRED') ||
    record.versionArn === undefined ||
    record.stateMachineArn === undefined
  ) {
    throw new EngineError(
      'NotFound',
      `workflow "${head.workflow}" has no revision ${revision}; the current one is ${head.revision}`,
    );
  }
  return { ...record, stateMachineArn: record.stateMachineArn, versionArn: record.versionArn };
}

/**
 * The tool `delete_workflow`: its schedules go, then a tombstone. The machine and the numbering stay; what runs goes on.
 */
export function deleteWorkflow(env: EngineEnvironment, principal: Principal, id: string) {
  return audited(
    env,
    principal,
    { action: 'workflow.delete', workflow: id },
    () => remove(env, principal, id),
    ({ revision }) => ({ revision }),
  ).then(() => ({ id, deleted: true }));
}

async function remove(
  env: EngineEnvironment,
  principal: Principal,
  id: string,
): Promise<{ revision: number }> {
  const head = await liveHead(env, id);
  requireChange(principal, head);
  await deleteSchedulesOf(env, id);
  const deleted = await tombstone(env.store, id, head.revision, new Date(env.now()).toISOString());
  if (deleted === undefined) {
    throw new EngineError('Conflict', `workflow "${id}" was changed meanwhile; read it and try again`);
  }
  // Who made one meanwhile looks at the tombstone as well.
  await deleteSchedulesOf(env, id);
  return { revision: head.revision };
}
