/**
 * A request's body as S3 reads it: plain, or in the `aws-chunked` encoding that today's SDKs use for streams, with chunk
 * signatures (not verified) and a checksum in a trailer (verified).
 *
 *     b;chunk-signature=…␍␊hello world␍␊0␍␊x-amz-checksum-crc32:DUoRhQ==␍␊␍␊
 *
 * Whatever a request says about its body is held against what came: length, MD5, SHA-256, checksum. A body that does
 * not agree is refused and nothing is stored. Source: S3 API reference, "Signature calculations: transferring payload in
 * multiple chunks".
 */
import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { CHECKSUM_NAMES, type ChecksumName, createChecksum, type RunningChecksum } from './checksums.ts';
import { S3Error } from './errors.ts';

export interface BodyFacts {
  size: number;
  /** Hex: the ETag. */
  md5: string;
  /** The checksum that the request brought, verified. */
  checksum?: { name: ChecksumName; value: string };
}

/** Longest chunk header or trailer line. */
const MAX_LINE = 8 * 1024;

/**
 * Yields the body's bytes without their encoding. `facts` is complete once the iteration has ended; where the body is
 * not what the request said, the iteration throws an `S3Error`.
 */
export function readBody(request: IncomingMessage): {
  chunks: AsyncGenerator<Buffer, void>;
  facts: BodyFacts;
} {
  const facts: BodyFacts = { size: 0, md5: '' };
  return { chunks: verified(request, facts), facts };
}

async function* verified(request: IncomingMessage, facts: BodyFacts): AsyncGenerator<Buffer, void> {
  const { headers } = request;
  const md5 = createHash('md5');
  const contentSha = String(headers['x-amz-content-sha256'] ?? '');
  const sha256 = /^[0-9a-f]{64}$/.test(contentSha) ? createHash('sha256') : undefined;
  const trailers: Record<string, string> = {};
  const sums = new Map<ChecksumName, RunningChecksum>(
    announcedChecksums(request).map((name) => [name, createChecksum(name)]),
  );

  const encoded = isChunked(request);
  for await (const chunk of encoded ? decodeChunks(request, trailers) : plain(request)) {
    facts.size += chunk.length;
    md5.update(chunk);
    sha256?.update(chunk);
    for (const sum of sums.values()) sum.update(chunk);
    yield chunk;
  }

  const expected = encoded ? headers['x-amz-decoded-content-length'] : headers['content-length'];
  if (expected !== undefined && Number(expected) !== facts.size) {
    throw new S3Error(
      'IncompleteBody',
      'You did not provide the number of bytes specified by the Content-Length HTTP header.',
    );
  }
  const digest = md5.digest();
  facts.md5 = digest.toString('hex');
  if (headers['content-md5'] !== undefined && headers['content-md5'] !== digest.toString('base64')) {
    throw new S3Error('BadDigest', 'The Content-MD5 you specified did not match what we received.');
  }
  if (sha256 !== undefined && sha256.digest('hex') !== contentSha) {
    throw new S3Error(
      'XAmzContentSHA256Mismatch',
      "The provided 'x-amz-content-sha256' header does not match what was computed.",
    );
  }
  for (const [name, sum] of sums) {
    const header = `x-amz-checksum-${name}`;
    const given = trailers[header] ?? headers[header];
    const value = sum.digest();
    if (given !== value) {
      throw new S3Error(
        'BadDigest',
        `The ${name.toUpperCase()} you specified did not match the calculated checksum.`,
      );
    }
    facts.checksum = { name, value };
  }
}

function isChunked(request: IncomingMessage): boolean {
  const encodings = String(request.headers['content-encoding'] ?? '').split(',');
  return (
    encodings.some((encoding) => encoding.trim() === 'aws-chunked') ||
    String(request.headers['x-amz-content-sha256'] ?? '').startsWith('STREAMING-')
  );
}

/** Checksums that stand in a header or are announced for a trailer. */
function announcedChecksums(request: IncomingMessage): ChecksumName[] {
  const announced = String(request.headers['x-amz-trailer'] ?? '')
    .split(',')
    .map((name) => name.trim().toLowerCase());
  return CHECKSUM_NAMES.filter((name) => {
    const header = `x-amz-checksum-${name}`;
    return request.headers[header] !== undefined || announced.includes(header);
  });
}

async function* plain(request: IncomingMessage): AsyncGenerator<Buffer, void> {
  yield* request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>;
}

/** Takes the chunked encoding off; what follows the last chunk goes into `trailers`. */
async function* decodeChunks(
  request: IncomingMessage,
  trailers: Record<string, string>,
): AsyncGenerator<Buffer, void> {
  let pending: Buffer = Buffer.alloc(0);
  /** Bytes still to come of the chunk at hand; undefined: a chunk header is next; -1: trailers. */
  let left: number | undefined;
  let done = false;
  /** The line break after a chunk's data is still to come. */
  let breakDue = false;

  for await (const piece of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    if (done) throw malformed('there is something after the last chunk');
    pending = pending.length === 0 ? piece : Buffer.concat([pending, piece]);
    while (pending.length > 0 && !done) {
      if (left !== undefined && left > 0) {
        const data = pending.subarray(0, left);
        pending = pending.subarray(data.length);
        left -= data.length;
        if (left === 0) {
          left = undefined;
          breakDue = true;
        }
        yield data;
        continue;
      }
      const end = pending.indexOf('\r\n');
      if (end === -1) {
        if (pending.length > MAX_LINE) throw malformed('a chunk header is too long');
        break;
      }
      const line = pending.subarray(0, end).toString('latin1');
      pending = pending.subarray(end + 2);
      if (breakDue) {
        if (line !== '') throw malformed('a chunk is longer than its header says');
        breakDue = false;
      } else if (left === -1) {
        if (line === '') done = true;
        else addTrailer(trailers, line);
      } else {
        const size = /^([0-9a-fA-F]{1,8})(;|$)/.exec(line)?.[1];
        if (size === undefined) throw malformed('a chunk header has no size');
        left = Number.parseInt(size, 16);
        if (left === 0) left = -1;
      }
    }
    if (done && pending.length > 0) throw malformed('there is something after the last chunk');
  }
  // A body may end right after its trailers, without the empty line.
  if (!done && (left !== -1 || pending.length > 0)) {
    if (left === -1 && pending.length > 0) addTrailer(trailers, pending.toString('latin1'));
    else throw new S3Error('IncompleteBody', 'The request body terminated unexpectedly.');
  }
}

function addTrailer(trailers: Record<string, string>, line: string): void {
  const colon = line.indexOf(':');
  if (colon <= 0) throw malformed('a trailer has no name');
  trailers[line.slice(0, colon).trim().toLowerCase()] = line.slice(colon + 1).trim();
}

function malformed(what: string): S3Error {
  return new S3Error('InvalidRequest', `The aws-chunked body is malformed: ${what}.`);
}
