/**
 * "Step Functions Execution Status Change", the event that EventBridge delivers for every start and end of a STANDARD
 * execution. Source: Step Functions developer guide, "Automating Step Functions event delivery with EventBridge".
 */
import { randomUUID } from 'node:crypto';
import type { JsonObject } from '../../../blueprint/json.ts';
import type { Place } from './arns.ts';
import type { RedriveStanding } from './redrive-standing.ts';
import type { ExecutionRecord } from './storage/executions.ts';

export interface StatusChangeEvent {
  version: '0';
  id: string;
  'detail-type': 'Step Functions Execution Status Change';
  source: 'aws.states';
  account: string;
  /** ISO time in whole seconds. */
  time: string;
  region: string;
  resources: string[];
  /** Dates are epoch milliseconds here, unlike in the API; what does not apply is null. */
  detail: JsonObject;
}

/** Above this the event carries no input, and no output if that alone is larger. */
const MAX_DATA_BYTES = 248 * 1024;

export function statusChangeEvent(
  record: ExecutionRecord,
  standing: RedriveStanding,
  place: Place,
  now: number,
): StatusChangeEvent {
  const inputBytes = escapedBytes(record.input);
  const outputBytes = record.output === undefined ? 0 : escapedBytes(record.output);
  const inputIncluded = inputBytes + outputBytes <= MAX_DATA_BYTES;
  const outputIncluded = outputBytes <= MAX_DATA_BYTES;
  return {
    version: '0',
    id: randomUUID(),
    'detail-type': 'Step Functions Execution Status Change',
    source: 'aws.states',
    account: place.accountId,
    time: `${new Date(now).toISOString().slice(0, 19)}Z`,
    region: place.region,
    resources: [record.executionArn],
    detail: {
      executionArn: record.executionArn,
      stateMachineArn: record.stateMachineArn,
      stateMachineVersionArn: record.stateMachineVersionArn ?? null,
      stateMachineAliasArn: null,
      name: record.name,
      status: record.status,
      startDate: record.startDate,
      stopDate: record.stopDate ?? null,
      input: inputIncluded ? record.input : null,
      inputDetails: { included: inputIncluded },
      output: outputIncluded ? (record.output ?? null) : null,
      outputDetails: record.output === undefined ? null : { included: outputIncluded },
      error: record.error ?? null,
      cause: record.cause ?? null,
      redriveCount: record.redriveCount,
      redriveDate: record.redriveDate ?? null,
      redriveStatus: standing.status,
      redriveStatusReason: standing.reason ?? null,
    },
  };
}

function escapedBytes(text: string): number {
  return Buffer.byteLength(JSON.stringify(text));
}
