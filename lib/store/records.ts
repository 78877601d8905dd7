/**
 * The records of the engine table. One DynamoDB table, keys `pk` and `sk`, single-item conditional writes only.
 * Times are ISO strings in UTC, except leases and deadlines, which are epoch milliseconds because they are compared.
 */
import type { StepError } from '../blueprint/errors.ts';
import type { Json } from '../blueprint/json.ts';

/** Who asked. `local` on one machine; workflows keep their owner, revisions and runs their principal. */
export interface Principal {
  kind: 'local' | 'token' | 'iam' | 'oauth' | 'schedule' | 'stack' | 'console';
  /** Unique across kinds: `local`, `stack`, `token:NAME`, `iam:ARN`, `oauth:SUBJECT`. Ownership compares it alone. */
  id: string;
  scopes: string[];
  /** Allow-list of downstream tools, `server/tool` or `server/*`; absent: all. */
  tools?: string[];
}

/** WORKFLOW#id / HEAD. */
export interface WorkflowHead {
  workflow: string;
  owner: Principal;
  description?: string;
  revision: number;
  hash: string;
  stateMachineArn: string;
  versionArn: string;
  /** Owned by the stack: read-only to agents. */
  readOnly: boolean;
  createdAt: string;
  updatedAt: string;
  /** Tombstone. The numbering goes on from `revision` if the id is saved again. */
  deletedAt?: string;
}

/** WORKFLOW#id / REV#00003. */
export interface WorkflowRevision {
  workflow: string;
  revision: number;
  hash: string;
  principal: Principal;
  /** EXPIRED: its save never ended. RETIRED: its version was deleted to make room for newer ones (Step Functions keeps 1,000). */
  state: 'PENDING' | 'PUBLISHED' | 'EXPIRED' | 'RETIRED';
  createdAt: string;
  stateMachineArn?: string;
  versionArn?: string;
}

export type RunStatus = 'STARTING' | 'RUNNING' | 'SUCCEEDED' | 'FAILED' | 'CANCELLED' | 'TIMED_OUT';
/** `try`: one call by `call_tool`. It has no workflow and no execution. */
export type RunTrigger = 'call' | 'console' | 'schedule' | 'workflow' | 'try';

/** In the place of a workflow's id in the record of a trial call; no workflow can be called that. */
export const TRY_WORKFLOW = 'call_tool';

/** RUN#id / META. */
export interface RunRecord {
  run: string;
  workflow: string;
  revision: number;
  hash: string;
  /** Who started the run (`id`), with the allow-list that it works with (`tools`). */
  principal: Principal;
  /** Id of the principal whose allow-list that is, where it is not the starter's own: who pinned the sub-workflow. */
  authority?: string;
  /** Owner of the workflow at the start: may read the run. */
  owner: string;
  trigger: RunTrigger;
  /** Of a trial call: the tool, as it was asked for until its server is known. */
  called?: { server?: string; tool: string };
  status: RunStatus;
  stateMachineArn: string;
  versionArn: string;
  /** Set when an execution has claimed the record. */
  execution?: string;
  executionName: string;
  epoch: number;
  createdAt: string;
  startedAt?: string;
  endedAt?: string;
  /** Last time a task of the run was heard of; an open run silent for a minute is reconciled. */
  touchedAt: string;
  /** Epoch ms; tasks stop past it. */
  deadline?: number;
  /** SHA-256 of the canonical JSON of the parameters. */
  paramsHash: string;
  /** cancel_run's flag. */
  stop?: { at: string; by: string };
  /** Of a scheduled run: AWS name of the schedule, whose record counts how its runs end. */
  schedule?: string;
  /** Budgets are counted on the root run, before the effect. */
  root: string;
  parent?: { run: string; at: string };
  depth: number;
  /** Engines that the request which started it came through; its calls are sent with one more. Absent: none. */
  hops?: number;
  attempts: number;
  subRuns: number;
  errorCount: number;
  /** What ended the execution where no step's error says it: a time-out, a platform error, an abort. */
  failure?: { error: string; cause: string };
}

