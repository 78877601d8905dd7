/**
 * Executions: what DescribeExecution and ListExecutions answer, kept across restarts.
 *
 * Each execution has a record file (with input, output and, where it can be redriven, the checkpoint), a history file and, while
 * it runs, a checkpoint file. A log, `executions.jsonl`, holds a short line for every start, end and redrive; it is read
 * once at start, so that opening a folder with many executions reads one file. A record is written before its line.
 * The records of open executions stay in memory, those of closed ones are read when asked for.
 */
import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Checkpoint } from '../../contract.ts';
import {
  hashOf,
  isMissing,
  type LogWriter,
  makeFolder,
  readIfPresent,
  removeFile,
  replaceFile,
} from './files.ts';

type ExecutionStatus = 'RUNNING' | 'SUCCEEDED' | 'FAILED' | 'TIMED_OUT' | 'ABORTED';

/** The part that lists and counts need; kept in memory for every execution. Dates are epoch milliseconds. */
export interface ExecutionSummary {
  executionArn: string;
  stateMachineArn: string;
  stateMachineVersionArn?: string;
  name: string;
  type: 'STANDARD' | 'EXPRESS';
  status: ExecutionStatus;
  startDate: number;
  stopDate?: number;
  redriveCount: number;
  redriveDate?: number;
  /** Present for a child of a distributed map. */
  mapRunArn?: string;
  /** Order of starting, over all executions of the folder. */
  sequence: number;
}

export interface ExecutionRecord extends ExecutionSummary {
  stateMachineName: string;
  roleArn: string;
  /** Hash of the definition's text. */
  definition: string;
  revisionId?: string;
  /** When the machine was last changed before the execution started. */
  machineUpdateDate: number;
  label?: string;
  traceHeader?: string;
  input: string;
  output?: string;
  error?: string;
  cause?: string;
  /** Of an execution that can be redriven. */
  checkpoint?: Checkpoint;
  /** Length of the history of a closed execution. */
  eventCount?: number;
  /** The latest client tokens that redrove it. */
  redriveTokens: { token: string; date: number }[];
}

export interface ExecutionStore {
  find(arn: string): ExecutionSummary | undefined;
  load(arn: string): Promise<ExecutionRecord | undefined>;
  nextSequence(): number;
  /** Makes the execution known at once, so that a second start of the same name finds it; not yet stored. */
  reserve(record: ExecutionRecord): void;
  /** A known execution runs again; not yet stored. */
  reopen(record: ExecutionRecord): void;
  /** Takes a reservation back whose record could not be stored. */
  forget(arn: string): void;
  /** Writes record and line; resolves when both are stored. */
  save(record: ExecutionRecord): Promise<void>;
  /** The executions of a machine, or the children of a map run, latest first. */
  list(ownerArn: string): Iterable<ExecutionSummary>;
  all(): Iterable<ExecutionSummary>;
  remove(arn: string): Promise<void>;
  historyPath(arn: string): string;
  checkpointPath(arn: string): string;
}

