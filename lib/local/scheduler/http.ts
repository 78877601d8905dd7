/**
 * The REST JSON protocol of EventBridge Scheduler: an operation is a method and a path, its input the path's label, the query
 * and a JSON body together; an error is its status with `x-amzn-ErrorType` and `{ "Message": ... }`.
 *
 * It refuses what is no such request, and bodies over 1 MiB. A fault of ours is answered as `InternalServerException` without
 * its text, which goes to `onFailure`.
 */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { isJsonObject, type JsonObject } from '../../blueprint/json.ts';
import { BodyTooLarge, readRequestBody } from '../http-server.ts';
import { invalid, SchedulerError } from './api-error.ts';
import { type OperationName, ROUTES } from './operations/routes.ts';
import type { RawRequest } from './requests.ts';

const MAX_BODY_BYTES = 1024 * 1024;

export async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  carryOut: (operation: OperationName, input: RawRequest) => Promise<JsonObject>,
  onFailure: (error: unknown) => void,
): Promise<void> {
  try {
    const { operation, labels, query } = route(request);
    const body = request.method === 'GET' || request.method === 'DELETE' ? {} : await readBody(request);
    answer(response, 200, await carryOut(operation, { ...body, ...query, ...labels }));
  } catch (error) {
    if (request.destroyed && !request.complete) return; // the caller went away before it had said all
    const refusal =
      error instanceof SchedulerError
        ? error
        : new SchedulerError(
            'InternalServerException',
            'The request failed inside the local EventBridge Scheduler.',
          );
    if (refusal !== error) onFailure(error);
    answer(
      response,
      refusal.statusCode,
      { Message: refusal.message },
      { 'x-amzn-ErrorType': refusal.name, ...(request.complete ? {} : { Connection: 'close' }) },
    );
  }
}

function route(request: IncomingMessage): {
  operation: OperationName;
  labels: RawRequest;
  query: RawRequest;
} {
  const url = new URL(request.url ?? '/', 'http://scheduler');
  const segments = url.pathname.split('/').filter((segment) => segment !== '');
  for (const { operation, method, path, label, query = {} } of ROUTES) {
    if (
      request.method !== method ||
      segments[0] !== path ||
      segments.length !== (label === undefined ? 1 : 2)
    ) {
      continue;
    }
    const read: Record<string, unknown> = {};
    for (const [parameter, { member, type }] of Object.entries(query)) {
      const values = url.searchParams.getAll(parameter);
      const first = values[0];
      if (first === undefined) continue;
      if (type === 'list') read[member] = values;
      else read[member] = type === 'integer' && /^-?\d+$/.test(first) ? Number(first) : first;
    }
    return {
      operation,
      labels: label === undefined ? {} : { [label]: decode(segments[1] ?? '') },
      query: read,
    };
  }
  throw new SchedulerError(
    'UnknownOperationException',
    'The requested operation is not recognized by the service.',
  );
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw invalid('The path of the request is not URL-encoded.');
  }
}

async function readBody(request: IncomingMessage): Promise<JsonObject> {
  let text: string;
  try {
    text = (await readRequestBody(request, MAX_BODY_BYTES)).toString('utf8');
  } catch (error) {
    if (error instanceof BodyTooLarge) throw invalid(error.message);
    throw error;
  }
  let value: unknown;
  try {
    value = JSON.parse(text === '' ? '{}' : text);
  } catch {
    throw invalid('The request body is not valid JSON.');
  }
  if (!isJsonObject(value)) throw invalid('The request body is not a JSON object.');
  return value;
}

function answer(
  response: ServerResponse,
  statusCode: number,
  content: JsonObject,
  headers: Record<string, string> = {},
): void {
  if (response.destroyed) return;
  const body = Buffer.from(JSON.stringify(content));
  response.writeHead(statusCode, {
    'Content-Type': 'application/json',
    'Content-Length': body.length,
    'x-amzn-RequestId': randomUUID(),
    ...headers,
  });
  response.end(body);
}
