/**
 * What a Lambda function URL sends, as far as the endpoint reads it, and the web Request that it stands for.
 *
 * What always holds: the URL's host is the one that AWS names in `requestContext`, whatever the Host header says (the
 * header stays as it came, to be compared); cookies are not taken over; the body stays encoded until it is read, and is
 * decoded piece by piece, so a request that is refused for its headers costs nothing more.
 * Source: Lambda developer guide, "Invoking Lambda function URLs", request payload format 2.0.
 */
import type { CallerContext } from '../auth/authenticator.ts';

export interface FunctionUrlEvent {
  version: string;
  rawPath: string;
  rawQueryString: string;
  /** Lower-case names; several values of a name are joined by commas. */
  headers: Readonly<Record<string, string | undefined>>;
  requestContext: {
    /** Host name of the function URL. */
    domainName: string;
    http: { method: string };
    /** Of a URL with AWS_IAM: who signed the request, as AWS verified it. */
    authorizer?: { iam?: { userArn?: string } } | null;
  };
  body?: string | null;
  isBase64Encoded?: boolean;
}

/** Base64 characters that are decoded at once; a multiple of 4, so that pieces decode alone. */
const PIECE_CHARACTERS = 256 * 1024;

/** Headers of one connection, which say nothing to the one behind; cookies, which this endpoint has none of. */
const DROPPED = new Set(['connection', 'keep-alive', 'transfer-encoding', 'te', 'upgrade', 'cookie']);

/** True where it is the event of a function URL. */
export function isFunctionUrlEvent(event: unknown): event is FunctionUrlEvent {
  const { version, rawPath, headers, requestContext: context } = (event ?? {}) as Partial<FunctionUrlEvent>;
  return (
    version === '2.0' &&
    typeof rawPath === 'string' &&
    typeof headers === 'object' &&
    typeof context?.domainName === 'string' &&
    typeof context.http?.method === 'string'
  );
}

/** The request that the event stands for; `signal` becomes the request's own. */
export function requestOf(event: FunctionUrlEvent, signal: AbortSignal): Request {
  const { rawPath, rawQueryString, requestContext } = event;
  const { method } = requestContext.http;
  const query = rawQueryString === '' ? '' : `?${rawQueryString}`;
  const hasBody = event.body != null && event.body !== '' && method !== 'GET' && method !== 'HEAD';
  return new Request(`https://${requestContext.domainName}${rawPath}${query}`, {
    method,
    headers: headersOf(event),
    signal,
    ...(hasBody ? { body: bodyOf(event), duplex: 'half' } : {}),
  });
}

/** Who AWS says has signed the request; empty where the URL asks for no signature. */
export function callerOf({ requestContext }: FunctionUrlEvent): CallerContext {
  const iamArn = requestContext.authorizer?.iam?.userArn;
  return iamArn === undefined ? {} : { iamArn };
}

function headersOf({ headers }: FunctionUrlEvent): Headers {
  const kept = new Headers();
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined && !DROPPED.has(name.toLowerCase())) kept.set(name, value);
  }
  return kept;
}

function bodyOf({ body, isBase64Encoded }: FunctionUrlEvent): ReadableStream<Uint8Array> {
  const text = body ?? '';
  let at = 0;
  return new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        if (isBase64Encoded === true) {
          const piece = text.slice(at, at + PIECE_CHARACTERS);
          at += PIECE_CHARACTERS;
          controller.enqueue(Buffer.from(piece, 'base64'));
        } else {
          controller.enqueue(new TextEncoder().encode(text));
          at = text.length;
        }
        if (at >= text.length) controller.close();
      },
    },
    // Nothing is decoded before somebody reads.
    { highWaterMark: 0 },
  );
}
