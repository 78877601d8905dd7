/** One request of S3's API and what is shared in answering it. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { S3Error } from './errors.ts';
import type { ObjectMeta } from './object-file.ts';
import type { ObjectStore } from './objects.ts';

export interface Exchange {
  objects: ObjectStore;
  request: IncomingMessage;
  response: ServerResponse;
  bucket: string;
  key: string;
  query: URLSearchParams;
}

export function checksumHeaders(meta: ObjectMeta): Record<string, string> {
  if (meta.checksum === undefined) return {};
  return {
    [`x-amz-checksum-${meta.checksum.name}`]: meta.checksum.value,
    'x-amz-checksum-type': 'FULL_OBJECT',
  };
}

/** Whether an ETag header (a list, quoted or not, or `*`) names this object. */
export function matchesEtag(header: string, meta: ObjectMeta): boolean {
  return header
    .split(',')
    .map((tag) => tag.trim().replace(/^W\//, '').replace(/^"|"$/g, ''))
    .some((tag) => tag === '*' || tag === meta.etag);
}

export function sendXml(response: ServerResponse, status: number, body: string, headOnly = false): void {
  response.writeHead(status, {
    'Content-Type': 'application/xml',
    ...(headOnly ? {} : { 'Content-Length': Buffer.byteLength(body) }),
  });
  response.end(headOnly ? undefined : body);
}

export function failedPrecondition(condition: string): S3Error {
  return new S3Error('PreconditionFailed', 'At least one of the pre-conditions you specified did not hold', {
    Condition: condition,
  });
}

export function notAllowed(): S3Error {
  return new S3Error('MethodNotAllowed', 'The specified method is not allowed against this resource.');
}

export function notImplemented(what: string): S3Error {
  return new S3Error('NotImplemented', `This local S3 does not implement ${what}.`);
}
