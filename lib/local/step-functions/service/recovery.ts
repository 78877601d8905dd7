/**
 * What the service does with the executions of an earlier process when it opens their folder.
 *
 * An execution that was running when the process ended is closed as ABORTED, with an `ExecutionAborted` event and a
 * cause that says so; its last checkpoint stays with it, so it can be redriven. Executions that were closed more than 90
 * days ago are removed, as the service does.
 */
import type { Checkpoint, Clock, HistoryEvent } from '../contract.ts';
import type { ExecutionRecord, ExecutionStore } from './storage/executions.ts';
import { type LogWriter, readIfPresent, removeFile } from './storage/files.ts';
import type { HistoryStore } from './storage/history.ts';
import type { MapRunStore } from './storage/map-runs.ts';

export const PROCESS_ENDED_ERROR = 'LocalStepFunctions.ProcessEnded';
export const PROCESS_ENDED_CAUSE =
  'The local Step Functions process ended while this execution was running. Redrive the execution to go on from its last checkpoint.';

const RETENTION_MS = 90 * 24 * 60 * 60 * 1000;
const AT_ONCE = 32;

interface Parts {
  clock: Clock;
  executions: ExecutionStore;
  history: HistoryStore;
  mapRuns: MapRunStore;
  writer: LogWriter;
}

/** Returns the executions it closed, parents and children of map runs alike. */
export async function recoverExecutions(parts: Parts): Promise<ExecutionRecord[]> {
  const now = parts.clock.now();
  const running: string[] = [];
  const expired: string[] = [];
  for (const summary of parts.executions.all()) {
    if (summary.status === 'RUNNING') running.push(summary.executionArn);
    else if (now - (summary.stopDate ?? now) > RETENTION_MS) expired.push(summary.executionArn);
  }
  const recovered: ExecutionRecord[] = [];
  await each(running, async (arn) => {
    const record = await recover(parts, arn, now);
    if (record !== undefined) recovered.push(record);
  });
  await each(expired, (arn) => parts.executions.remove(arn));
  return recovered;
}

async function recover(parts: Parts, arn: string, now: number): Promise<ExecutionRecord | undefined> {
  const { executions, history } = parts;
  const record = await executions.load(arn);
  if (record === undefined) {
    await executions.remove(arn);
    return undefined;
  }
  if (record.status !== 'RUNNING') {
    await executions.save(record); // its end was stored, only the log's line was not
    return record;
  }
  const historyPath = executions.historyPath(arn);
  const checkpointPath = executions.checkpointPath(arn);
  let last = await history.repair(historyPath);
  if (last === 0) {
    // It died before the first event was written; the record says all that the event would.
    history.append(historyPath, startedEvent(record));
    last = 1;
  }
  const event: HistoryEvent = {
    id: last + 1,
    previousEventId: 0,
    timestamp: now / 1000,
    type: 'ExecutionAborted',
    executionAbortedEventDetails: { error: PROCESS_ENDED_ERROR, cause: PROCESS_ENDED_CAUSE },
  };
  history.append(historyPath, event);
  await parts.writer.flush(historyPath);
  history.release(historyPath);
  parts.mapRuns.close(arn, now);
  const ended: ExecutionRecord = {
    ...record,
    status: 'ABORTED',
    stopDate: now,
    error: PROCESS_ENDED_ERROR,
    cause: PROCESS_ENDED_CAUSE,
    eventCount: last + 1,
  };
  const checkpoint = await readIfPresent(checkpointPath);
  if (checkpoint !== undefined) ended.checkpoint = JSON.parse(checkpoint) as Checkpoint;
  await executions.save(ended);
  await removeFile(checkpointPath);
  return ended;
}

function startedEvent(record: ExecutionRecord): HistoryEvent {
  return {
    id: 1,
    previousEventId: 0,
    timestamp: record.startDate / 1000,
    type: 'ExecutionStarted',
    executionStartedEventDetails: {
      input: record.input,
      inputDetails: { truncated: false },
      roleArn: record.roleArn,
    },
  };
}

async function each(arns: string[], work: (arn: string) => Promise<void>): Promise<void> {
  const queue = arns.values();
  const worker = async () => {
    for (const arn of queue) await work(arn);
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, arns.length) }, worker));
}
