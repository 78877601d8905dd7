/**
 * Schedules of a workflow, as its owner makes them. The record comes first and then EventBridge Scheduler, and at the end of one it
 * is the other way round, so that what a crash leaves is made right by the same call again: nothing fires that has no record.
 *
 * A schedule is pinned to the revision that is current when it is made or changed, and works with the authority of who did that.
 */
import { quoteValue } from '../blueprint/diagnostics.ts';
import type { JsonObject } from '../blueprint/json.ts';
import { resolveParams } from '../blueprint/params.ts';
import { getDocument } from '../store/documents.ts';
import type { Principal, ScheduleRecord, WorkflowHead } from '../store/records.ts';
import {
  awsScheduleName,
  deleteScheduleRecord,
  freePlaces,
  getScheduleRecord,
  listScheduleRecords,
  MAX_SCHEDULE_PARAMS_BYTES,
  putScheduleRecord,
  SCHEDULE_NAME,
  takePlace,
} from '../store/schedules.ts';
import { getHead } from '../store/workflows.ts';
import { audited } from './audit.ts';
import { applySchedule } from './aws-schedules.ts';
import { requireTools } from './bound-tools.ts';
import type { EngineEnvironment } from './environment.ts';
import { EngineError } from './errors.ts';
import { isAdmin, requireChange } from './principals.ts';
import { removeRecorded } from './remove-schedules.ts';
import { runAnswerStatus } from './runs.ts';
import { checkTimes, nextTime } from './schedule-rules.ts';
import { liveHead } from './workflows.ts';

export const DEFAULT_SCHEDULE_NAME = 'default';
const DEFAULT_TIMEZONE = 'UTC';
/** Times that a change is made anew because the record changed under it. */
const TRIES = 5;

export interface ScheduleRequest {
  id: string;
  /** Default `default`. */
  name?: string | undefined;
  /** `cron(…)`, `rate(…)` or `at(…)`; without it an existing schedule keeps its own. */
  schedule?: string | undefined;
  timezone?: string | undefined;
  /** Whole: what is left out has the blueprint's default. */
  params?: JsonObject | undefined;
  enabled?: boolean | undefined;
  delete?: boolean | undefined;
}

/** The tool `schedule_workflow`: makes, changes or deletes a schedule, and lists them all. */
export async function scheduleWorkflow(
  env: EngineEnvironment,
  principal: Principal,
  request: ScheduleRequest,
) {
  const { id, name, ...change } = request;
  const changes = name !== undefined || Object.values(change).some((value) => value !== undefined);
  const called = name ?? DEFAULT_SCHEDULE_NAME;
  const note = changes
    ? await audited(
        env,
        principal,
        {
          action: change.delete === true ? 'schedule.delete' : 'schedule.save',
          workflow: id,
          schedule: called,
        },
        () => changeSchedule(env, principal, id, called, change),
      )
    : undefined;
  const head = await liveHead(env, id);
  return {
    id,
    schedules: await listSchedules(env, principal, head),
    ...(note === undefined ? {} : { note }),
  };
}

async function changeSchedule(
  env: EngineEnvironment,
  principal: Principal,
  id: string,
  name: string,
  change: Omit<ScheduleRequest, 'id' | 'name'>,
): Promise<string | undefined> {
  const head = await liveHead(env, id);
  requireSchedulable(principal, head);
  const called = checkedName(name);
  return change.delete === true
    ? deleteSchedule(env, head, called, change)
    : putSchedule(env, principal, head, called, change);
}

/** @throws EngineError Forbidden, with the place where a schedule of the deployment stands. */
function requireSchedulable(principal: Principal, head: WorkflowHead): void {
  if (head.readOnly) {
    throw new EngineError(
      'Forbidden',
      `workflow "${head.workflow}" belongs to the deployment, and so do its schedules; they stand in "schedules" of blueprints/${head.workflow}.json`,
    );
  }
  requireChange(principal, head);
}

function checkedName(name: string): string {
  if (SCHEDULE_NAME.test(name)) return name;
  throw new EngineError(
    'Invalid',
    `name: ${quoteValue(name)} is no name of a schedule; a letter, then up to 63 letters, digits, "_" or "-"`,
  );
}