export async function openExecutionStore(dataDir: string, writer: LogWriter): Promise<ExecutionStore> {
  await makeFolder(join(dataDir, 'executions'));
  const logPath = join(dataDir, 'executions.jsonl');
  const summaries = new Map<string, ExecutionSummary>();
  const owners = new Map<string, ExecutionSummary[]>();
  const open = new Map<string, ExecutionRecord>();
  const lines = await readLog(logPath, summaries);
  if (lines > 2 * summaries.size + 100) {
    await replaceFile(logPath, [...summaries.values()].map((each) => `${JSON.stringify(each)}\n`).join(''));
  }
  writer.append(logPath, '\n'); // ends a line that a crash left without its end
  let sequence = 0;
  for (const summary of [...summaries.values()].sort((a, b) => a.sequence - b.sequence)) {
    sequence = summary.sequence;
    own(summary);
  }

  function own(summary: ExecutionSummary): void {
    const owner = summary.mapRunArn ?? summary.stateMachineArn;
    const list = owners.get(owner);
    if (list === undefined) owners.set(owner, [summary]);
    else list.push(summary);
  }

  function disown(summary: ExecutionSummary): void {
    const owner = summary.mapRunArn ?? summary.stateMachineArn;
    const list = owners.get(owner);
    const at = list?.findIndex((each) => each.executionArn === summary.executionArn) ?? -1;
    if (list !== undefined && at >= 0) list.splice(at, 1);
    if (list?.length === 0) owners.delete(owner);
  }

  function path(arn: string, kind: string): string {
    const hash = hashOf(arn);
    return join(dataDir, 'executions', hash.slice(0, 2), `${hash}.${kind}`);
  }

  return {
    find: (arn) => summaries.get(arn),

    async load(arn) {
      const known = open.get(arn);
      if (known !== undefined) return known;
      if (!summaries.has(arn)) return undefined;
      const text = await readIfPresent(path(arn, 'json'));
      return text === undefined ? undefined : (JSON.parse(text) as ExecutionRecord);
    },

    nextSequence() {
      sequence += 1;
      return sequence;
    },

    reserve(record) {
      const summary = summaryOf(record);
      summaries.set(record.executionArn, summary);
      own(summary);
      open.set(record.executionArn, record);
    },

    reopen(record) {
      const known = summaries.get(record.executionArn);
      if (known !== undefined) refresh(known, summaryOf(record));
      open.set(record.executionArn, record);
    },

    forget(arn) {
      const summary = summaries.get(arn);
      summaries.delete(arn);
      open.delete(arn);
      if (summary !== undefined) disown(summary);
    },

    async save(record) {
      const summary = summaryOf(record);
      await replaceFile(path(record.executionArn, 'json'), JSON.stringify(record));
      writer.append(logPath, `${JSON.stringify(summary)}\n`);
      await writer.flush(logPath);
      const known = summaries.get(record.executionArn);
      if (known === undefined) {
        summaries.set(record.executionArn, summary);
        own(summary);
      } else {
        refresh(known, summary);
      }
      if (record.status === 'RUNNING') open.set(record.executionArn, record);
      else open.delete(record.executionArn);
    },

    *list(ownerArn) {
      const list = owners.get(ownerArn) ?? [];
      for (let at = list.length - 1; at >= 0; at -= 1) {
        const summary = list[at];
        if (summary !== undefined) yield summary;
      }
    },

    all: () => summaries.values(),

    async remove(arn) {
      const summary = summaries.get(arn);
      if (summary === undefined) return;
      writer.append(logPath, `${JSON.stringify({ executionArn: arn, removed: true })}\n`);
      await writer.flush(logPath);
      summaries.delete(arn);
      open.delete(arn);
      disown(summary);
      for (const kind of ['json', 'history', 'checkpoint']) await removeFile(path(arn, kind));
    },

    historyPath: (arn) => path(arn, 'history'),
    checkpointPath: (arn) => path(arn, 'checkpoint'),
  };
}

/** The object in the lists stays the same one: lists are in order of starting. */
function refresh(known: ExecutionSummary, summary: ExecutionSummary): void {
  delete known.stopDate;
  Object.assign(known, summary);
}

function summaryOf(record: ExecutionRecord): ExecutionSummary {
  const summary: ExecutionSummary = {
    executionArn: record.executionArn,
    stateMachineArn: record.stateMachineArn,
    name: record.name,
    type: record.type,
    status: record.status,
    startDate: record.startDate,
    redriveCount: record.redriveCount,
    sequence: record.sequence,
  };
  if (record.stateMachineVersionArn !== undefined)
    summary.stateMachineVersionArn = record.stateMachineVersionArn;
  if (record.stopDate !== undefined) summary.stopDate = record.stopDate;
  if (record.redriveDate !== undefined) summary.redriveDate = record.redriveDate;
  if (record.mapRunArn !== undefined) summary.mapRunArn = record.mapRunArn;
  return summary;
}

/** Later lines replace earlier ones. A last line that a crash cut short is left out; returns the number of lines. */
async function readLog(logPath: string, into: Map<string, ExecutionSummary>): Promise<number> {
  let count = 0;
  let broken = false;
  const stream = createReadStream(logPath, 'utf8');
  try {
    for await (const line of createInterface({ input: stream, crlfDelay: Number.POSITIVE_INFINITY })) {
      if (line === '') continue;
      count += 1;
      let entry: ExecutionSummary & { removed?: boolean };
      try {
        entry = JSON.parse(line);
      } catch {
        broken = true;
        continue;
      }
      if (entry.removed === true) into.delete(entry.executionArn);
      else into.set(entry.executionArn, entry);
    }
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
  return broken ? Number.POSITIVE_INFINITY : count;
}
