/** Records as tests of the store need them; every field can be said otherwise. */
import type { Principal, RunRecord, WorkflowHead, WorkflowRevision } from '../../lib/store/records.ts';
import { freshId } from './stand-ins.ts';

export const LOCAL: Principal = { kind: 'local', id: 'local', scopes: [] };
const MACHINE = 'arn:aws:states:us-east-1:000000000000:stateMachine:mwe-sync';

export function runRecord(changes: Partial<RunRecord> = {}): RunRecord {
  const run = changes.run ?? freshId();
  return {
    run,
    workflow: 'sync',
    revision: 1,
    hash: 'a'.repeat(64),
    principal: LOCAL,
    owner: 'local',
    trigger: 'call',
    status: 'STARTING',
    stateMachineArn: MACHINE,
    versionArn: `${MACHINE}:1`,
    executionName: run,
    epoch: 0,
    createdAt: '2026-11-30T09:00:00.000Z',
    touchedAt: '2026-11-30T09:00:00.000Z',
    paramsHash: 'b'.repeat(64),
    root: run,
    depth: 0,
    attempts: 0,
    subRuns: 0,
    errorCount: 0,
    ...changes,
  };
}

export function revisionRecord(changes: Partial<WorkflowRevision> = {}): WorkflowRevision {
  return {
    workflow: 'sync',
    revision: 1,
    hash: 'a'.repeat(64),
    principal: LOCAL,
    state: 'PENDING',
    createdAt: '2026-11-30T09:00:00.000Z',
    ...changes,
  };
}

export function headRecord(changes: Partial<WorkflowHead> = {}): WorkflowHead {
  return {
    workflow: 'sync',
    owner: LOCAL,
    revision: 1,
    hash: 'a'.repeat(64),
    stateMachineArn: MACHINE,
    versionArn: `${MACHINE}:1`,
    readOnly: false,
    createdAt: '2026-11-30T09:00:00.000Z',
    updatedAt: '2026-11-30T09:00:00.000Z',
    ...changes,
  };
}
