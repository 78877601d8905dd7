/**
 * S3's REST API, as far as the engine and a person who looks with the AWS CLI need it: PutObject, GetObject, HeadObject,
 * DeleteObject, ListObjectsV2, and buckets. Path style. Whatever else a request asks for (a copy, parts, a sub-resource
 * such as `?acl`) is answered with `NotImplemented`, never half done.
 */
import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { type Handler, type RunningServer, startServer } from '../http-server.ts';
import { readBody } from './body.ts';
import { S3Error } from './errors.ts';
import { listObjects } from './list.ts';
import type { ObjectMeta } from './object-file.ts';
import { type ObjectStore, openObjects } from './objects.ts';
import { xmlDocument } from './xml.ts';

export interface S3Options {
  /** Where the objects are kept. */
  folder: string;
  host?: string;
  port?: number;
  /** Buckets that are there from the start. */
  buckets?: readonly string[];
  onError?: (error: unknown) => void;
}

/** Query parameters that say nothing about what is asked: the SDKs name the operation in one. */
const IGNORED_QUERY = new Set(['x-id']);
const LIST_QUERY = new Set([
  'list-type',
  'prefix',
  'delimiter',
  'max-keys',
  'continuation-token',
  'start-after',
  'encoding-type',
  'fetch-owner',
]);
/** Headers that are stored with an object and come back with it. */
const STORED_HEADERS = [
  'cache-control',
  'content-disposition',
  'content-encoding',
  'content-language',
  'content-type',
  'expires',
];
const MAX_KEY_BYTES = 1024;
const MAX_USER_METADATA_BYTES = 2048;

/** Starts the stand-in on loopback. */
export async function startS3(options: S3Options): Promise<RunningServer> {
  const objects = await openObjects(options.folder);
  for (const bucket of options.buckets ?? []) await objects.createBucket(bucket);
  return startServer(createHandler(objects, options.onError), {
    ...(options.host === undefined ? {} : { host: options.host }),
    ...(options.port === undefined ? {} : { port: options.port }),
    ...(options.onError === undefined ? {} : { onError: options.onError }),
    guard: { signed: true },
  });
}

interface Exchange {
  objects: ObjectStore;
  request: IncomingMessage;
  response: ServerResponse;
  bucket: string;
  key: string;
  query: URLSearchParams;
}

function createHandler(objects: ObjectStore, onError: (error: unknown) => void = () => {}): Handler {
  return async (request, response) => {
    const requestId = randomBytes(8).toString('hex').toUpperCase();
    response.setHeader('x-amz-request-id', requestId);
    response.setHeader('Server', 'AmazonS3');
    const path = (request.url ?? '/').split('?')[0] ?? '/';
    try {
      const { bucket, key, query } = parseTarget(request);
      await dispatch({ objects, request, response, bucket, key, query });
    } catch (error) {
      if (response.headersSent || !response.writable) {
        // The client went away, or the answer broke off: what is left is to cut the connection.
        response.destroy();
        return;
      }
      if (!(error instanceof S3Error)) onError(error);
      const failure =
        error instanceof S3Error
          ? error
          : new S3Error('InternalError', 'We encountered an internal error. Please try again.');
      // What is left of the body is not read.
      if (!request.complete) response.setHeader('Connection', 'close');
      sendXml(
        response,
        failure.status,
        xmlDocument(
          'Error',
          [
            ['Code', failure.code],
            ['Message', failure.message],
            ...Object.entries(failure.detail),
            ['Resource', path],
            ['RequestId', requestId],
          ],
          false,
        ),
        request.method === 'HEAD',
      );
    }
  };
}

