/**
 * Saving a blueprint: checked, bound, and published as the next revision (publish.ts) with a machine that is made or updated here.
 * The same hash as HEAD is answered with HEAD.
 */
import {
  ConflictException,
  CreateStateMachineCommand,
  type CreateStateMachineCommandInput,
  ServiceQuotaExceededException,
  UpdateStateMachineCommand,
} from '@aws-sdk/client-sfn';
import { documentHash } from '../blueprint/canonical.ts';
import { isJsonObject, type Json } from '../blueprint/json.ts';
import type { BlueprintDocument } from '../blueprint/types.ts';
import { compileDocument } from '../compile/compile.ts';
import type { Principal } from '../store/records.ts';
import { getHead } from '../store/workflows.ts';
import { audited } from './audit.ts';
import { type ShownDiagnostic, shownDiagnostics } from './bounded.ts';
import type { EngineEnvironment, MachineOptions } from './environment.ts';
import { EngineError } from './errors.ts';
import { requireChange } from './principals.ts';
import { busy, type Machine, publish } from './publish.ts';
import { retireVersions } from './retire-versions.ts';
import { checkBlueprint } from './validate.ts';

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
  const next = await publish(env, principal, { document, hash, head, readOnly }, () =>
    putMachine(env, document, hash),
  );
  return { id, revision: next.revision, hash, ...warnings };
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
  const updated = await sendUpdate(env, document.blueprint.id, update);
  return { stateMachineArn: arn, versionArn: versionOf(updated.stateMachineVersionArn) };
}

/** Where the machine has as many versions as it may have, old ones make room for this one. */
async function sendUpdate(env: EngineEnvironment, id: string, update: UpdateStateMachineCommand) {
  const send = () =>
    env.sfn.send(update).catch((error: unknown) => {
      // Two updates at once: Step Functions takes one of them.
      if (error instanceof ConflictException) throw busy(id);
      throw error;
    });
  try {
    return await send();
  } catch (error) {
    if (!(error instanceof ServiceQuotaExceededException)) throw error;
    await retireVersions(env, id, update.input.stateMachineArn ?? '');
    return send();
  }
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
