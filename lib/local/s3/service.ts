/**
 * S3's REST API, as far as the engine and a person who looks with the AWS CLI need it: PutObject, GetObject, HeadObject,
 * DeleteObject, ListObjectsV2, and buckets. Path style. Whatever else a request asks for (a copy, parts, a sub-resource
 * such as `?acl`) is answered with `NotImplemented`, never half done.
 */
import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { type Handler, type RunningServer, startServer } from '../http-server.ts';
import { S3Error } from './errors.ts';
import { type Exchange, notAllowed, notImplemented, sendXml } from './exchange.ts';
import { getObject } from './get-object.ts';
import { listObjects } from './list.ts';
import { type ObjectStore, openObjects } from './objects.ts';
import { putObject } from './put-object.ts';
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
const MAX_KEY_BYTES = 1024;

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
