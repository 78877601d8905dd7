/**
 * The engine table's definition, for the stand-in that creates it at its start and for the stack.
 *
 * The indexes hold keys only: a list reads a page of keys by time, then the records themselves, consistently. So
 * a counter on a run's record costs no index write, and a list never shows a status that is older than the table's.
 */
import type { CreateTableCommandInput } from '@aws-sdk/client-dynamodb';

/** Name of the TTL attribute: epoch seconds. Time to live is switched on by the stack; the stand-in has none. */
export const TTL_ATTRIBUTE = 'expiresAt';
/** What belongs to a run is kept for 90 days. */
export const RUN_TTL_SECONDS = 90 * 86_400;

export const INDEXES = {
  /** `WORKFLOWS` by the time of the last save; `RUNS#<workflow>` by start. */
  byTime: { name: 'by-time', pk: 'timePk', sk: 'timeSk' },
  /** `RUNS#<YYYY-MM-DD>` by start. */
  byDay: { name: 'by-day', pk: 'dayPk', sk: 'daySk' },
  /** `OPEN` by principal and start; a run leaves it when it is closed. */
  open: { name: 'open-runs', pk: 'openPk', sk: 'openSk' },
} as const;

/** Input of CreateTable: on demand, three sparse indexes of keys. */
export function createTableInput(tableName: string): CreateTableCommandInput {
  const indexes = Object.values(INDEXES);
  const attributes = ['pk', 'sk', ...indexes.flatMap((index) => [index.pk, index.sk])];
  return {
    TableName: tableName,
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: attributes.map((name) => ({ AttributeName: name, AttributeType: 'S' })),
    KeySchema: [
      { AttributeName: 'pk', KeyType: 'HASH' },
      { AttributeName: 'sk', KeyType: 'RANGE' },
    ],
    GlobalSecondaryIndexes: indexes.map((index) => ({
      IndexName: index.name,
      KeySchema: [
        { AttributeName: index.pk, KeyType: 'HASH' },
        { AttributeName: index.sk, KeyType: 'RANGE' },
      ],
      Projection: { ProjectionType: 'KEYS_ONLY' },
    })),
  };
}