/** A run of a schedule that failed, in `ScheduleRecord.failures`. */
export interface ScheduleFailure {
  run: string;
  /** Start of the run, ISO. */
  at: string;
}

/** WORKFLOW#id / SCHEDULE#awsName. The schedule itself is EventBridge Scheduler's; this is what its runs are made of. */
export interface ScheduleRecord {
  workflow: string;
  /** As its author calls it, unique in the workflow. */
  name: string;
  /** Name in EventBridge Scheduler's group, from `awsScheduleName`. */
  awsName: string;
  /** `cron(…)`, `rate(…)` or `at(…)`. */
  expression: string;
  /** IANA name. */
  timezone: string;
  enabled: boolean;
  /** Why it is off where nobody turned it off. */
  disabledReason?: string;
  /** Stands in a blueprint that the stack owns: agents see it and cannot change it. */
  readOnly: boolean;
  /** Who scheduled it. Its runs work with this authority. */
  principal: Principal;
  /** What it is pinned to. */
  revision: number;
  versionArn: string;
  /** JSON text of the parameters as given, defaults not filled. */
  params: string;
  /** Runs that failed after the last one that succeeded, by start. */
  failures: ScheduleFailure[];
  /** ISO time: runs that started up to it do not count as failures any more. */
  countedFrom?: string;
  /** The latest run that has ended. */
  lastRun?: { run: string; status: RunStatus; at: string };
  createdAt: string;
  updatedAt: string;
  /** Tombstone, for a while: what is still delivered of it is refused with that reason. */
  deletedAt?: string;
  /** Grows with every write. */
  version: number;
}

export type StepStatus = 'running' | 'succeeded' | 'failed' | 'skipped';

export interface Lease {
  owner: string;
  /** Epoch ms. */
  until: number;
}

/** RUN#id / STEP#at. `at` is the full path of the occurrence: prefix and step id. */
export interface StepRecord {
  run: string;
  at: string;
  step: string;
  type: 'call' | 'loop' | 'parallel' | 'pipe' | 'collect';
  status: StepStatus;
  epoch: number;
  lease?: Lease;
  attempts: number;
  startedAt: string;
  endedAt?: string;
  ms?: number;
  /** Epoch ms, stored at first entry where the step has a time limit. */
  deadline?: number;
  error?: StepError;
  /** Why it was skipped: `when`, or `failed:STEP` where a step that it reads failed. */
  reason?: string;
  server?: string;
  tool?: string;
  /** A call in flight that may not be repeated: set by the claim before anything is sent, cleared by the result. */
  claimed?: boolean;
  /** Epoch ms before which the next attempt is not made. */
  notBefore?: number;
  bytes?: number;
  /** Of a loop. */
  count?: number;
  failed?: number;
  skipped?: number;
  /** Of a loop walked in a task: failures inside items that did not end them. */
  passed?: number;
  /** A loop's stop flag: under `abort` a failed item sets it, and no new item starts. */
  halt?: boolean;
  /** Grows with every claim of the step; the newest holder's value replaces an older one's, never the reverse. */
  fence: number;
  /** Owner whose lease settled the step. */
  settledBy?: string;
}

/** A stored value: inline up to 8 KiB of JSON, else in S3. */
export type StoredValue = { inline: Json } | { key: string; bytes: number };

/** One loop item's end. */
export interface ItemResult {
  index: number;
  item: Json;
  status: 'succeeded' | 'failed' | 'skipped';
  value: Json;
  error: StepError | null;
  /** Failures inside the item that did not end it. */
  passed?: StepError[];
  attempts: number;
}

/** An item as a loop's journal has it. */
export interface JournalItem extends ItemResult {
  /** Of a failed item: what its steps had made before, so that a redrive does not make it again. Read by the steps alone. */
  made?: Json;
}

/** RUN#id / WINDOW#at#k: items [from, to) claimed together before any of them is sent. */
export interface WindowRecord {
  run: string;
  at: string;
  window: number;
  from: number;
  to: number;
  owner: string;
  epoch: number;
  state: 'claimed' | 'done';
}