function parseTarget(request: IncomingMessage): { bucket: string; key: string; query: URLSearchParams } {
  const [path = '/', ...rest] = (request.url ?? '/').split('?');
  const query = new URLSearchParams(rest.join('?'));
  let decoded: string;
  try {
    decoded = decodeURIComponent(path);
  } catch {
    throw new S3Error('InvalidArgument', 'The request path is not valid UTF-8 in percent encoding.');
  }
  const slash = decoded.indexOf('/', 1);
  const bucket = slash === -1 ? decoded.slice(1) : decoded.slice(1, slash);
  const key = slash === -1 ? '' : decoded.slice(slash + 1);
  if (bucket !== '' && !/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(bucket)) {
    throw new S3Error('InvalidBucketName', 'The specified bucket is not valid.', { BucketName: bucket });
  }
  if (Buffer.byteLength(key) > MAX_KEY_BYTES) throw new S3Error('KeyTooLongError', 'Your key is too long');
  return { bucket, key, query };
}

async function dispatch(exchange: Exchange): Promise<void> {
  const { request, bucket, key, query, objects } = exchange;
  const { method } = request;
  const listing = method === 'GET' && bucket !== '' && key === '';
  for (const name of query.keys()) {
    if (IGNORED_QUERY.has(name) || (listing && (LIST_QUERY.has(name) || name === 'location'))) continue;
    throw notImplemented(`the query parameter "${name}"`);
  }
  if (bucket === '') {
    if (method !== 'GET') throw notAllowed();
    return listBuckets(exchange);
  }
  if (key === '' && method === 'PUT') return createBucket(exchange);
  if (!objects.hasBucket(bucket)) {
    throw new S3Error('NoSuchBucket', 'The specified bucket does not exist', { BucketName: bucket });
  }
  if (key === '') {
    switch (method) {
      case 'HEAD':
        exchange.response.writeHead(200, { 'x-amz-bucket-region': 'us-east-1' }).end();
        return;
      case 'GET':
        return listBucket(exchange);
      case 'DELETE':
        return deleteBucket(exchange);
      default:
        throw notAllowed();
    }
  }
  switch (method) {
    case 'PUT':
      return putObject(exchange);
    case 'GET':
    case 'HEAD':
      return getObject(exchange);
    case 'DELETE':
      await objects.remove(bucket, key);
      exchange.response.writeHead(204).end();
      return;
    default:
      throw notAllowed();
  }
}

function listBuckets({ objects, response }: Exchange): void {
  sendXml(
    response,
    200,
    xmlDocument('ListAllMyBucketsResult', [
      ['Owner', [['ID', 'local']]],
      [
        'Buckets',
        objects.buckets().map(({ name, createdAt }) => [
          'Bucket',
          [
            ['Name', name],
            ['CreationDate', createdAt],
          ],
        ]),
      ],
    ]),
  );
}

async function createBucket({ objects, bucket, request, response }: Exchange): Promise<void> {
  request.resume();
  if (!(await objects.createBucket(bucket))) {
    throw new S3Error(
      'BucketAlreadyOwnedByYou',
      'Your previous request to create the named bucket succeeded and you already own it.',
      {
        BucketName: bucket,
      },
    );
  }
  response.writeHead(200, { Location: `/${bucket}`, 'Content-Length': 0 }).end();
}

async function deleteBucket({ objects, bucket, response }: Exchange): Promise<void> {
  if ((await objects.sorted(bucket)).length > 0) {
    throw new S3Error('BucketNotEmpty', 'The bucket you tried to delete is not empty', {
      BucketName: bucket,
    });
  }
  await objects.deleteBucket(bucket);
  response.writeHead(204).end();
}

async function listBucket({ objects, bucket, query, response }: Exchange): Promise<void> {
  if (query.has('location')) {
    sendXml(response, 200, xmlDocument('LocationConstraint', []));
    return;
  }
  // Version 1 pages by `marker`, which is another answer; no client of ours asks for it.
  if (query.get('list-type') !== '2') throw notImplemented('ListObjects version 1');
  sendXml(response, 200, listObjects(bucket, await objects.sorted(bucket), query));
}