/** What the list tells of a schedule. Parameters are told to who may change it; errors are read in the runs. */
async function listSchedules(env: EngineEnvironment, principal: Principal, head: WorkflowHead) {
  const owns = head.owner.id === principal.id || isAdmin(principal);
  if (!owns && !head.readOnly) requireChange(principal, head);
  const records = await listScheduleRecords(env.store, head.workflow);
  return records.map((record) => {
    const next = record.enabled ? nextTime(record, env.now()) : undefined;
    const { lastRun } = record;
    return {
      name: record.name,
      schedule: record.expression,
      timezone: record.timezone,
      enabled: record.enabled,
      revision: record.revision,
      ...(owns ? { params: JSON.parse(record.params) as JsonObject } : {}),
      ...(next === undefined ? {} : { next }),
      ...(record.readOnly ? { readOnly: true } : {}),
      ...(record.failures.length === 0 ? {} : { failuresInARow: record.failures.length }),
      ...(record.disabledReason === undefined ? {} : { disabled: record.disabledReason }),
      ...(lastRun === undefined
        ? {}
        : { lastRun: { runId: lastRun.run, status: runAnswerStatus(lastRun), startedAt: lastRun.at } }),
    };
  });
}

/** @returns what its caller should know beside the list. */
async function putSchedule(
  env: EngineEnvironment,
  principal: Principal,
  head: WorkflowHead,
  name: string,
  change: Omit<ScheduleRequest, 'id' | 'name'>,
): Promise<string | undefined> {
  const { workflow } = head;
  const place = { workflow, awsName: awsScheduleName(workflow, name) };
  for (let tries = 0; tries < TRIES; tries += 1) {
    const found = await getScheduleRecord(env.store, workflow, place.awsName);
    const before = found?.deletedAt === undefined ? found : undefined;
    const wanted = await wantedRecord(env, principal, head, name, before, change);
    await requirePlace(env, principal, place);
    const record = await putScheduleRecord(env.store, wanted, found);
    if (record === undefined) continue;
    await makeOrUndo(env, record, before);
    if (before !== undefined && before.principal.id !== principal.id) {
      await freePlaces(env.store, before.principal.id, [place]);
    }
    await requireLive(env, record);
    return noteOf(record, before, principal);
  }
  throw new EngineError(
    'Conflict',
    `schedule "${name}" is being changed by somebody else; read it and try again`,
  );
}

function noteOf(record: ScheduleRecord, before: ScheduleRecord | undefined, principal: Principal) {
  const off = record.enabled ? '' : '; it is switched off until it is enabled';
  if (before === undefined) return `pinned to revision ${record.revision}${off}`;
  const pin =
    before.revision === record.revision
      ? `still pinned to revision ${record.revision}`
      : `pinned to revision ${record.revision}, before to ${before.revision}`;
  const whose = before.principal.id === principal.id ? '' : '; it works with your authority from now on';
  return `${pin}${whose}${off}`;
}

/** @throws EngineError Invalid, Forbidden */
async function wantedRecord(
  env: EngineEnvironment,
  principal: Principal,
  head: WorkflowHead,
  name: string,
  before: ScheduleRecord | undefined,
  change: Omit<ScheduleRequest, 'id' | 'name'>,
): Promise<Omit<ScheduleRecord, 'version'>> {
  const expression = change.schedule ?? before?.expression;
  if (expression === undefined) {
    throw new EngineError(
      'Invalid',
      `schedule: required, for there is no schedule "${name}" yet; such as cron(0 2 * * ? *), rate(1 hour) or at(2030-01-31T08:30:00)`,
    );
  }
  const timezone = change.timezone ?? before?.timezone ?? DEFAULT_TIMEZONE;
  const enabled = change.enabled ?? before?.enabled ?? true;
  // One that is off may be past: it counts what it is when it is switched on.
  checkTimes({ expression, timezone }, env.config.limits.minScheduleMinutes, env.now(), enabled);
  const document = await getDocument(env.store, head.workflow, head.hash);
  requireTools(principal, document);
  const params = change.params ?? (JSON.parse(before?.params ?? '{}') as JsonObject);
  const { problems } = resolveParams(document.blueprint.params ?? {}, params);
  if (problems.length > 0) {
    throw new EngineError('Invalid', `workflow "${head.workflow}" is not scheduled: ${problems.join('; ')}`);
  }
  const text = JSON.stringify(params);
  if (Buffer.byteLength(text) > MAX_SCHEDULE_PARAMS_BYTES) {
    throw new EngineError(
      'Invalid',
      `params: a schedule keeps at most ${MAX_SCHEDULE_PARAMS_BYTES / 1024} KiB of them; let the workflow read what is larger`,
    );
  }
  const now = new Date(env.now()).toISOString();
  return {
    workflow: head.workflow,
    name,
    awsName: awsScheduleName(head.workflow, name),
    expression,
    timezone,
    enabled,
    readOnly: false,
    principal,
    revision: head.revision,
    versionArn: head.versionArn,
    params: text,
    // What failed before it was changed says nothing about it any more.
    failures: [],
    countedFrom: now,
    ...(enabled || before?.disabledReason === undefined ? {} : { disabledReason: before.disabledReason }),
    ...(before?.lastRun === undefined ? {} : { lastRun: before.lastRun }),
    createdAt: before?.createdAt ?? now,
    updatedAt: now,
  };
}

