/**
 * One object in one file: its bytes, then its metadata as JSON, then the length of that JSON as eight hex digits. Bytes and
 * metadata are replaced together by one rename, and the bytes start at the file's start.
 */
import { type FileHandle, open } from 'node:fs/promises';
import type { ChecksumName } from './checksums.ts';

export interface ObjectMeta {
  key: string;
  size: number;
  /** Hex MD5; the ETag without its quotes. */
  etag: string;
  /** ISO time. */
  lastModified: string;
  /** Stored headers, lower case: content-type and its like, x-amz-meta-*. */
  headers: Record<string, string>;
  checksum?: { name: ChecksumName; value: string };
}

const LENGTH_DIGITS = 8;

/** Opens an object's file; undefined where there is none. Throws where the file is no object. The caller closes it. */
export async function openObject(path: string): Promise<{ file: FileHandle; meta: ObjectMeta } | undefined> {
  let file: FileHandle;
  try {
    file = await open(path, 'r');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  try {
    const { size } = await file.stat();
    const digits = await readAt(file, size - LENGTH_DIGITS, LENGTH_DIGITS);
    const length = Number.parseInt(digits.toString('latin1'), 16);
    const text = await readAt(file, size - LENGTH_DIGITS - length, length);
    const meta = JSON.parse(text.toString('utf8')) as ObjectMeta;
    if (meta.size !== size - LENGTH_DIGITS - length) throw new Error('its size is not the recorded one');
    return { file, meta };
  } catch (error) {
    await file.close();
    throw new Error(`The object file ${path} is damaged.`, { cause: error });
  }
}

/** Writes an object's bytes and then the metadata that `complete` gives once all bytes are there. */
export async function writeObject(
  path: string,
  chunks: AsyncIterable<Uint8Array>,
  complete: () => ObjectMeta,
): Promise<ObjectMeta> {
  const file = await open(path, 'wx', 0o600);
  try {
    for await (const chunk of chunks) await file.appendFile(chunk);
    const meta = complete();
    const text = Buffer.from(JSON.stringify(meta));
    const length = text.length.toString(16).padStart(LENGTH_DIGITS, '0');
    await file.appendFile(Buffer.concat([text, Buffer.from(length, 'latin1')]));
    return meta;
  } finally {
    await file.close();
  }
}

async function readAt(file: FileHandle, position: number, length: number): Promise<Buffer> {
  if (!(position >= 0 && length >= 0)) throw new Error('it is too short');
  const buffer = Buffer.alloc(length);
  const { bytesRead } = await file.read(buffer, 0, length, position);
  if (bytesRead !== length) throw new Error('it ends too early');
  return buffer;
}
