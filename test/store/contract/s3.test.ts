/**
 * What the engine relies on in S3, asked by the real SDK: bodies of every kind come back byte for byte, conditional writes
 * have one winner, lists go past a page.
 */
import { createHash, randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { request } from 'node:http';
import { Readable } from 'node:stream';
import {
  CopyObjectCommand,
  CreateBucketCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectAclCommand,
  GetObjectCommand,
  HeadBucketCommand,
  HeadObjectCommand,
  ListBucketsCommand,
  ListObjectsV2Command,
  NoSuchKey,
  NotFound,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startS3 } from '../../../lib/local/s3/service.ts';
import { clientConfig, LOCAL_CREDENTIALS, LOCAL_REGION } from '../../../lib/store/aws-config.ts';
import type { Sender } from '../../../lib/store/lazy-client.ts';
import { freshId, type StandIns, startStandIns } from '../stand-ins.ts';

const Bucket = 'mwe-000000000000';
let standIns: StandIns;
let s3: Sender<S3Client>;
beforeAll(async () => {
  standIns = await startStandIns();
  s3 = standIns.store.bucket.client;
});
afterAll(() => standIns.stop());

async function read(Key: string, options: { Range?: string } = {}): Promise<Buffer> {
  const { Body } = await s3.send(new GetObjectCommand({ Bucket, Key, ...options }));
  if (Body === undefined) throw new Error('no body');
  return Buffer.from(await Body.transformToByteArray());
}
const md5 = (bytes: Uint8Array): string => `"${createHash('md5').update(bytes).digest('hex')}"`;

describe('PutObject and GetObject', () => {
  const sizes = [0, 1, 1023, 65_536, 65_537, 3_000_000];
  const bodies: [
    string,
    (bytes: Buffer) => { Body: PutObjectCommand['input']['Body']; ContentLength?: number },
  ][] = [
    ['a buffer', (bytes) => ({ Body: bytes, ContentLength: bytes.length })],
    // The SDK sends a stream in the aws-chunked encoding with its checksum in a trailer.
    [
      'a stream of known length',
      (bytes) => ({ Body: Readable.from(slices(bytes), { objectMode: false }), ContentLength: bytes.length }),
    ],
  ];
  function slices(bytes: Buffer): Buffer[] {
    const parts: Buffer[] = [];
    for (let at = 0; at < bytes.length; at += 50_001) parts.push(bytes.subarray(at, at + 50_001));
    return parts;
  }
  const algorithms = ['CRC32', 'CRC32C', 'SHA1', 'SHA256'] as const;
  const cases = bodies.flatMap(([kind, body]) =>
    algorithms.flatMap((algorithm) => sizes.map((size) => [kind, size, algorithm, body] as const)),
  );
  it.each(cases)('%s of %i bytes with %s', async (_kind, size, ChecksumAlgorithm, body) => {
    const bytes = randomBytes(size);
    const Key = `bodies/${freshId()}`;
    const put = await s3.send(new PutObjectCommand({ Bucket, Key, ChecksumAlgorithm, ...body(bytes) }));
    expect(put.ETag).toBe(md5(bytes));
    const head = await s3.send(new HeadObjectCommand({ Bucket, Key, ChecksumMode: 'ENABLED' }));
    expect(head).toMatchObject({ ContentLength: size, ETag: md5(bytes) });
    expect(head[`Checksum${ChecksumAlgorithm}`]).toBe(
      put[`Checksum${ChecksumAlgorithm}`] ?? head[`Checksum${ChecksumAlgorithm}`],
    );
    expect(head[`Checksum${ChecksumAlgorithm}`]).toBeDefined();
    expect(Buffer.compare(await read(Key), bytes)).toBe(0);
  });

  it('keeps type, encoding and metadata', async () => {
    const Key = freshId();
    await s3.send(
      new PutObjectCommand({
        Bucket,
        Key,
        Body: Readable.from(['{}']),
        ContentLength: 2,
        ContentType: 'application/json; charset=utf-8',
        ContentEncoding: 'identity',
        CacheControl: 'no-store',
        Metadata: { run: 'r1' },
      }),
    );
    expect(await s3.send(new HeadObjectCommand({ Bucket, Key }))).toMatchObject({
      ContentType: 'application/json; charset=utf-8',
      ContentEncoding: 'identity',
      CacheControl: 'no-store',
      Metadata: { run: 'r1' },
    });
  });

  it('takes every key, and names no file by it', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          fc.constantFrom(
            '../../escape',
            '/abs',
            'a//b',
            'sp ace+plus%2F',
            'käse/日本',
            '__proto__',
            '.',
            'a/../b',
            '😀',
            "it's (1)*!",
          ),
          fc
            .string({ unit: 'grapheme', minLength: 1, maxLength: 30 })
            .filter((key) => !/^\/|\p{Cc}/u.test(key)),
        ),
        async (name) => {
          const Key = `keys/${freshId()}/${name}`;
          await s3.send(new PutObjectCommand({ Bucket, Key, Body: name }));
          expect((await read(Key)).toString('utf8')).toBe(name);
          const { Contents } = await s3.send(new ListObjectsV2Command({ Bucket, Prefix: Key }));
          expect(Contents?.map((each) => each.Key)).toEqual([Key]);
        },
      ),
      { numRuns: 40 },
    );
    const parts = await readdir(`${standIns.folder}/bucket-${Bucket}`);
    const files = await Promise.all(
      parts.map((part) => readdir(`${standIns.folder}/bucket-${Bucket}/${part}`)),
    );
    expect(files.flat().every((file) => /^[0-9a-f]{64}$/.test(file))).toBe(true);
  });

  it('replaces an object whole while it is read', async () => {
    const Key = freshId();
    const [first, second] = [randomBytes(2_000_000), randomBytes(1_000)];
    await s3.send(new PutObjectCommand({ Bucket, Key, Body: first }));
    const { Body } = await s3.send(new GetObjectCommand({ Bucket, Key }));
    await s3.send(new PutObjectCommand({ Bucket, Key, Body: second }));
    expect(Buffer.compare(Buffer.from((await Body?.transformToByteArray()) ?? []), first)).toBe(0);
    expect(Buffer.compare(await read(Key), second)).toBe(0);
  });

  const ranges: [string, string | undefined][] = [
    ['bytes=0-3', '0123'],
    ['bytes=4-', '456789'],
    ['bytes=-2', '89'],
    ['bytes=-50', '0123456789'],
    ['bytes=8-100', '89'],
    ['bytes=3-1', '0123456789'],
    ['bytes=10-', undefined],
  ];
  it.each(ranges)('range %s', async (Range, expected) => {
    const Key = 'range';
    await s3.send(new PutObjectCommand({ Bucket, Key, Body: '0123456789' }));
    if (expected === undefined) {
      await expect(read(Key, { Range })).rejects.toMatchObject({ name: 'InvalidRange' });
    } else expect((await read(Key, { Range })).toString()).toBe(expected);
  });

  it('says NoSuchKey, NotFound and NoSuchBucket', async () => {
    await expect(read('nowhere')).rejects.toThrow(NoSuchKey);
    await expect(s3.send(new HeadObjectCommand({ Bucket, Key: 'nowhere' }))).rejects.toThrow(NotFound);
    await expect(s3.send(new GetObjectCommand({ Bucket: 'no-bucket', Key: 'k' }))).rejects.toMatchObject({
      name: 'NoSuchBucket',
    });
    await expect(
      s3.send(new PutObjectCommand({ Bucket: 'no-bucket', Key: 'k', Body: 'x' })),
    ).rejects.toMatchObject({ name: 'NoSuchBucket' });
  });

  it('deletes, also what is not there', async () => {
    const Key = freshId();
    await s3.send(new PutObjectCommand({ Bucket, Key, Body: 'x' }));
    await s3.send(new DeleteObjectCommand({ Bucket, Key }));
    await s3.send(new DeleteObjectCommand({ Bucket, Key }));
    await expect(read(Key)).rejects.toThrow(NoSuchKey);
  });
});

