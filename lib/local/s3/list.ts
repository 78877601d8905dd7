/**
 * ListObjectsV2 over keys in order: prefix, delimiter, start-after, pages with a continuation token. Source: S3 API
 * reference, "ListObjectsV2".
 */
import { S3Error } from './errors.ts';
import type { ObjectMeta } from './object-file.ts';
import { compareKeys } from './objects.ts';
import { type XmlElement, xmlDocument } from './xml.ts';

const MAX_KEYS = 1000;

/** One page of a bucket as XML. `objects` are in the order of their keys. */
export function listObjects(bucket: string, objects: readonly ObjectMeta[], query: URLSearchParams): string {
  const prefix = query.get('prefix') ?? '';
  const delimiter = query.get('delimiter') ?? '';
  const token = query.get('continuation-token');
  const startAfter = query.get('start-after');
  const maxKeys = parseMaxKeys(query.get('max-keys'));
  const encode = encoder(query.get('encoding-type'));
  const after = token === null ? (startAfter ?? '') : decodeToken(token);

  const contents: ObjectMeta[] = [];
  const prefixes: string[] = [];
  let last = after;
  let truncated = false;
  for (const meta of objects) {
    if (!meta.key.startsWith(prefix)) continue;
    const end = delimiter === '' ? -1 : meta.key.indexOf(delimiter, prefix.length);
    const group = end === -1 ? undefined : meta.key.slice(0, end + delimiter.length);
    // A page that ended with a common prefix has taken every key under it.
    if (after !== '' && (compareKeys(meta.key, after) <= 0 || (group !== undefined && group === after)))
      continue;
    if (group !== undefined && group === prefixes.at(-1)) continue;
    if (contents.length + prefixes.length === maxKeys) {
      truncated = maxKeys > 0;
      break;
    }
    if (group === undefined) contents.push(meta);
    else prefixes.push(group);
    last = group ?? meta.key;
  }

  const elements: XmlElement[] = [
    ['Name', bucket],
    ['Prefix', encode(prefix)],
    ...(delimiter === '' ? [] : [['Delimiter', encode(delimiter)] satisfies XmlElement]),
    ['MaxKeys', maxKeys],
    ...(query.get('encoding-type') === null ? [] : [['EncodingType', 'url'] satisfies XmlElement]),
    ['KeyCount', contents.length + prefixes.length],
    ['IsTruncated', truncated],
    ...(token === null ? [] : [['ContinuationToken', token] satisfies XmlElement]),
    ...(truncated ? [['NextContinuationToken', encodeToken(last)] satisfies XmlElement] : []),
    ...(startAfter === null ? [] : [['StartAfter', encode(startAfter)] satisfies XmlElement]),
    ...contents.map(
      (meta): XmlElement => [
        'Contents',
        [
          ['Key', encode(meta.key)],
          ['LastModified', meta.lastModified],
          ['ETag', `"${meta.etag}"`],
          ...(meta.checksum === undefined
            ? []
            : [['ChecksumAlgorithm', meta.checksum.name.toUpperCase()] satisfies XmlElement]),
          ['Size', meta.size],
          ['StorageClass', 'STANDARD'],
        ],
      ],
    ),
    ...prefixes.map((group): XmlElement => ['CommonPrefixes', [['Prefix', encode(group)]]]),
  ];
  return xmlDocument('ListBucketResult', elements);
}

function parseMaxKeys(text: string | null): number {
  if (text === null) return MAX_KEYS;
  if (!/^\d{1,10}$/.test(text))
    throw new S3Error('InvalidArgument', 'Provided max-keys not an integer or within integer range');
  return Math.min(Number(text), MAX_KEYS);
}

function encoder(encodingType: string | null): (text: string) => string {
  if (encodingType === null) return (text) => text;
  if (encodingType !== 'url')
    throw new S3Error('InvalidArgument', 'Invalid Encoding Method specified in Request');
  // As AWS encodes: like a form, with slashes as they are.
  return (text) =>
    encodeURIComponent(text)
      .replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`)
      .replaceAll('%2F', '/')
      .replaceAll('%20', '+');
}

function encodeToken(key: string): string {
  return Buffer.from(`1${key}`).toString('base64url');
}

function decodeToken(token: string): string {
  const text = Buffer.from(token, 'base64url').toString('utf8');
  if (!text.startsWith('1') || encodeToken(text.slice(1)) !== token) {
    throw new S3Error('InvalidArgument', 'The continuation token provided is incorrect');
  }
  return text.slice(1);
}
