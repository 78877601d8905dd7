/**
 * A function URL on loopback, so that any MCP client can talk to it: HTTP requests become function-URL events (payload 2.0), the
 * streamed answer becomes an HTTP response. Who may come in is decided as AWS does, by the URL's AuthType, the function's policy
 * and, with AWS_IAM, the caller's own; a public URL too needs both permissions.
 *
 * With AWS_IAM a signature is not verified: the access key id names the caller, as everywhere here.
 * Sources: Lambda developer guide, "Invoking Lambda function URLs" and "Control access to Lambda function URLs".
 */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { JsonObject } from '../lib/blueprint/json.ts';
import { type RunningServer, readRequestBody, startServer } from '../lib/local/http-server.ts';
import { LOCAL_ACCOUNT } from '../lib/store/aws-config.ts';
import type { Needed } from './actions/needed.ts';
import { accessKeyOf } from './actions/services.ts';
import type { Caller } from './iam/evaluate.ts';
import type { LambdaProcess } from './lambda-process.ts';

export interface FunctionUrl {
  functionArn: string;
  /** Without scheme and slash. */
  domainName: string;
  authType: 'NONE' | 'AWS_IAM';
  process: LambdaProcess;
  /** The caller's role or user of an access key; undefined: there is none of that key. */
  callerOf(accessKey: string): { arn: string; userArn: string; caller: Caller } | undefined;
  allowed(caller: Caller, needed: Needed): boolean;
}

/** Lambda's limit for a request. */
const MAX_BODY_BYTES = 6 * 1024 * 1024;

/** Serves the URL; what a handler answers is what the client gets, head and all. */
export function serveFunctionUrl(
  url: FunctionUrl,
  onError: (error: unknown) => void,
): Promise<RunningServer> {
  return startServer((request, response) => answer(url, request, response), { onError });
}

async function answer(url: FunctionUrl, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = await readRequestBody(request, MAX_BODY_BYTES);
  const admitted = admit(url, request);
  if (admitted === undefined) {
    plain(response, 403, { Message: 'Forbidden' }, { 'x-amzn-ErrorType': 'AccessDeniedException' });
    return;
  }
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  let headed = false;
  await url.process.stream(
    eventOf(url, request, body, admitted),
    {
      head(head) {
        headed = true;
        response.writeHead(head.statusCode, {
          'x-amzn-RequestId': randomUUID(),
          ...renamed(head.headers),
          ...(head.cookies === undefined ? {} : { 'set-cookie': [...head.cookies] }),
        });
        response.flushHeaders();
      },
      chunk(bytes) {
        if (!headed) response.writeHead(200, { 'Content-Type': 'application/octet-stream' });
        headed = true;
        response.write(bytes);
      },
      end(error) {
        if (error === undefined) {
          // A handler that writes nothing answers an empty 200.
          if (!headed) response.writeHead(200, { 'Content-Length': 0 });
          response.end();
        } else if (headed) response.destroy();
        else plain(response, 502, { Message: 'Internal Server Error' });
      },
    },
    gone.signal,
  );
}

/** What Lambda keeps to itself in an answer comes under another name, as public reports of deployed function URLs have it. */
const REMAPPED = ['www-authenticate'];

function renamed<T>(headers: Readonly<Record<string, T>>): Record<string, T> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      REMAPPED.includes(name.toLowerCase()) ? `x-amzn-Remapped-${name}` : name,
      value,
    ]),
  );
}

/** Who the function hears is asking; undefined: nobody comes in. */
function admit(url: FunctionUrl, request: IncomingMessage): { iam?: JsonObject } | undefined {
  const context = { 'lambda:FunctionUrlAuthType': url.authType };
  const both: Needed[] = [
    { action: 'lambda:InvokeFunctionUrl', resource: url.functionArn, context },
    {
      action: 'lambda:InvokeFunction',
      resource: url.functionArn,
      context: { ...context, 'lambda:InvokedViaFunctionUrl': 'true' },
    },
  ];
  if (url.authType === 'NONE') {
    return both.every((needed) => url.allowed({ kind: 'anonymous' }, needed)) ? {} : undefined;
  }
  const accessKey = accessKeyOf(request.headers.authorization);
  const known = accessKey === undefined ? undefined : url.callerOf(accessKey);
  if (known === undefined || !both.every((needed) => url.allowed(known.caller, needed))) return undefined;
  return {
    iam: {
      accessKey: accessKey ?? '',
      accountId: LOCAL_ACCOUNT,
      callerId: 'AIDAREHEARSAL',
      cognitoIdentity: null,
      principalOrgId: null,
      userArn: known.userArn,
      userId: 'AIDAREHEARSAL',
    },
  };
}

function eventOf(
  url: FunctionUrl,
  request: IncomingMessage,
  body: Buffer,
  authorizer: { iam?: JsonObject },
): JsonObject {
  const [rawPath = '/', ...query] = (request.url ?? '/').split('?');
  const {
    host: _host,
    cookie,
    connection: _connection,
    'transfer-encoding': _chunked,
    ...others
  } = request.headers;
  const headers = Object.entries(others).map(([name, value]) => [
    name,
    Array.isArray(value) ? value.join(',') : value,
  ]);
  const method = request.method ?? 'GET';
  const now = new Date();
  return {
    version: '2.0',
    routeKey: '$default',
    rawPath,
    rawQueryString: query.join('?'),
    ...(cookie === undefined ? {} : { cookies: cookie.split('; ') }),
    headers: {
      ...(Object.fromEntries(headers) as JsonObject),
      host: url.domainName,
      'x-forwarded-for': '127.0.0.1',
      'x-forwarded-port': '443',
      'x-forwarded-proto': 'https',
      'x-amzn-trace-id': 'Root=1-5e0c0000-000000000000000000000000',
    },
    requestContext: {
      accountId: url.authType === 'AWS_IAM' ? LOCAL_ACCOUNT : 'anonymous',
      apiId: url.domainName.split('.')[0] ?? '',
      domainName: url.domainName,
      domainPrefix: url.domainName.split('.')[0] ?? '',
      ...(authorizer.iam === undefined ? {} : { authorizer: { iam: authorizer.iam } }),
      http: {
        method,
        path: rawPath,
        protocol: 'HTTP/1.1',
        sourceIp: '127.0.0.1',
        userAgent: request.headers['user-agent'] ?? '',
      },
      requestId: randomUUID(),
      routeKey: '$default',
      stage: '$default',
      time: now.toUTCString(),
      timeEpoch: now.getTime(),
    },
    ...bodyOf(body, request.headers['content-type'] ?? ''),
  };
}

/** Lambda hands texts on as they are, and everything else in base64. */
function bodyOf(body: Buffer, contentType: string): JsonObject {
  if (body.length === 0) return { isBase64Encoded: false };
  if (/^(text\/|application\/(json|javascript|xml))/.test(contentType)) {
    return { body: body.toString('utf8'), isBase64Encoded: false };
  }
  return { body: body.toString('base64'), isBase64Encoded: true };
}

function plain(
  response: ServerResponse,
  status: number,
  content: JsonObject,
  headers: Record<string, string> = {},
): void {
  const body = JSON.stringify(content);
  response.writeHead(status, {
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(body),
    ...headers,
  });
  response.end(body);
}
