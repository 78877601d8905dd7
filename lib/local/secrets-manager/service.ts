/**
 * Secrets Manager on loopback: the AWS JSON 1.1 protocol (`POST /`, the operation in `X-Amz-Target`, an error as `__type` and
 * `Message`), behind the guard. A fault of ours is answered without its text, which goes to `onError`.
 */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { ApiError } from '../api-error.ts';
import { BodyTooLarge, type RunningServer, readRequestBody, startServer } from '../http-server.ts';
import { OPERATIONS } from './operations.ts';
import { openSecrets, type Secrets } from './secrets.ts';

export interface SecretsManagerOptions {
  /** Where the secrets are kept. */
  folder: string;
  host?: string;
  port?: number;
  onError?: (error: unknown) => void;
}

const TARGET = 'secretsmanager.';
/** A value of 64 KiB in base64 or escaped JSON, and the rest. */
const MAX_REQUEST_BYTES = 1024 * 1024;

/** Starts the stand-in on loopback. */
export async function startSecretsManager(options: SecretsManagerOptions): Promise<RunningServer> {
  const { onError = () => {} } = options;
  const secrets = await openSecrets(options.folder);
  return startServer((request, response) => answer(secrets, request, response, onError), {
    guard: { signed: true },
    onError,
    ...(options.host === undefined ? {} : { host: options.host }),
    ...(options.port === undefined ? {} : { port: options.port }),
  });
}

async function answer(
  secrets: Secrets,
  request: IncomingMessage,
  response: ServerResponse,
  onError: (error: unknown) => void,
): Promise<void> {
  try {
    send(response, 200, await perform(secrets, request));
  } catch (error) {
    if (request.destroyed && !request.complete) return;
    if (!request.complete) response.setHeader('Connection', 'close');
    if (error instanceof ApiError) {
      send(response, error.statusCode, { __type: error.type, Message: error.message });
      return;
    }
    onError(error);
    send(response, 500, { __type: 'InternalServiceError', Message: 'An error occurred on the server side.' });
  }
}

async function perform(secrets: Secrets, request: IncomingMessage): Promise<object> {
  const target = String(request.headers['x-amz-target'] ?? '');
  const name = target.startsWith(TARGET) ? target.slice(TARGET.length) : '';
  const operation = Object.hasOwn(OPERATIONS, name) ? OPERATIONS[name] : undefined;
  if (request.method !== 'POST' || operation === undefined) {
    const known = Object.keys(OPERATIONS).join(', ');
    throw new ApiError('UnknownOperationException', `The local Secrets Manager knows ${known}.`);
  }
  return await operation(secrets, parseBody(await readBody(request)));
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  try {
    return await readRequestBody(request, MAX_REQUEST_BYTES);
  } catch (error) {
    if (!(error instanceof BodyTooLarge)) throw error;
    throw new ApiError('RequestEntityTooLargeException', error.message, 413);
  }
}

function parseBody(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    throw new ApiError('SerializationException', 'The request body is not valid JSON.');
  }
}

function send(response: ServerResponse, status: number, content: object): void {
  const body = JSON.stringify(content);
  response.writeHead(status, {
    'Content-Type': 'application/x-amz-json-1.1',
    'Content-Length': Buffer.byteLength(body),
    'x-amzn-RequestId': randomUUID(),
  });
  response.end(body);
}
