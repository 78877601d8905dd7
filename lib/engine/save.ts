/**
 * Saving a blueprint, in an order that a crash at any point leaves repairable:
 *
 *   1 document to S3 (by hash)   2 revision n PENDING   3 state machine updated and version published   4 HEAD
 *
 * The same hash as HEAD is answered with HEAD. A revision that a crash left PENDING is finished by the next save of the
 * same content and expired by a save of another.
 */
import {
  ConflictException,
  CreateStateMachineCommand,
  type CreateStateMachineCommandInput,
  UpdateStateMachineCommand,
} from '@aws-sdk/client-sfn';
import { documentHash } from '../blueprint/canonical.ts';
import { isJsonObject, type Json } from '../blueprint/json.ts';
import type { BlueprintDocument } from '../blueprint/types.ts';
import { compileDocument } from '../compile/compile.ts';
import { putDocument } from '../store/documents.ts';
import type { Principal, WorkflowHead, WorkflowRevision } from '../store/records.ts';
import {
  commitHead,
  expireRevision,
  getHead,
  latestRevision,
  publishRevision,
  putRevision,
} from '../store/workflows.ts';
import { audited } from './audit.ts';
import { type ShownDiagnostic, shownDiagnostics } from './bounded.ts';
import type { EngineEnvironment, MachineOptions } from './environment.ts';
import { EngineError } from './errors.ts';
import { requireChange } from './principals.ts';
import { checkBlueprint } from './validate.ts';

/** A save takes seconds; one that is pending for longer has crashed. */
const STALE_PENDING_MS = 60_000;

export interface Saved {
  [key: string]: unknown;
  id: string;
  revision: number;
  hash: string;
  /** True when this content already was the current revision. */
  unchanged?: boolean;
  warnings: ShownDiagnostic[];
  /** Where there are more warnings than are shown. */
  warningCount?: number;
}

/**
 * The tool `create_workflow`.
 * @param options.readOnly the blueprint belongs to the deployment: agents cannot change it.
 * @throws EngineError Invalid with every diagnostic, Forbidden, Conflict when another save is under way.
 */
export function saveBlueprint(
  env: EngineEnvironment,
  principal: Principal,
  input: Json,
  options: { readOnly?: boolean } = {},
): Promise<Saved> {
  const id = isJsonObject(input) && typeof input.id === 'string' ? input.id : undefined;
  return audited(
    env,
    principal,
    { action: 'workflow.save', workflow: id },
    () => save(env, principal, input, options),
    ({ unchanged, revision }) => (unchanged === true ? undefined : { revision }),
  );
}

async function save(
  env: EngineEnvironment,
  principal: Principal,
  input: Json,
  options: { readOnly?: boolean },
): Promise<Saved> {
  const { diagnostics, valid } = await checkBlueprint(env, input, {
    // The deployment's own blueprints name their servers, and must not wait for them to start.
    offline: options.readOnly === true,
    stackOwned: options.readOnly === true,
    allowed: principal.tools,
  });
  if (valid === undefined) {
    const errors = diagnostics.filter((d) => d.severity === 'error');
    const message = `the blueprint is not saved: ${errors.length} ${errors.length === 1 ? 'error' : 'errors'}`;
    const forbidden = errors.every((d) => d.code === 'BP608');
    throw new EngineError(forbidden ? 'Forbidden' : 'Invalid', message, { diagnostics });
  }
  const { document } = valid;
  const warnings = shownDiagnostics(diagnostics, 'warning');
  const id = document.blueprint.id;
  const hash = documentHash(document);
  const head = await getHead(env.store, id);
  const readOnly = options.readOnly === true;
  if (head?.hash === hash && head.deletedAt === undefined && (head.readOnly || !readOnly)) {
    return { id, revision: head.revision, hash, unchanged: true, ...warnings };
  }
  if (head !== undefined && !readOnly) requireChange(principal, head);
  const next = await publish(env, principal, document, hash, head, readOnly);
  return { id, revision: next.revision, hash, ...warnings };
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
  const revision = await openRevision(env, id, hash, principal);
  const machine = await putMachine(env, document, hash);
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

function busy(id: string): EngineError {
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
): Promise<number> {
  const latest = await latestRevision(env.store, workflow);
  if (latest?.state === 'PENDING') {
    if (latest.hash === hash) return latest.revision;
    if (env.now() - Date.parse(latest.createdAt) < STALE_PENDING_MS) throw busy(workflow);
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

interface Machine {
  stateMachineArn: string;
  versionArn: string;
}

/** Creates or updates the state machine and publishes a version that carries the hash. */
async function putMachine(
  env: EngineEnvironment,
  document: BlueprintDocument,
  hash: string,
): Promise<Machine> {
  const { machinePrefix, roleArn, callToolArn, functionTimeoutSeconds } = env.config;
  const { text } = compileDocument(document, hash, { callToolArn, functionTimeoutSeconds });
  const name = `${machinePrefix}${document.blueprint.id}`;
  const arn = `arn:aws:states:${env.config.region}:${env.config.accountId}:stateMachine:${name}`;
  const observed = observation(env.config.machines);
  const created = await createMachine(env.sfn, { name, definition: text, roleArn, ...observed }, hash);
  if (created !== undefined) return created;
  const update = new UpdateStateMachineCommand({
    stateMachineArn: arn,
    definition: text,
    roleArn,
    ...observed,
    publish: true,
    versionDescription: hash,
  });
  const updated = await env.sfn.send(update).catch((error: unknown) => {
    // Two updates at once: Step Functions takes one of them.
    if (error instanceof ConflictException) throw busy(document.blueprint.id);
    throw error;
  });
  return { stateMachineArn: arn, versionArn: versionOf(updated.stateMachineVersionArn) };
}

type Observation = Pick<CreateStateMachineCommandInput, 'loggingConfiguration' | 'tracingConfiguration'>;

/** Source: API reference, LoggingConfiguration (one destination) and TracingConfiguration. */
function observation(machines: MachineOptions | undefined): Observation {
  if (machines === undefined) return {};
  const { logGroupArn, includeData, tracing } = machines;
  const tracingConfiguration = { enabled: tracing };
  if (logGroupArn === undefined) return { tracingConfiguration };
  const destinations = [{ cloudWatchLogsLogGroup: { logGroupArn } }];
  return {
    tracingConfiguration,
    loggingConfiguration: { level: 'ALL', includeExecutionData: includeData, destinations },
  };
}

/** @returns undefined when there is a machine of that name already. */
async function createMachine(
  sfn: EngineEnvironment['sfn'],
  machine: { name: string; definition: string; roleArn: string } & Observation,
  hash: string,
): Promise<Machine | undefined> {
  try {
    const created = await sfn.send(
      new CreateStateMachineCommand({
        ...machine,
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
    return undefined;
  }
}

function versionOf(arn: string | undefined): string {
  if (arn === undefined) throw new Error('Step Functions published no version');
  return arn;
}
