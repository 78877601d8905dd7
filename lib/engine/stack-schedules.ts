/**
 * Schedules that stand in blueprints of the deployment. Their records are written here for both places: on AWS the schedules
 * themselves are CloudFormation's, on one machine they are made here as well.
 *
 * A schedule that was switched off after failures stays so until what it does changes: its blueprint, its parameters or its times.
 */
import type { BlueprintSchedule } from '../blueprint/types.ts';
import type { ScheduleRecord } from '../store/records.ts';
import {
  awsScheduleName,
  deleteScheduleRecord,
  getScheduleRecord,
  listScheduleRecords,
  putScheduleRecord,
} from '../store/schedules.ts';
import type { Store } from '../store/store.ts';
import { listHeads } from '../store/workflows.ts';
import { applySchedule, removeSchedule } from './aws-schedules.ts';
import type { EngineEnvironment } from './environment.ts';
import { STACK_PRINCIPAL } from './principals.ts';
import { nextTime } from './schedule-rules.ts';

/** What all schedules of a blueprint are pinned to. */
export interface SchedulePin {
  workflow: string;
  revision: number;
  versionArn: string;
}

/** Times that a record is written anew because a run was counted meanwhile. */
const TRIES = 10;

/**
 * Writes the records of a workflow's schedules and makes tombstones of those that are not among them any more, agents' ones too:
 * what the deployment owns has only its own.
 * @param at ISO time of now
 * @returns the records as they stand, and those that went.
 */
export async function putStackSchedules(
  store: Store,
  pin: SchedulePin,
  schedules: readonly BlueprintSchedule[],
  at: string,
): Promise<{ kept: ScheduleRecord[]; gone: ScheduleRecord[] }> {
  const kept: ScheduleRecord[] = [];
  for (const schedule of schedules) kept.push(await putOne(store, pin, schedule, at));
  const names = new Set(kept.map(({ awsName }) => awsName));
  const gone = (await listScheduleRecords(store, pin.workflow)).filter(({ awsName }) => !names.has(awsName));
  for (const record of gone) await removeOne(store, record, at);
  return { kept, gone };
}

/** The same, and the schedules themselves: for one machine, where there is no CloudFormation. */
export async function syncStackSchedules(
  env: EngineEnvironment,
  pin: SchedulePin,
  schedules: readonly BlueprintSchedule[],
): Promise<void> {
  const at = new Date(env.now()).toISOString();
  const { kept, gone } = await putStackSchedules(env.store, pin, schedules, at);
  for (const record of kept) {
    // A single time that has passed is not made again: Scheduler has dropped it when it fired.
    const passed = record.expression.startsWith('at(') && nextTime(record, env.now()) === undefined;
    if (!passed) await applySchedule(env, record);
  }
  for (const record of gone) await removeSchedule(env, record.awsName);
}

/**
 * On one machine: workflows of the deployment whose files are not there any more keep their documents, for what refers to them, and
 * lose their schedules.
 */
export async function dropSchedulesOfOthers(
  env: EngineEnvironment,
  shipped: ReadonlySet<string>,
): Promise<void> {
  let cursor: string | undefined;
  do {
    const page = await listHeads(env.store, cursor === undefined ? {} : { cursor });
    for (const head of page.heads) {
      if (head.readOnly && !shipped.has(head.workflow)) await syncStackSchedules(env, head, []);
    }
    cursor = page.cursor;
  } while (cursor !== undefined);
}

async function putOne(
  store: Store,
  pin: SchedulePin,
  schedule: BlueprintSchedule,
  at: string,
): Promise<ScheduleRecord> {
  const awsName = awsScheduleName(pin.workflow, schedule.name);
  for (let tries = 0; tries < TRIES; tries += 1) {
    const found = await getScheduleRecord(store, pin.workflow, awsName);
    const before = found?.deletedAt === undefined ? found : undefined;
    const wanted = stackRecord(pin, schedule, at, before);
    if (before !== undefined && isSame(before, wanted)) return before;
    const record = await putScheduleRecord(store, wanted, found);
    if (record !== undefined) return record;
  }
  throw new Error(
    `The record of schedule "${schedule.name}" of "${pin.workflow}" changes faster than it can be written.`,
  );
}

async function removeOne(store: Store, record: ScheduleRecord, at: string): Promise<void> {
  let current: ScheduleRecord | undefined = record;
  for (let tries = 0; tries < TRIES; tries += 1) {
    if (current === undefined || current.deletedAt !== undefined) return;
    if (await deleteScheduleRecord(store, current, at)) return;
    current = await getScheduleRecord(store, record.workflow, record.awsName);
  }
  throw new Error(
    `The record of schedule "${record.name}" of "${record.workflow}" changes faster than it can be deleted.`,
  );
}

function stackRecord(
  { workflow, revision, versionArn }: SchedulePin,
  { name, schedule, timezone = 'UTC', params = {}, enabled = true }: BlueprintSchedule,
  at: string,
  before: ScheduleRecord | undefined,
): Omit<ScheduleRecord, 'version'> {
  return {
    workflow,
    name,
    awsName: awsScheduleName(workflow, name),
    expression: schedule,
    timezone,
    enabled,
    readOnly: true,
    principal: STACK_PRINCIPAL,
    revision,
    versionArn,
    params: JSON.stringify(params),
    failures: [],
    countedFrom: at,
    ...(before?.lastRun === undefined ? {} : { lastRun: before.lastRun }),
    createdAt: before?.createdAt ?? at,
    updatedAt: at,
  };
}

/** Whether the deployment asks for what it asked for before. That it is off after failures is not its doing. */
function isSame(before: ScheduleRecord, wanted: Omit<ScheduleRecord, 'version'>): boolean {
  const asked = before.enabled || before.disabledReason !== undefined;
  return (
    before.readOnly &&
    before.expression === wanted.expression &&
    before.timezone === wanted.timezone &&
    before.versionArn === wanted.versionArn &&
    before.params === wanted.params &&
    asked === wanted.enabled
  );
}