describe('conditional writes', () => {
  it('If-None-Match lets the first in', async () => {
    const Key = freshId();
    await s3.send(new PutObjectCommand({ Bucket, Key, Body: 'first', IfNoneMatch: '*' }));
    const again = new PutObjectCommand({ Bucket, Key, Body: 'second', IfNoneMatch: '*' });
    await expect(s3.send(again)).rejects.toMatchObject({
      name: 'PreconditionFailed',
      $metadata: { httpStatusCode: 412 },
    });
    expect((await read(Key)).toString()).toBe('first');
  });

  it('If-None-Match has one winner among many', async () => {
    const Key = freshId();
    const puts = await Promise.allSettled(
      Array.from({ length: 12 }, (_, index) =>
        s3.send(new PutObjectCommand({ Bucket, Key, Body: `writer ${index}`, IfNoneMatch: '*' })),
      ),
    );
    const winners = puts.flatMap(({ status }, index) => (status === 'fulfilled' ? [index] : []));
    expect(winners).toHaveLength(1);
    expect((await read(Key)).toString()).toBe(`writer ${winners[0]}`);
  });

  it('If-Match wants the object as it was read', async () => {
    const Key = freshId();
    const { ETag } = await s3.send(new PutObjectCommand({ Bucket, Key, Body: 'a' }));
    const put = (Body: string) => s3.send(new PutObjectCommand({ Bucket, Key, Body, IfMatch: ETag }));
    await put('b');
    await expect(put('c')).rejects.toMatchObject({ name: 'PreconditionFailed' });
  });

  it('reads by ETag', async () => {
    const Key = freshId();
    const { ETag } = await s3.send(new PutObjectCommand({ Bucket, Key, Body: 'a' }));
    await expect(s3.send(new GetObjectCommand({ Bucket, Key, IfNoneMatch: ETag }))).rejects.toMatchObject({
      $metadata: { httpStatusCode: 304 },
    });
    await expect(s3.send(new GetObjectCommand({ Bucket, Key, IfMatch: '"other"' }))).rejects.toMatchObject({
      name: 'PreconditionFailed',
    });
  });
});

