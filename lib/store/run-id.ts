/**
 * Run ids. They are unguessable or derived, never counted: a run's id is a handle that authorization stands behind.
 */
import { createHash, randomUUID } from 'node:crypto';

function hashed(kind: string, parts: readonly string[]): string {
  return createHash('sha256')
    .update(JSON.stringify([kind, ...parts]))
    .digest('hex')
    .slice(0, 32);
}

/** A fresh run id, 32 hexadecimal characters. */
export function randomRunId(): string {
  return randomUUID().replaceAll('-', '');
}

/** The run id of a start with an idempotency key: the same caller, workflow and key give the same run. */
export function keyedRunId(principal: string, workflow: string, idempotencyKey: string): string {
  return hashed('key', [principal, workflow, idempotencyKey]);
}

/** The run id of an execution that was not started by the endpoint (console, schedule, CLI). */
export function executionRunId(executionArn: string, startedAt: string): string {
  return hashed('execution', [executionArn, startedAt]);
}

/** The run id of a sub-workflow: one for each parent run, place and redrive. */
export function childRunId(parentRun: string, at: string, epoch: number): string {
  return hashed('child', [parentRun, at, String(epoch)]);
}
