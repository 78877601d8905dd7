/**
 * The children of a distributed map: executions under the map run's own path, `execution:MACHINE/LABEL:NAME`.
 *
 * A child that is known is not started again: one that succeeded has its answer already, an unsuccessful one goes on from its
 * checkpoint under its own ARN and history.
 */
import { randomUUID } from 'node:crypto';
import type { Checkpoint, Clock, ExecutionHost } from '../contract.ts';
import { executionArn, expressArn, type Place, parseMapRunArn } from './arns.ts';
import { reopened } from './outcomes.ts';
import type { ExecutionRecord, ExecutionStore } from './storage/executions.ts';
import { removeFile } from './storage/files.ts';
import type { HistoryStore } from './storage/history.ts';
import type { MachineStore } from './storage/machines.ts';

interface MapChildParts {
  place: Place;
  clock: Clock;
  executions: ExecutionStore;
  history: HistoryStore;
  machines: MachineStore;
}

export interface MapChild {
  /** SUCCEEDED where nothing is left to run; else RUNNING, known to the store but not written yet. */
  record: ExecutionRecord;
  resume: Checkpoint | undefined;
  lastEventId: number;
}

export type MapChildRequest = Parameters<ExecutionHost['runMapChild']>[0];

export async function mapChildRecord(
  parts: MapChildParts,
  parent: ExecutionRecord,
  request: MapChildRequest,
): Promise<MapChild> {
  const { clock, executions, history, machines } = parts;
  const { machineName, label } = parseMapRunArn(request.mapRunArn);
  const path = `${machineName}/${label}`;
  const arn =
    request.resumeArn ??
    (request.type === 'EXPRESS'
      ? expressArn(parts.place, path, request.name, randomUUID())
      : executionArn(parts.place, path, request.name));
  // Known where a redrive names it, or where the parent died before its checkpoint told of it.
  const previous = await executions.load(arn);
  if (previous?.status === 'SUCCEEDED') return { record: previous, resume: undefined, lastEventId: 0 };
  if (previous !== undefined && previous.status !== 'RUNNING') {
    const lastEventId = await history.count(executions.historyPath(arn));
    const record = reopened(previous, clock.now());
    executions.reopen(record);
    return { record, resume: previous.checkpoint, lastEventId };
  }
  const definition = await machines.putDefinition(JSON.stringify(request.definition));
  // A process that died before it stored the child may have left the beginning of a history.
  if (parent.redriveCount > 0) await removeFile(executions.historyPath(arn));
  // From here to `reserve` without a pause: lists are in the order of the sequence.
  const record: ExecutionRecord = {
    executionArn: arn,
    stateMachineArn: `${parent.stateMachineArn}/${label}`,
    stateMachineName: path,
    name: request.name,
    type: request.type,
    status: 'RUNNING',
    startDate: clock.now(),
    redriveCount: 0,
    sequence: executions.nextSequence(),
    mapRunArn: request.mapRunArn,
    label,
    roleArn: parent.roleArn,
    definition,
    machineUpdateDate: parent.machineUpdateDate,
    input: JSON.stringify(request.input),
    redriveTokens: [],
  };
  if (parent.revisionId !== undefined) record.revisionId = parent.revisionId;
  executions.reserve(record);
  return { record, resume: undefined, lastEventId: 0 };
}