describe('ListObjectsV2', () => {
  it('goes past a thousand keys, in the order of their bytes', async () => {
    const prefix = `list/${freshId()}/`;
    const names = [
      ...Array.from({ length: 1200 }, (_, index) => String(index)),
      'Z',
      'a',
      'é',
      '\uffee',
      '😀',
    ];
    for (let first = 0; first < names.length; first += 100) {
      await Promise.all(
        names
          .slice(first, first + 100)
          .map((name) => s3.send(new PutObjectCommand({ Bucket, Key: prefix + name, Body: 'x' }))),
      );
    }
    const seen: string[] = [];
    const counts: number[] = [];
    let ContinuationToken: string | undefined;
    do {
      const page = await s3.send(new ListObjectsV2Command({ Bucket, Prefix: prefix, ContinuationToken }));
      counts.push(page.KeyCount ?? 0);
      seen.push(...(page.Contents ?? []).map((each) => each.Key ?? ''));
      ContinuationToken = page.NextContinuationToken;
      expect(page.IsTruncated).toBe(ContinuationToken !== undefined);
    } while (ContinuationToken !== undefined);
    expect(counts).toEqual([1000, 205]);
    const sorted = names
      .map((name) => prefix + name)
      .sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
    expect(seen).toEqual(sorted);
  });

  it('groups by a delimiter and pages through groups', async () => {
    const prefix = `tree/${freshId()}/`;
    for (const name of ['a/1', 'a/2', 'b', 'c/1', 'c/2', 'd']) {
      await s3.send(new PutObjectCommand({ Bucket, Key: prefix + name, Body: 'x' }));
    }
    const seen: string[] = [];
    let ContinuationToken: string | undefined;
    do {
      const page = await s3.send(
        new ListObjectsV2Command({ Bucket, Prefix: prefix, Delimiter: '/', MaxKeys: 1, ContinuationToken }),
      );
      for (const each of page.Contents ?? []) seen.push((each.Key ?? '').slice(prefix.length));
      for (const each of page.CommonPrefixes ?? []) seen.push((each.Prefix ?? '').slice(prefix.length));
      ContinuationToken = page.NextContinuationToken;
    } while (ContinuationToken !== undefined);
    expect(seen).toEqual(['a/', 'b', 'c/', 'd']);
  });

  it('starts after a key, and encodes keys where it is asked to', async () => {
    const prefix = `enc/${freshId()}/`;
    for (const name of ['a b', 'c+d'])
      await s3.send(new PutObjectCommand({ Bucket, Key: prefix + name, Body: 'x' }));
    const page = await s3.send(new ListObjectsV2Command({ Bucket, Prefix: prefix, EncodingType: 'url' }));
    expect(page.Contents?.map((each) => each.Key)).toEqual([`${prefix}a+b`, `${prefix}c%2Bd`]);
    const after = await s3.send(
      new ListObjectsV2Command({ Bucket, Prefix: prefix, StartAfter: `${prefix}a b` }),
    );
    expect(after.Contents).toMatchObject([{ Key: `${prefix}c+d`, Size: 1, ETag: md5(Buffer.from('x')) }]);
  });

  it('refuses a token that is not its own', async () => {
    const command = new ListObjectsV2Command({ Bucket, ContinuationToken: 'made up' });
    await expect(s3.send(command)).rejects.toMatchObject({ name: 'InvalidArgument' });
  });
});