async function putObject({ objects, bucket, key, request, response }: Exchange): Promise<void> {
  const { headers } = request;
  for (const name of Object.keys(headers)) {
    if (UNKNOWN_PUT_HEADER.test(name)) throw notImplemented(`the header "${name}"`);
  }
  if (headers['content-length'] === undefined && headers['transfer-encoding'] === undefined) {
    throw new S3Error('MissingContentLength', 'You must provide the Content-Length HTTP header.');
  }
  const stored = storedHeaders(request);
  const { chunks, facts } = readBody(request);
  const meta = await objects.write(
    bucket,
    key,
    chunks,
    () => ({
      size: facts.size,
      etag: facts.md5,
      lastModified: new Date().toISOString(),
      headers: stored,
      ...(facts.checksum === undefined ? {} : { checksum: facts.checksum }),
    }),
    writeCondition(request),
  );
  response.writeHead(200, { ETag: `"${meta.etag}"`, 'Content-Length': 0, ...checksumHeaders(meta) }).end();
}

/** Headers that change what a PUT means: what is not done must not look done. */
const UNKNOWN_PUT_HEADER =
  /^x-amz-(copy-source.*|acl|grant-.*|tagging|object-lock-.*|server-side-encryption.*|storage-class|website-.*|write-offset-bytes)$/;

function writeCondition(request: IncomingMessage): ((current: ObjectMeta | undefined) => void) | undefined {
  const ifNoneMatch = request.headers['if-none-match'];
  const ifMatch = request.headers['if-match'];
  if (ifNoneMatch === undefined && ifMatch === undefined) return undefined;
  if (ifNoneMatch !== undefined && ifNoneMatch !== '*') {
    throw notImplemented('a conditional write with If-None-Match other than "*"');
  }
  return (current) => {
    if (ifNoneMatch === '*' && current !== undefined) throw failedPrecondition('If-None-Match');
    if (ifMatch === undefined) return;
    if (current === undefined) throw new S3Error('NoSuchKey', 'The specified key does not exist.');
    if (!matchesEtag(ifMatch, current)) throw failedPrecondition('If-Match');
  };
}

function storedHeaders(request: IncomingMessage): Record<string, string> {
  const stored: Record<string, string> = {};
  let userBytes = 0;
  for (const [name, value] of Object.entries(request.headers)) {
    if (typeof value !== 'string') continue;
    if (name.startsWith('x-amz-meta-')) {
      userBytes += Buffer.byteLength(name.slice('x-amz-meta-'.length)) + Buffer.byteLength(value);
      stored[name] = value;
    } else if (STORED_HEADERS.includes(name)) stored[name] = value;
  }
  if (userBytes > MAX_USER_METADATA_BYTES) {
    throw new S3Error('InvalidRequest', 'Your metadata headers exceed the maximum allowed metadata size');
  }
  const encoding = (stored['content-encoding'] ?? '')
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '' && part !== 'aws-chunked')
    .join(',');
  if (encoding === '') delete stored['content-encoding'];
  else stored['content-encoding'] = encoding;
  stored['content-type'] ??= 'binary/octet-stream';
  return stored;
}

async function getObject({ objects, bucket, key, request, response }: Exchange): Promise<void> {
  const opened = await objects.open(bucket, key);
  if (opened === undefined) {
    throw new S3Error('NoSuchKey', 'The specified key does not exist.', { Key: key });
  }
  const { meta } = opened;
  let streaming = false;
  try {
    const shared = {
      ETag: `"${meta.etag}"`,
      'Last-Modified': new Date(meta.lastModified).toUTCString(),
      'Accept-Ranges': 'bytes',
    };
    if (readCondition(request, meta) === 'not-modified') {
      response.writeHead(304, shared).end();
      return;
    }
    const range = parseRange(request.headers.range, meta.size);
    const from = range?.from ?? 0;
    const to = range?.to ?? meta.size - 1;
    // A checksum covers the whole object, so a part comes without one.
    const checksums =
      range === undefined && String(request.headers['x-amz-checksum-mode']).toUpperCase() === 'ENABLED'
        ? checksumHeaders(meta)
        : {};
    response.writeHead(range === undefined ? 200 : 206, {
      ...meta.headers,
      ...shared,
      ...checksums,
      ...(range === undefined ? {} : { 'Content-Range': `bytes ${from}-${to}/${meta.size}` }),
      'Content-Length': to - from + 1,
    });
    if (request.method === 'HEAD' || meta.size === 0) {
      response.end();
      return;
    }
    streaming = true;
    await pipeline(opened.stream(from, to), response);
  } finally {
    // The stream closes the file by itself.
    if (!streaming) await opened.discard();
  }
}

