/**
 * GetObject and HeadObject: whole or one range, conditional as RFC 9110 has it. Source: S3 API reference, "GetObject".
 */
import type { IncomingMessage } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { S3Error } from './errors.ts';
import { checksumHeaders, type Exchange, failedPrecondition, matchesEtag } from './exchange.ts';
import type { ObjectMeta } from './object-file.ts';

export async function getObject({ objects, bucket, key, request, response }: Exchange): Promise<void> {
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
