/**
 * Lambda's HTTP API, as far as invoking goes: `POST /2015-03-31/functions/NAME/invocations` with `RequestResponse`, `Event`
 * and `DryRun`, and a list of the functions. Source: Lambda API reference, "Invoke" and "ListFunctions".
 */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { BodyTooLarge, type Handler, readRequestBody } from '../http-server.ts';
import { LambdaServiceError } from '../step-functions/contract.ts';
import { type LambdaService, MAX_SYNC_BYTES } from './functions.ts';

const INVOKE = /^\/2015-03-31\/functions\/([^/]+)\/invocations\/?$/;
const LIST = /^\/2015-03-31\/functions\/?$/;

/** Answers requests of Lambda clients. */
export function createLambdaHandler(service: LambdaService): Handler {
  return async (request, response) => {
    try {
      await route(service, request, response);
    } catch (error) {
      if (!(error instanceof LambdaServiceError)) throw error;
      sendJson(
        response,
        error.statusCode,
        error.requestId,
        { Type: 'User', Message: error.message, message: error.message },
        {
          'x-amzn-ErrorType': error.name,
          ...(request.complete ? {} : { Connection: 'close' }),
        },
      );
    }
  };
}

async function route(
  service: LambdaService,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const url = new URL(request.url ?? '/', 'http://lambda');
  const name = INVOKE.exec(url.pathname)?.[1];
  if (request.method === 'POST' && name !== undefined) {
    await invoke(service, decodeURIComponent(name), url.searchParams.get('Qualifier'), request, response);
    return;
  }
  if (request.method === 'GET' && LIST.test(url.pathname)) {
    const functions = service.names().map((each) => {
      const { arn, timeoutSeconds } = service.find(each);
      return { FunctionName: each, FunctionArn: arn, Version: '$LATEST', Timeout: timeoutSeconds };
    });
    sendJson(response, 200, randomUUID(), { Functions: functions });
    return;
  }
  throw new LambdaServiceError(
    'UnknownOperationException',
    'The local Lambda invokes and lists functions.',
    404,
    randomUUID(),
  );
}

async function invoke(
  service: LambdaService,
  functionName: string,
  qualifier: string | null,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const type = request.headers['x-amz-invocation-type'] ?? 'RequestResponse';
  if (type !== 'RequestResponse' && type !== 'Event' && type !== 'DryRun') {
    throw new LambdaServiceError(
      'InvalidParameterValueException',
      'The invocation type is RequestResponse, Event or DryRun.',
      400,
      randomUUID(),
    );
  }
  const found = service.find(functionName, qualifier ?? undefined);
  let body: Buffer;
  try {
    body = await readRequestBody(request, MAX_SYNC_BYTES);
  } catch (error) {
    if (!(error instanceof BodyTooLarge)) return;
    throw new LambdaServiceError(
      'RequestTooLargeException',
      `Request must be smaller than ${MAX_SYNC_BYTES} bytes for the InvokeFunction operation`,
      413,
      randomUUID(),
    );
  }
  if (type === 'DryRun') {
    response.writeHead(204, { 'x-amzn-RequestId': randomUUID() }).end();
    return;
  }
  const gone = new AbortController();
  response.once('close', () => gone.abort(new Error('The client went away.')));
  const answer = await service
    .invoke({
      functionName: found.name,
      // An invocation without a payload is one with an empty object.
      payload: body.length === 0 ? '{}' : body.toString('utf8'),
      invocationType: type,
      signal: gone.signal,
    })
    .catch((error: unknown) => {
      if (gone.signal.aborted) return undefined;
      throw error;
    });
  if (answer === undefined) return;
  response.writeHead(answer.statusCode, {
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(answer.payload),
    'x-amzn-RequestId': answer.requestId,
    ...(answer.statusCode === 200 ? { 'X-Amz-Executed-Version': answer.executedVersion } : {}),
    ...(answer.functionError === undefined ? {} : { 'X-Amz-Function-Error': answer.functionError }),
  });
  response.end(answer.payload);
}

function sendJson(
  response: ServerResponse,
  status: number,
  requestId: string,
  content: object,
  headers: Record<string, string> = {},
): void {
  const body = JSON.stringify(content);
  response.writeHead(status, {
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(body),
    'x-amzn-RequestId': requestId,
    ...headers,
  });
  response.end(body);
}
