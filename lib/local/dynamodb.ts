/**
 * DynamoDB on loopback: dynalite over LevelDB, behind the guard. dynalite has no transactions and no time to live; the
 * engine uses neither.
 *
 * By itself dynalite answers any `Host`, lets any origin read, and ends the process where a client goes away in the middle of
 * a body. So it sees a request only after the guard, without its `Origin`, and with a body that has been read whole.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import {
  CreateTableCommand,
  type CreateTableCommandInput,
  DynamoDBClient,
  ResourceInUseException,
} from '@aws-sdk/client-dynamodb';
import dynalite from 'dynalite';
import { clientConfig, LOCAL_CREDENTIALS, LOCAL_REGION } from '../store/aws-config.ts';
import { BodyTooLarge, type RunningServer, readRequestBody, startServer } from './http-server.ts';

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

/** Starts the stand-in on loopback and creates the tables that are missing. */
export async function startDynamoDb(options: DynamoDbOptions): Promise<RunningServer> {
  const server = dynalite({
    createTableMs: 0,
    deleteTableMs: 0,
    updateTableMs: 0,
    ...(options.folder === undefined ? {} : { path: options.folder }),
  });
  const answer = server.listeners('request')[0] as (
    request: IncomingMessage,
    response: ServerResponse,
  ) => void;
  const running = await startServer(
    async (request, response) => {
      let body: Buffer;
      try {
        body = await readRequestBody(request, MAX_REQUEST_BYTES);
      } catch (error) {
        if (!(error instanceof BodyTooLarge)) return;
        response.writeHead(413, { 'Content-Length': 0, Connection: 'close' }).end();
        return;
      }
      answer(replay(request, body), response);
    },
    {
      server,
      guard: { signed: true },
      ...(options.host === undefined ? {} : { host: options.host }),
      ...(options.port === undefined ? {} : { port: options.port }),
      ...(options.onError === undefined ? {} : { onError: options.onError }),
    },
  );
  try {
    await createTables(running.url, options.tables ?? []);
  } catch (error) {
    await running.close(0);
    throw error;
  }
  return running;
}

/** The request as dynalite reads one: method, URL, headers and a stream of the body. */
function replay(request: IncomingMessage, body: Buffer): IncomingMessage {
  const { origin: _origin, ...headers } = request.headers;
  return Object.assign(Readable.from(body.length === 0 ? [] : [body], { objectMode: false }), {
    method: request.method,
    url: request.url,
    headers,
  }) as unknown as IncomingMessage;
}

async function createTables(endpoint: string, tables: readonly CreateTableCommandInput[]): Promise<void> {
  if (tables.length === 0) return;
  const client = new DynamoDBClient(
    clientConfig({ region: LOCAL_REGION, endpoint, credentials: LOCAL_CREDENTIALS }),
  );
  try {
    for (const table of tables) {
      try {
        await client.send(new CreateTableCommand(table));
      } catch (error) {
        // It is there from an earlier start.
        if (!(error instanceof ResourceInUseException)) throw error;
      }
    }
  } finally {
    client.destroy();
  }
}