describe('buckets', () => {
  it('are created, found and listed', async () => {
    await s3.send(new CreateBucketCommand({ Bucket: 'another-bucket' }));
    await s3.send(new HeadBucketCommand({ Bucket: 'another-bucket' }));
    await expect(s3.send(new CreateBucketCommand({ Bucket: 'another-bucket' }))).rejects.toMatchObject({
      name: 'BucketAlreadyOwnedByYou',
    });
    const { Buckets } = await s3.send(new ListBucketsCommand({}));
    expect(Buckets?.map((each) => each.Name)).toEqual(['another-bucket', Bucket]);
  });
});

describe('what is not implemented', () => {
  it.each([
    ['a copy', () => s3.send(new CopyObjectCommand({ Bucket, Key: 'copy', CopySource: `${Bucket}/range` }))],
    ['parts', () => s3.send(new CreateMultipartUploadCommand({ Bucket, Key: 'parts' }))],
    ['an ACL', () => s3.send(new GetObjectAclCommand({ Bucket, Key: 'range' }))],
    [
      'a storage class',
      () => s3.send(new PutObjectCommand({ Bucket, Key: 'cold', Body: 'x', StorageClass: 'GLACIER' })),
    ],
  ])('%s is refused, not half done', async (_what, call) => {
    await expect(call()).rejects.toMatchObject({ name: 'NotImplemented' });
  });
});

