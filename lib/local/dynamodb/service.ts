/**
 * DynamoDB on loopback: dynalite's operations over LevelDB, in DynamoDB's JSON protocol, behind the guard. There are no
 * transactions and no time to live; the engine uses neither at run time.
 */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { crc32 } from 'node:zlib';
import type { CreateTableCommandInput } from '@aws-sdk/client-dynamodb';
import { BodyTooLarge, type RunningServer, readRequestBody, startServer } from '../http-server.ts';
import { DynamoDbError, openTables, type Tables } from './operations.ts';

export interface DynamoDbOptions {
  /** Where the tables are kept; absent: in memory. */
  folder?: string;
  host?: string;
  port?: number;
  /** Tables that are there from the start. */
  tables?: readonly CreateTableCommandInput[];
  onError?: (error: unknown) => void;
}

/** DynamoDB's own limit on a request. */
const MAX_REQUEST_BYTES = 16 * 1024 * 1024;
const TARGET = 'DynamoDB_20120810.';

/** Opens the database, creates the tables that are missing, and starts the stand-in on loopback. */
export async function startDynamoDb(options: DynamoDbOptions): Promise<RunningServer> {
  const { onError = () => {} } = options;
  const tables = await openTables(options.folder);
  try {
    for (const table of options.tables ?? []) await createMissing(tables, table);
    const server = await startServer((request, response) => answer(tables, request, response, onError), {
      guard: { signed: true },
      onError,
      ...(options.host === undefined ? {} : { host: options.host }),
      ...(options.port === undefined ? {} : { port: options.port }),
    });
    let closing: Promise<void> | undefined;
    return {
      ...server,
      close: (graceMs) => {
        closing ??= server.close(graceMs).finally(() => tables.close());
        return closing;
      },
    };
  } catch (error) {
    await tables.close();
    throw error;
  }
}

async function createMissing(tables: Tables, table: CreateTableCommandInput): Promise<void> {
  try {
    // A copy: dynalite changes what it is given.
    await tables.perform('CreateTable', structuredClone(table));
  } catch (error) {
    // It is there from an earlier start.
    if (error instanceof DynamoDbError && JSON.stringify(error.body).includes('ResourceInUseException'))
      return;
    throw error;
  }
}

async function answer(
  tables: Tables,
  request: IncomingMessage,
  response: ServerResponse,
  onError: (error: unknown) => void,
): Promise<void> {
  let status = 200;
  let content: object;
  try {
    content = await perform(tables, request);
  } catch (error) {
    if (error instanceof DynamoDbError) {
      status = error.status;
      content = error.body;
    } else if (response.destroyed) return;
    else {
      onError(error);
      status = 500;
      content = {
        __type: 'com.amazonaws.dynamodb.v20120810#InternalServerError',
        message: 'Internal server error',
      };
    }
  }
  const body = Buffer.from(JSON.stringify(content));
  response.writeHead(status, {
    'Content-Type': 'application/x-amz-json-1.0',
    'Content-Length': body.length,
    'x-amzn-RequestId': randomUUID(),
    'x-amz-crc32': String(crc32(body)),
    ...(request.complete ? {} : { Connection: 'close' }),
  });
  response.end(body);
}

async function perform(tables: Tables, request: IncomingMessage): Promise<object> {
  const target = request.headers['x-amz-target'];
  if (request.method !== 'POST' || typeof target !== 'string' || !target.startsWith(TARGET))
    throw unknownOperation();
  let body: Buffer;
  try {
    body = await readRequestBody(request, MAX_REQUEST_BYTES);
  } catch (error) {
    if (!(error instanceof BodyTooLarge)) throw error;
    throw new DynamoDbError(413, { __type: 'com.amazon.coral.service#RequestEntityTooLargeException' });
  }
  let input: unknown;
  try {
    input = JSON.parse(body.toString('utf8'));
  } catch {
    throw new DynamoDbError(400, { __type: 'com.amazon.coral.service#SerializationException' });
  }
  if (typeof input !== 'object' || input === null || Array.isArray(input)) {
    throw new DynamoDbError(400, { __type: 'com.amazon.coral.service#SerializationException' });
  }
  const output = tables.perform(target.slice(TARGET.length), input);
  if (output === undefined) throw unknownOperation();
  return output;
}

function unknownOperation(): DynamoDbError {
  return new DynamoDbError(400, { __type: 'com.amazon.coral.service#UnknownOperationException' });
}
