/** Starts the stand-ins that a test of the store needs, and a store on them. */
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startDynamoDb } from '../../lib/local/dynamodb/service.ts';
import { startS3 } from '../../lib/local/s3/service.ts';
import { LOCAL_CREDENTIALS, LOCAL_REGION } from '../../lib/store/aws-config.ts';
import { closeStore, openStore, type Store } from '../../lib/store/store.ts';
import { createTableInput } from '../../lib/store/table.ts';

export interface StandIns {
  store: Store;
  endpoints: { dynamodb: string; s3: string };
  /** Where S3's objects are kept. */
  folder: string;
  stop(): Promise<void>;
}

export async function startStandIns(): Promise<StandIns> {
  const folder = await mkdtemp(join(tmpdir(), 'mwe-store-'));
  const errors: unknown[] = [];
  const onError = (error: unknown) => errors.push(error);
  const dynamodb = await startDynamoDb({ tables: [createTableInput('mwe')], onError });
  const s3 = await startS3({ folder, buckets: ['mwe-000000000000'], onError });
  const endpoints = { dynamodb: dynamodb.url, s3: s3.url };
  const store = openStore({
    tableName: 'mwe',
    bucketName: 'mwe-000000000000',
    region: LOCAL_REGION,
    endpoints,
    credentials: LOCAL_CREDENTIALS,
  });
  return {
    store,
    endpoints,
    folder,
    stop: async () => {
      closeStore(store);
      await Promise.all([dynamodb.close(), s3.close()]);
      await rm(folder, { recursive: true, force: true });
      if (errors.length > 0) throw new AggregateError(errors, 'A stand-in failed.');
    },
  };
}

/** An id that no other test uses. */
export const freshId = (): string => randomUUID();