describe('a body that is not what the request says', () => {
  function put(headers: Record<string, string>, body: string): Promise<{ status: number; text: string }> {
    return new Promise((resolve, reject) => {
      const url = new URL(`/${Bucket}/bad`, standIns.endpoints.s3);
      const sent = request(
        url,
        { method: 'PUT', headers: { authorization: 'AWS4-HMAC-SHA256 x', ...headers }, agent: false },
        (response) => {
          let text = '';
          response.setEncoding('utf8');
          response.on('data', (chunk: string) => {
            text += chunk;
          });
          response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
        },
      );
      sent.on('error', reject);
      sent.end(body);
    });
  }
  const chunked = {
    'content-encoding': 'aws-chunked',
    'x-amz-content-sha256': 'STREAMING-UNSIGNED-PAYLOAD-TRAILER',
  };
  const trailer = {
    ...chunked,
    'x-amz-trailer': 'x-amz-checksum-crc32',
    'x-amz-decoded-content-length': '5',
  };
  const cases: [string, Record<string, string>, string, number, string][] = [
    ['good', trailer, '5\r\nhello\r\n0\r\nx-amz-checksum-crc32:NhCmhg==\r\n\r\n', 200, ''],
    [
      'good, signed chunks',
      { ...chunked, 'x-amz-content-sha256': 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD' },
      '5;chunk-signature=00\r\nhello\r\n0;chunk-signature=11\r\n\r\n',
      200,
      '',
    ],
    ['good, CRC64NVME', { 'x-amz-checksum-crc64nvme': 'M3eFcAZSQlc=' }, 'hello', 200, ''],
    [
      'a wrong checksum',
      trailer,
      '5\r\nhellO\r\n0\r\nx-amz-checksum-crc32:NhCmhg==\r\n\r\n',
      400,
      'BadDigest',
    ],
    ['a trailer that was announced and is missing', trailer, '5\r\nhello\r\n0\r\n\r\n', 400, 'BadDigest'],
    [
      'too few bytes',
      trailer,
      '4\r\nhell\r\n0\r\nx-amz-checksum-crc32:NhCmhg==\r\n\r\n',
      400,
      'IncompleteBody',
    ],
    ['no last chunk', chunked, '5\r\nhello\r\n', 400, 'IncompleteBody'],
    ['a chunk longer than its header', chunked, '4\r\nhello\r\n0\r\n\r\n', 400, 'InvalidRequest'],
    ['no chunk header', chunked, 'hello\r\n', 400, 'InvalidRequest'],
    ['a wrong MD5', { 'content-md5': 'AAAAAAAAAAAAAAAAAAAAAA==' }, 'hello', 400, 'BadDigest'],
    [
      'a wrong SHA-256',
      { 'x-amz-content-sha256': '0'.repeat(64) },
      'hello',
      400,
      'XAmzContentSHA256Mismatch',
    ],
  ];
  it.each(cases)('%s', async (_case, headers, body, status, code) => {
    const answer = await put(headers, body);
    expect(answer.status).toBe(status);
    if (code !== '') expect(answer.text).toContain(`<Code>${code}</Code>`);
    else expect((await read('bad')).toString()).toBe('hello');
  });
});

describe('a restart', () => {
  it('finds every object and its metadata again', async () => {
    const Key = `restart/${freshId()}`;
    await s3.send(new PutObjectCommand({ Bucket, Key, Body: 'kept', Metadata: { a: 'b' } }));
    const again = await startS3({ folder: standIns.folder });
    const client = new S3Client({
      ...clientConfig({ region: LOCAL_REGION, endpoint: again.url, credentials: LOCAL_CREDENTIALS }),
      forcePathStyle: true,
    });
    const { Body, Metadata } = await client.send(new GetObjectCommand({ Bucket, Key }));
    expect(await Body?.transformToString()).toBe('kept');
    expect(Metadata).toEqual({ a: 'b' });
    const { Contents } = await client.send(new ListObjectsV2Command({ Bucket, Prefix: 'restart/' }));
    expect(Contents).toHaveLength(1);
    client.destroy();
    await again.close();
  });

  it('keeps plain bytes on disk, and nothing of writes that failed', async () => {
    const Key = freshId();
    await s3.send(new PutObjectCommand({ Bucket, Key, Body: 'plain bytes' }));
    const hash = createHash('sha256').update(Key).digest('hex');
    const file = await readFile(`${standIns.folder}/bucket-${Bucket}/${hash.slice(0, 2)}/${hash}`, 'utf8');
    expect(file.startsWith('plain bytes')).toBe(true);
    expect(await readdir(`${standIns.folder}/tmp`)).toEqual([]);
  });
});
