/**
 * Whether an execution can be redriven, and why not: rules and reasons as DescribeExecution and RedriveExecution
 * document them.
 */
import type { ExecutionRecord } from './storage/executions.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const REDRIVABLE_PERIOD_MS = 14 * DAY_MS;
const MAX_OPEN_MS = 365 * DAY_MS;
/** An `ExecutionRedriven` event and one more must fit into the 25,000. */
const MAX_EVENTS_TO_REDRIVE = 24_999;

export interface RedriveStanding {
  status: 'REDRIVABLE' | 'NOT_REDRIVABLE' | 'REDRIVABLE_BY_MAP_RUN';
  reason?: string;
}

export function redriveStanding(
  record: ExecutionRecord,
  machineStatus: 'ACTIVE' | 'DELETING' | undefined,
  now: number,
): RedriveStanding {
  const not = (reason: string): RedriveStanding => ({ status: 'NOT_REDRIVABLE', reason });
  if (machineStatus === 'DELETING') return not('State machine is in DELETING status');
  if (record.status === 'RUNNING') return not('Execution is RUNNING and cannot be redriven');
  if (record.status === 'SUCCEEDED') return not('Execution is SUCCEEDED and cannot be redriven');
  if ((record.eventCount ?? 0) >= MAX_EVENTS_TO_REDRIVE) return not('Execution history event limit exceeded');
  if (now - record.startDate > MAX_OPEN_MS) return not('Execution has exceeded the max execution time');
  if (now - (record.stopDate ?? now) > REDRIVABLE_PERIOD_MS)
    return not('Execution redrivable period exceeded');
  return record.mapRunArn === undefined ? { status: 'REDRIVABLE' } : { status: 'REDRIVABLE_BY_MAP_RUN' };
}
