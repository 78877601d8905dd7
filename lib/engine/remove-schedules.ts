/** The end of a schedule: first in EventBridge Scheduler, then its record, then its place among its principal's. */
import type { ScheduleRecord } from '../store/records.ts';
import {
  deleteScheduleRecord,
  freePlaces,
  getScheduleRecord,
  listScheduleRecords,
} from '../store/schedules.ts';
import { removeSchedule } from './aws-schedules.ts';
import type { EngineEnvironment } from './environment.ts';
import { EngineError } from './errors.ts';

/** Times that it is tried anew because the record changed meanwhile. */
const TRIES = 5;

/** Ends one. @throws EngineError Conflict, Unavailable; the same call again goes on where it stopped. */
export async function removeRecorded(env: EngineEnvironment, record: ScheduleRecord): Promise<void> {
  const { workflow, awsName } = record;
  let current: ScheduleRecord | undefined = record;
  for (let tries = 0; tries < TRIES; tries += 1) {
    if (current === undefined || current.deletedAt !== undefined) return;
    await removeSchedule(env, awsName);
    if (await deleteScheduleRecord(env.store, current, new Date(env.now()).toISOString())) {
      await freePlaces(env.store, current.principal.id, [{ workflow, awsName }]);
      return;
    }
    current = await getScheduleRecord(env.store, workflow, awsName);
  }
  throw new EngineError('Conflict', `schedule "${record.name}" is being changed by somebody else; try again`);
}

/** Deletes all schedules of a workflow that agents made. What the stack made goes with the stack's template. */
export async function deleteSchedulesOf(env: EngineEnvironment, workflow: string): Promise<void> {
  for (const record of await listScheduleRecords(env.store, workflow)) {
    if (!record.readOnly) await removeRecorded(env, record);
  }
}
