/**
 * Starting a run. The record comes first, then the execution, so that a crash in between leaves a record that a repeat
 * completes: the same key starts the recorded version again and takes "already exists" as success. One that nobody repeats is
 * closed when it is reconciled.
 */
import { createHash } from 'node:crypto';
import { StartExecutionCommand } from '@aws-sdk/client-sfn';
import { canonicalJson } from '../blueprint/canonical.ts';
import type { JsonObject } from '../blueprint/json.ts';
import { resolveParams } from '../blueprint/params.ts';
import type { BlueprintDocument } from '../blueprint/types.ts';
import { getDocument } from '../store/documents.ts';
import type { Principal, RunRecord } from '../store/records.ts';
import { keyedRunId, randomRunId } from '../store/run-id.ts';
import { createRun, getRun } from '../store/runs.ts';
import { putValue } from '../store/values.ts';
import { requireOpenRun } from './admission.ts';
import { audited } from './audit.ts';
import { requireTools } from './bound-tools.ts';
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

/** SHA-256 of parameters as given, by which a repeat under the same idempotency key is told from another request. */
function hashParams(params: JsonObject): string {
  return createHash('sha256').update(canonicalJson(params)).digest('hex');
}

/**
 * Starts a run of a workflow as `principal`; a repeat under the same idempotency key answers the run of the first, whatever has
 * become of the workflow since.
 * @throws EngineError NotFound, Forbidden (its tools), Invalid (parameters), LimitExceeded (open runs), Conflict (the key was
 * used with other parameters), Unavailable
 */
export async function startRun(
  env: EngineEnvironment,
  principal: Principal,
  request: StartRequest,
): Promise<RunRecord> {
  const { record } = await audited(
    env,
    principal,
    { action: 'run.start', workflow: request.id, trigger: 'call' },
    () => start(env, principal, request),
    // A repeat starts nothing new.
    ({ created, record: { revision, run } }) => (created ? { revision, run } : undefined),
  );
  return record;
}

interface Started {
  /** False for a repeat. */
  created: boolean;
  record: RunRecord;
}

async function start(env: EngineEnvironment, principal: Principal, request: StartRequest): Promise<Started> {
  const { id, idempotencyKey, params: given = {} } = request;
  if (idempotencyKey === undefined) return startNew(env, principal, request, randomRunId(), given);
  const run = keyedRunId(principal.id, id, idempotencyKey);
  const existing = await getRun(env.store, run);
  return existing === undefined
    ? startNew(env, principal, request, run, given)
    : { created: false, record: await repeat(env, existing, given) };
}

async function startNew(
  env: EngineEnvironment,
  principal: Principal,
  request: StartRequest,
  run: string,
  given: JsonObject,
): Promise<Started> {
  const head = await liveHead(env, request.id);
  const revision = await revisionOf(env, head, request.revision);
  const document = await getDocument(env.store, head.workflow, revision.hash);
  requireTools(principal, document);
  const params = checkedParams(document, given);
  await requireOpenRun(env, principal);
  const now = new Date(env.now()).toISOString();
  const { created, run: record } = await createRun(env.store, {
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
    createdAt: now,
    touchedAt: now,
    paramsHash: hashParams(given),
    root: run,
    depth: 0,
    ...(request.hops === undefined || request.hops === 0 ? {} : { hops: request.hops }),
    attempts: 0,
    subRuns: 0,
    errorCount: 0,
  });
  if (!created) return { created, record: await repeat(env, record, given) };
  await putValue(env.store, run, '$params', params);
  await startExecution(env, record);
  return { created, record };
}

/** @throws EngineError Invalid, with every fault. */
function checkedParams({ blueprint }: BlueprintDocument, given: JsonObject): JsonObject {
  const { params, problems } = resolveParams(blueprint.params ?? {}, given);
  if (problems.length === 0) return params;
  throw new EngineError('Invalid', `workflow "${blueprint.id}" is not started: ${problems.join('; ')}`);
}

/** The run is there. One that was never started is started now, as its record says. */
async function repeat(env: EngineEnvironment, record: RunRecord, given: JsonObject): Promise<RunRecord> {
  if (record.paramsHash !== hashParams(given)) {
    throw new EngineError(
      'Conflict',
      'idempotencyKey: it was used with other params before; take another key for another run',
    );
  }
  if (record.status !== 'STARTING') return record;
  const params = checkedParams(await getDocument(env.store, record.workflow, record.hash), given);
  await putValue(env.store, record.run, '$params', params);
  await startExecution(env, record);
  return record;
}

async function startExecution(env: EngineEnvironment, record: RunRecord): Promise<void> {
  const traceHeader = env.telemetry.traceHeader();
  try {
    await env.sfn.send(
      new StartExecutionCommand({
        stateMachineArn: record.versionArn,
        name: record.executionName,
        input: JSON.stringify({ run: record.run }),
        ...(traceHeader === undefined ? {} : { traceHeader }),
      }),
    );
  } catch (error) {
    const name = error instanceof Error ? error.name : 'unknown';
    if (name === 'ExecutionAlreadyExists') return;
    // Whether it runs is not known: the record stays, and says so when it is read in a minute.
    throw new EngineError(
      'Unavailable',
      `Step Functions did not take the run ${record.run} (${name}); get_run tells what became of it, the same idempotencyKey tries again`,
      { cause: error },
    );
  }
}
