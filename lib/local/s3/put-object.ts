/**
 * PutObject, conditional on what stands there where it is asked (`If-None-Match: *`, `If-Match`). What a request's headers
 * ask for and is not done here is refused. Source: S3 API reference, "PutObject".
 */
import type { IncomingMessage } from 'node:http';
import { readBody } from './body.ts';
import { S3Error } from './errors.ts';
import {
  checksumHeaders,
  type Exchange,
  failedPrecondition,
  matchesEtag,
  notImplemented,
} from './exchange.ts';
import type { ObjectMeta } from './object-file.ts';

/** Headers that are stored with an object and come back with it. */
const STORED_HEADERS = [
  'cache-control',
  'content-disposition',
  'content-encoding',
  'content-language',
  'content-type',
  'expires',
];
const MAX_USER_METADATA_BYTES = 2048;

export async function putObject({ objects, bucket, key, request, response }: Exchange): Promise<void> {
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
