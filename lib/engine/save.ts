/**
 * Saving a blueprint, in an order that a crash at any point leaves repairable:
 *
 *   1 document to S3 (by hash)   2 revision n PENDING   3 state machine updated and version published   4 HEAD
 *
 * The same hash as HEAD is answered with HEAD. A revision that a crash left PENDING is finished by the next save of the
 * same content and expired by a save of another.
 */
import { CreateStateMachineCommand, type SFNClient, UpdateStateMachineCommand } from '@aws-sdk/client-sfn';
import { documentHash } from '../blueprint/canonical.ts';
import type { Diagnostic } from '../blueprint/diagnostics.ts';
import type { Json } from '../blueprint/json.ts';
import type { BlueprintDocument } from '../blueprint/types.ts';
import { compileDocument } from '../compile/compile.ts';
import { putDocument } from '../store/documents.ts';
import type { Principal, WorkflowHead } from '../store/records.ts';
import { commitHead, getHead, openRevision, publishRevision } from '../store/workflows.ts';
import type { EngineEnvironment } from './environment.ts';
import { EngineError } from './errors.ts';
import { requireChange } from './principals.ts';
import { checkBlueprint } from './validate.ts';

export interface Saved {
  [key: string]: unknown;
  id: string;
  revision: number;
  hash: string;
  /** True when this content already was the current revision. */
  unchanged?: boolean;
  warnings: Diagnostic[];
}

/**
 * The tool `create_workflow`.
 * @param options.readOnly the blueprint belongs to the deployment: agents cannot change it.
 * @throws EngineError Invalid with every diagnostic, Forbidden, Conflict when another save is under way.
 */
export async function saveBlueprint(
  env: EngineEnvironment,
  principal: Principal,
  input: Json,
  options: { readOnly?: boolean } = {},
): Promise<Saved> {
  const { diagnostics, valid } = await checkBlueprint(env, input);
  if (valid === undefined) {
    const count = diagnostics.filter((d) => d.severity === 'error').length;
    const message = `the blueprint is not saved: ${count} ${count === 1 ? 'error' : 'errors'}`;
    throw new EngineError('Invalid', message, { diagnostics });
  }
  const { document } = valid;
  const id = document.blueprint.id;
  const hash = documentHash(document);
  const head = await getHead(env.store, id);
  if (head !== undefined && head.deletedAt === undefined && head.hash === hash) {
    return { id, revision: head.revision, hash, unchanged: true, warnings: diagnostics };
  }
  if (head !== undefined && options.readOnly !== true) requireChange(principal, head);
  const next = await publish(env, principal, document, hash, head, options.readOnly === true);
  return { id, revision: next.revision, hash, warnings: diagnostics };
}

async function publish(
  env: EngineEnvironment,
  principal: Principal,
  document: BlueprintDocument,
  hash: string,
  head: WorkflowHead | undefined,
  readOnly: boolean,
): Promise<WorkflowHead> {
  const { id, description } = document.blueprint;
  const now = new Date(env.now()).toISOString();
  await putDocument(env.store, id, hash, document);
  const revision = await openRevision(env.store, {
    workflow: id,
    after: head?.revision ?? 0,
    hash,
    principal,
    now,
  });
  if (revision === undefined) {
    throw new EngineError('Conflict', `workflow "${id}" is being saved by somebody else; try again`);
  }
  const machine = await putMachine(env, document, hash);
  await publishRevision(env.store, { ...revision, ...machine, state: 'PUBLISHED' });
  const next: WorkflowHead = {
    workflow: id,
    owner: head === undefined || head.deletedAt !== undefined ? principal : head.owner,
    ...(description === undefined ? {} : { description }),
    revision: revision.revision,
    hash,
    ...machine,
    readOnly,
    createdAt: head?.createdAt ?? now,
    updatedAt: now,
  };
  if (!(await commitHead(env.store, next, head))) {
    throw new EngineError(
      'Conflict',
      `workflow "${id}" was saved by somebody else meanwhile; read it and try again`,
    );
  }
  return next;
}

/** Creates or updates the state machine and publishes a version that carries the hash. */
async function putMachine(env: EngineEnvironment, document: BlueprintDocument, hash: string) {
  const { machinePrefix, roleArn, callToolArn, functionTimeoutSeconds } = env.config;
  const { text } = compileDocument(document, hash, { callToolArn, functionTimeoutSeconds });
  const name = `${machinePrefix}${document.blueprint.id}`;
  const arn = `arn:aws:states:${env.config.region}:${env.config.accountId}:stateMachine:${name}`;
  const existing = await createMachine(env.sfn, { name, arn, definition: text, roleArn, hash });
  if ('versionArn' in existing) return existing;
  const { stateMachineArn } = existing;
  const updated = await env.sfn.send(
    new UpdateStateMachineCommand({
      stateMachineArn,
      definition: text,
      roleArn,
      publish: true,
      versionDescription: hash,
    }),
  );
  return { stateMachineArn, versionArn: versionOf(updated.stateMachineVersionArn) };
}

async function createMachine(
  sfn: SFNClient,
  machine: { name: string; arn: string; definition: string; roleArn: string; hash: string },
) {
  const { name, arn, definition, roleArn, hash } = machine;
  try {
    const created = await sfn.send(
      new CreateStateMachineCommand({
        name,
        definition,
        roleArn,
        type: 'STANDARD',
        publish: true,
        versionDescription: hash,
      }),
    );
    return {
      stateMachineArn: created.stateMachineArn ?? '',
      versionArn: versionOf(created.stateMachineVersionArn),
    };
  } catch (error) {
    if (!(error instanceof Error) || error.name !== 'StateMachineAlreadyExists') throw error;
    return { stateMachineArn: arn };
  }
}

function versionOf(arn: string | undefined): string {
  if (arn === undefined) throw new Error('Step Functions published no version');
  return arn;
}
