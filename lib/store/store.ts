/**
 * The two places where the engine keeps things: one DynamoDB table (records) and one S3 bucket (blueprint documents,
 * large values). Every function of this folder takes a `Store`.
 *
 * What always holds: writes that matter are conditional on a single item; reads on which a decision rests are
 * consistent; whatever is immutable is named by its content.
 */
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { S3Client } from '@aws-sdk/client-s3';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { type AwsCredentials, clientConfig } from './aws-config.ts';
import { lazyClient, type Sender } from './lazy-client.ts';

interface DynamoTable {
  client: DynamoDBDocumentClient;
  name: string;
}

export interface Bucket {
  client: Sender<S3Client>;
  name: string;
}

export interface Store {
  table: DynamoTable;
  bucket: Bucket;
}

export interface StoreConfig {
  tableName: string;
  bucketName: string;
  region: string;
  /** URLs of the stand-ins; absent: AWS. */
  endpoints?: { dynamodb?: string; s3?: string };
  credentials?: AwsCredentials;
}

/** Makes the clients; no request is sent until the first use. */
export function openStore(config: StoreConfig): Store {
  const { region, credentials, endpoints } = config;
  const common = { region, ...(credentials === undefined ? {} : { credentials }) };
  const dynamodb = new DynamoDBClient(
    clientConfig({
      ...common,
      ...(endpoints?.dynamodb === undefined ? {} : { endpoint: endpoints.dynamodb }),
    }),
  );
  const s3Config = {
    ...clientConfig({ ...common, ...(endpoints?.s3 === undefined ? {} : { endpoint: endpoints.s3 }) }),
    // A stand-in has one host name; bucket names in it would not resolve.
    forcePathStyle: endpoints?.s3 !== undefined,
  };
  return {
    table: {
      client: DynamoDBDocumentClient.from(dynamodb, { marshallOptions: { removeUndefinedValues: true } }),
      name: config.tableName,
    },
    bucket: {
      client: lazyClient(async () => new (await import('@aws-sdk/client-s3')).S3Client(s3Config)),
      name: config.bucketName,
    },
  };
}

/** Lets go of the sockets that the clients keep. */
export function closeStore(store: Store): void {
  store.table.client.destroy();
  store.bucket.client.destroy();
}
