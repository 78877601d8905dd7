/**
 * Starting a run. The record comes first, then the execution, so that a crash in between leaves a record that a repeat
 * completes: the same key starts the recorded version again and takes "already exists" as success.
 */
import { createHash } from 'node:crypto';
import { StartExecutionCommand } from '@aws-sdk/client-sfn';
import { canonicalJson } from '../blueprint/canonical.ts';
import type { JsonObject } from '../blueprint/json.ts';
import { resolveParams } from '../blueprint/params.ts';
import { getDocument } from '../store/documents.ts';
import type { Principal, RunRecord } from '../store/records.ts';
import { keyedRunId, randomRunId } from '../store/run-id.ts';
import { createRun } from '../store/runs.ts';
import { putValue } from '../store/values.ts';
import type { EngineEnvironment } from './environment.ts';
import { EngineError } from './errors.ts';
import { liveHead, revisionOf } from './workflows.ts';

export interface StartRequest {
  id: string;
  params?: JsonObject | undefined;
  idempotencyKey?: string | undefined;
  revision?: number | undefined;
  /** Engines that the request came through. Default 0. */
  hops?: number;
}

/** SHA-256 of parameters, by which a repeat under the same idempotency key is told from another request. */
function hashParams(params: JsonObject): string {
  return createHash('sha256').update(canonicalJson(params)).digest('hex');
}

/**
 * Starts a run of a workflow as `principal`.
 * @throws EngineError NotFound, Invalid (parameters), Conflict (the key was used with other parameters)
 */
export async function startRun(
  env: EngineEnvironment,
  principal: Principal,
  request: StartRequest,
): Promise<RunRecord> {
  const head = await liveHead(env, request.id);
  const revision = await revisionOf(env, head, request.revision);
  const document = await getDocument(env.store, head.workflow, revision.hash);
  const { params, problems } = resolveParams(document.blueprint.params ?? {}, request.params);
  if (problems.length > 0) {
    throw new EngineError('Invalid', `workflow "${head.workflow}" is not started: ${problems.join('; ')}`);
  }
  const run =
    request.idempotencyKey === undefined
      ? randomRunId()
      : keyedRunId(principal.id, head.workflow, request.idempotencyKey);
  const record = await claim(env, {
    run,
    workflow: head.workflow,
    revision: revision.revision,
    hash: revision.hash,
    stateMachineArn: revision.stateMachineArn,
    versionArn: revision.versionArn,
    principal,
    owner: head.owner.id,
    trigger: 'call',
    status: 'STARTING',
    executionName: run,
    epoch: 0,
    createdAt: new Date(env.now()).toISOString(),
    touchedAt: new Date(env.now()).toISOString(),
    paramsHash: hashParams(params),
    root: run,
    depth: 0,
    ...(request.hops === undefined || request.hops === 0 ? {} : { hops: request.hops }),
    attempts: 0,
    subRuns: 0,
    errorCount: 0,
  });
  if (record.status === 'STARTING') {
    await putValue(env.store, run, '$params', params);
    await startExecution(env, record);
  }
  return record;
}

/** Writes the record, or takes the one that an earlier request with the same key wrote. */
async function claim(env: EngineEnvironment, wanted: RunRecord): Promise<RunRecord> {
  const { created, run: existing } = await createRun(env.store, wanted);
  if (created) return existing;
  if (existing.paramsHash !== wanted.paramsHash) {
    throw new EngineError(
      'Conflict',
      'idempotencyKey: it was used with other params before; take another key for another run',
    );
  }
  return existing;
}

async function startExecution(env: EngineEnvironment, record: RunRecord): Promise<void> {
  try {
    await env.sfn.send(
      new StartExecutionCommand({
        stateMachineArn: record.versionArn,
        name: record.executionName,
        input: JSON.stringify({ run: record.run }),
      }),
    );
  } catch (error) {
    if (!(error instanceof Error) || error.name !== 'ExecutionAlreadyExists') throw error;
  }
}
