/**
 * Who started an execution that the endpoint did not, and with which parameters: told by its input, as far as that may be believed.
 *
 *     {"schedule": {"arn": "…", "time": "…", "execution": NAME}}    a schedule of ours: its record has the parameters
 *     {"schedule": {…}, "params": {…}}                              a schedule that somebody made by hand
 *     {} or {"params": {…}}                                         the console or the CLI
 *     {"run": "4f0c…"}, {"schedule": {…, "execution": OTHER}}       an old input that somebody starts again: a run of its own, by hand,
 *                                                                   with the parameters of the run that it was of
 *
 * A delivery carries the execution's own name, which Scheduler made (`<aws.scheduler.execution-id>` in both places), so what
 * carries another one was started by hand. The first execution of an occurrence has it for good.
 */
import { StepFailure } from '../blueprint/errors.ts';
import { isJsonObject, type Json, type JsonObject } from '../blueprint/json.ts';
import { type BeginTask, DUPLICATE } from '../compile/protocol.ts';
import { getClaim, putClaim } from '../store/claims.ts';
import type { Principal, ScheduleRecord, WorkflowHead } from '../store/records.ts';
import { getRun } from '../store/runs.ts';
import { getScheduleRecord } from '../store/schedules.ts';
import type { Store } from '../store/store.ts';
import { getValue } from '../store/values.ts';
import { namedError } from './failure.ts';

export interface StartSource {
  trigger: 'console' | 'schedule';
  /** With whose authority it runs. */
  principal: Principal;
  /** As given, defaults not filled. */
  params: Json | undefined;
  /** AWS name of the schedule whose record counts how the run ends. */
  schedule?: string;
  /** Why it must not run. */
  refusal?: StepFailure;
}

/**
 * Tells the source of the execution that `run` is made for. Claims the occurrence of a schedule.
 * @throws an error of the name `Duplicate` where another execution has the occurrence.
 */
export async function startSource(
  store: Store,
  task: BeginTask,
  head: WorkflowHead,
  run: string,
): Promise<StartSource> {
  const input = isJsonObject(task.input) ? task.input : {};
  if (isJsonObject(input.schedule)) return scheduled(store, task, head, run, input, input.schedule);
  const byHand: StartSource = {
    trigger: 'console',
    principal: ownerOf(head, 'console'),
    params: input.params,
  };
  if (typeof input.run !== 'string' || Object.hasOwn(input, 'params')) return byHand;
  const params = await paramsOfRun(store, task.workflow, input.run);
  if (params !== undefined) return { ...byHand, params };
  return {
    ...byHand,
    refusal: refused('input.run: this workflow has no such run; start it with {"params": {…}}'),
  };
}

/** With the workflow owner's authority, but none of the owner's scopes: a run asks nothing of the endpoint. */
function ownerOf(head: WorkflowHead, kind: 'console' | 'schedule'): Principal {
  return authority(kind, head.owner);
}

function authority(kind: 'console' | 'schedule', { id, tools }: Principal): Principal {
  return { kind, id, scopes: [], ...(tools === undefined ? {} : { tools }) };
}

async function scheduled(
  store: Store,
  task: BeginTask,
  head: WorkflowHead,
  run: string,
  input: JsonObject,
  { arn, time, execution }: JsonObject,
): Promise<StartSource> {
  if (!isShortText(arn) || !isShortText(time)) {
    const refusal = refused('input.schedule: "arn" and "time" are needed, as texts');
    return { trigger: 'console', principal: ownerOf(head, 'console'), params: input.params, refusal };
  }
  const claim = `CLAIM#${arn}#${time}`;
  const handMade = Object.hasOwn(input, 'params');
  const record = handMade ? undefined : await recordOf(store, task.workflow, arn);
  if (execution !== undefined && execution !== task.name) {
    const byHand: StartSource = {
      trigger: 'console',
      principal: ownerOf(head, 'console'),
      params: input.params,
    };
    if (handMade) return byHand;
    const first = await getClaim(store, claim);
    const params = first === undefined ? undefined : await paramsOfRun(store, task.workflow, first);
    if (params !== undefined) return { ...byHand, params };
    if (record !== undefined) return { ...byHand, params: paramsOf(record) };
    return { ...byHand, refusal: unknownSchedule() };
  }
  if (!(await putClaim(store, claim, run))) {
    throw namedError(DUPLICATE, 'this occurrence of the schedule has been run already');
  }
  if (record !== undefined) {
    const principal = authority('schedule', record.principal);
    return { trigger: 'schedule', principal, params: paramsOf(record), schedule: record.awsName };
  }
  const source: StartSource = {
    trigger: 'schedule',
    principal: ownerOf(head, 'schedule'),
    params: input.params,
  };
  return handMade ? source : { ...source, refusal: unknownSchedule() };
}

/** ARNs of schedules and times are far shorter; a key of the table must not be longer. */
function isShortText(value: Json | undefined): value is string {
  return typeof value === 'string' && value.length <= 512;
}

/** The record of the schedule whose ARN ends in its name: `arn:aws:scheduler:REGION:ACCOUNT:schedule/GROUP/NAME`. */
async function recordOf(store: Store, workflow: string, arn: string): Promise<ScheduleRecord | undefined> {
  const name = arn.slice(arn.lastIndexOf('/') + 1);
  if (!/^[\w.-]{1,64}$/.test(name)) return undefined;
  const record = await getScheduleRecord(store, workflow, name);
  return record?.deletedAt === undefined ? record : undefined;
}

function paramsOf(record: ScheduleRecord): Json {
  return JSON.parse(record.params) as Json;
}

/** The parameters of a run of this very workflow; another one's are not handed over. */
async function paramsOfRun(store: Store, workflow: string, run: string): Promise<Json | undefined> {
  if (!/^[0-9a-f]{32}$/.test(run)) return undefined;
  const found = await getRun(store, run);
  return found?.workflow === workflow ? getValue(store, run, '$params') : undefined;
}

function unknownSchedule(): StepFailure {
  return refused(
    'input.schedule: the schedule has been deleted, or was made by hand; one made by hand must carry "params" in its input',
  );
}

function refused(sentence: string): StepFailure {
  return new StepFailure('InvalidArguments', sentence);
}