/** @throws EngineError LimitExceeded where all places of the principal are taken by schedules that are still to come. */
async function requirePlace(
  env: EngineEnvironment,
  principal: Principal,
  place: { workflow: string; awsName: string },
): Promise<void> {
  const limit = env.config.limits.schedules;
  const taken = await takePlace(env.store, principal.id, place, limit);
  if (taken === undefined) return;
  const now = env.now();
  const records = await Promise.all(
    taken.map(({ workflow, awsName }) => getScheduleRecord(env.store, workflow, awsName)),
  );
  // Deleted, taken over by somebody else, left by a crash, or a single time that has passed.
  const gone = taken.filter((_, i) => {
    const record = records[i];
    if (record === undefined || record.deletedAt !== undefined) return true;
    if (record.principal.id !== principal.id) return true;
    return record.expression.startsWith('at(') && nextTime(record, now) === undefined;
  });
  await freePlaces(env.store, principal.id, gone);
  if ((await takePlace(env.store, principal.id, place, limit)) === undefined) return;
  throw new EngineError(
    'LimitExceeded',
    `you have ${limit} schedules, which is the most allowed; delete one that is not needed any more`,
  );
}

/** What Scheduler refuses stays as it was. */
async function makeOrUndo(
  env: EngineEnvironment,
  record: ScheduleRecord,
  before: ScheduleRecord | undefined,
): Promise<void> {
  try {
    await applySchedule(env, record);
  } catch (error) {
    const refused =
      error instanceof EngineError && (error.code === 'Invalid' || error.code === 'LimitExceeded');
    if (!refused) throw error;
    if (before === undefined) await deleteScheduleRecord(env.store, record, record.updatedAt);
    else await putScheduleRecord(env.store, before, record);
    const { workflow, awsName } = record;
    if (before?.principal.id !== record.principal.id) {
      await freePlaces(env.store, record.principal.id, [{ workflow, awsName }]);
    }
    throw error;
  }
}

/** A workflow that was deleted meanwhile has no schedules. @throws EngineError NotFound */
async function requireLive(env: EngineEnvironment, record: ScheduleRecord): Promise<void> {
  const head = await getHead(env.store, record.workflow);
  if (head?.deletedAt === undefined) return;
  await removeRecorded(env, record);
  throw new EngineError('NotFound', `id: workflow "${record.workflow}" has been deleted meanwhile`);
}

async function deleteSchedule(
  env: EngineEnvironment,
  head: WorkflowHead,
  name: string,
  { delete: _, ...rest }: Omit<ScheduleRequest, 'id' | 'name'>,
): Promise<string> {
  const others = Object.entries(rest).filter(([, value]) => value !== undefined);
  if (others.length > 0) {
    const given = others.map(([key]) => `"${key}"`).join(', ');
    throw new EngineError('Invalid', `delete: it goes with "id" and "name" alone, and ${given} came as well`);
  }
  const record = await getScheduleRecord(env.store, head.workflow, awsScheduleName(head.workflow, name));
  if (record === undefined || record.deletedAt !== undefined) {
    throw new EngineError('NotFound', `name: workflow "${head.workflow}" has no schedule "${name}"`);
  }
  await removeRecorded(env, record);
  return `schedule "${name}" is deleted; a run that it has started goes on`;
}
