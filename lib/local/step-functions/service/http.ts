/**
 * The AWS JSON 1.0 protocol: `POST /` with the operation in `X-Amz-Target`, JSON in and out, an error as a 400 with
 * `__type` and `message`.
 *
 * It refuses what is no such request, and bodies over 4 MiB. A fault of ours is answered as `InternalFailure` without
 * its text, which goes to `onFailure`.
 */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { isJsonObject, type JsonObject } from '../../../blueprint/json.ts';
import { ApiError } from '../../api-error.ts';

const TARGET_PREFIX = 'AWSStepFunctions.';
const MAX_BODY_BYTES = 4 * 1024 * 1024;

/** Looks up and carries out an operation; undefined where there is none of that name. */
export type Dispatch = (operation: string, input: JsonObject) => Promise<JsonObject> | undefined;

export async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  dispatch: Dispatch,
  onFailure: (error: unknown) => void,
): Promise<void> {
  let statusCode = 200;
  let answer: JsonObject;
  try {
    answer = await carryOut(request, dispatch);
  } catch (error) {
    if (error instanceof ApiError) {
      statusCode = error.statusCode;
      answer = { __type: error.type, message: error.message };
    } else if (request.destroyed && !request.complete) {
      return; // the caller went away before it had said all
    } else {
      onFailure(error);
      statusCode = 500;
      answer = {
        __type: 'InternalFailure',
        message: 'The request failed inside the local Step Functions service.',
      };
    }
  }
  if (response.destroyed) return;
  const body = Buffer.from(JSON.stringify(answer));
  response.writeHead(statusCode, {
    'Content-Type': 'application/x-amz-json-1.0',
    'Content-Length': body.length,
    'x-amzn-RequestId': randomUUID(),
  });
  response.end(body);
}

async function carryOut(request: IncomingMessage, dispatch: Dispatch): Promise<JsonObject> {
  const target = request.headers['x-amz-target'];
  if (request.method !== 'POST' || typeof target !== 'string' || !target.startsWith(TARGET_PREFIX)) {
    throw unknownOperation();
  }
  const input = parseBody(await readBody(request));
  const result = dispatch(target.slice(TARGET_PREFIX.length), input);
  if (result === undefined) throw unknownOperation();
  return await result;
}

function unknownOperation(): ApiError {
  return new ApiError(
    'UnknownOperationException',
    'The requested operation is not recognized by the service.',
  );
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_BODY_BYTES) {
      throw new ApiError('RequestEntityTooLargeException', 'The request body is larger than 4 MiB.', 413);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function parseBody(text: string): JsonObject {
  let value: unknown;
  try {
    value = JSON.parse(text === '' ? '{}' : text);
  } catch {
    throw new ApiError('SerializationException', 'The request body is not valid JSON.');
  }
  if (!isJsonObject(value))
    throw new ApiError('SerializationException', 'The request body is not a JSON object.');
  return value;
}