/** RFC 9110's order: If-Match, If-Unmodified-Since, If-None-Match, If-Modified-Since. */
function readCondition(request: IncomingMessage, meta: ObjectMeta): 'send' | 'not-modified' {
  const { headers } = request;
  // HTTP dates have no fraction of a second.
  const modified = Math.floor(Date.parse(meta.lastModified) / 1000);
  const seconds = (date: string | undefined): number | undefined => {
    const time = Date.parse(date ?? '');
    return Number.isNaN(time) ? undefined : Math.floor(time / 1000);
  };
  const unmodifiedSince = seconds(headers['if-unmodified-since']);
  const modifiedSince = seconds(headers['if-modified-since']);
  if (headers['if-match'] !== undefined) {
    if (!matchesEtag(headers['if-match'], meta)) throw failedPrecondition('If-Match');
  } else if (unmodifiedSince !== undefined && modified > unmodifiedSince) {
    throw failedPrecondition('If-Unmodified-Since');
  }
  if (headers['if-none-match'] !== undefined) {
    return matchesEtag(headers['if-none-match'], meta) ? 'not-modified' : 'send';
  }
  return modifiedSince !== undefined && modified <= modifiedSince ? 'not-modified' : 'send';
}

function matchesEtag(header: string, meta: ObjectMeta): boolean {
  return header
    .split(',')
    .map((tag) => tag.trim().replace(/^W\//, '').replace(/^"|"$/g, ''))
    .some((tag) => tag === '*' || tag === meta.etag);
}

/** One range of bytes, both ends included. A header that is no such range is ignored, as RFC 9110 has it. */
function parseRange(header: string | undefined, size: number): { from: number; to: number } | undefined {
  const match = /^bytes=(\d*)-(\d*)$/.exec(header ?? '');
  if (match === null) return undefined;
  const [, first = '', last = ''] = match;
  if (first === '' && last === '') return undefined;
  const from = first === '' ? Math.max(0, size - Number(last)) : Number(first);
  const to = first === '' || last === '' ? size - 1 : Math.min(Number(last), size - 1);
  if (first !== '' && last !== '' && Number(first) > Number(last)) return undefined;
  if (from >= size || (first === '' && Number(last) === 0)) {
    throw new S3Error('InvalidRange', 'The requested range is not satisfiable', {
      RangeRequested: header ?? '',
      ActualObjectSize: String(size),
    });
  }
  return { from, to };
}

function checksumHeaders(meta: ObjectMeta): Record<string, string> {
  if (meta.checksum === undefined) return {};
  return {
    [`x-amz-checksum-${meta.checksum.name}`]: meta.checksum.value,
    'x-amz-checksum-type': 'FULL_OBJECT',
  };
}

function sendXml(response: ServerResponse, status: number, body: string, headOnly = false): void {
  response.writeHead(status, {
    'Content-Type': 'application/xml',
    ...(headOnly ? {} : { 'Content-Length': Buffer.byteLength(body) }),
  });
  response.end(headOnly ? undefined : body);
}

function failedPrecondition(condition: string): S3Error {
  return new S3Error('PreconditionFailed', 'At least one of the pre-conditions you specified did not hold', {
    Condition: condition,
  });
}

function notAllowed(): S3Error {
  return new S3Error('MethodNotAllowed', 'The specified method is not allowed against this resource.');
}

function notImplemented(what: string): S3Error {
  return new S3Error('NotImplemented', `This local S3 does not implement ${what}.`);
}
