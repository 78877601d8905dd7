/**
 * Objects of the bucket. Every object is immutable and named by its content or by a hash in its key, so writing one twice
 * is harmless and reading one needs no consistency beyond S3's own. S3's client is loaded by the first of them.
 */
import type { Store } from './store.ts';

/** Writes an object; with `once` only where there is none. False: there was one already. */
export async function putObject(
  store: Store,
  key: string,
  body: string | Uint8Array,
  contentType: string,
  once = false,
): Promise<boolean> {
  const { PutObjectCommand, S3ServiceException } = await import('@aws-sdk/client-s3');
  // S3 answers 409 when two conditional writes of a key meet; one of them has won by the next try.
  for (let tries = 0; ; tries += 1) {
    try {
      await store.bucket.client.send(
        new PutObjectCommand({
          Bucket: store.bucket.name,
          Key: key,
          Body: body,
          // Without it the SDK takes an empty body for a stream of unknown length, and prints so.
          ContentLength: Buffer.byteLength(body),
          ContentType: contentType,
          ...(once ? { IfNoneMatch: '*' } : {}),
        }),
      );
      return true;
    } catch (error) {
      if (!(error instanceof S3ServiceException)) throw error;
      if (error.name === 'PreconditionFailed') return false;
      if (error.name !== 'ConditionalRequestConflict' || tries === 2) throw error;
    }
  }
}

/** Reads an object whole; undefined where there is none. */
export async function getObject(
  store: Store,
  key: string,
): Promise<{ bytes: Uint8Array; contentType?: string } | undefined> {
  const { GetObjectCommand, NoSuchKey } = await import('@aws-sdk/client-s3');
  try {
    const answer = await store.bucket.client.send(
      new GetObjectCommand({ Bucket: store.bucket.name, Key: key }),
    );
    if (answer.Body === undefined) throw new Error(`S3 answered without a body for "${key}".`);
    const bytes = await answer.Body.transformToByteArray();
    return { bytes, ...(answer.ContentType === undefined ? {} : { contentType: answer.ContentType }) };
  } catch (error) {
    if (error instanceof NoSuchKey) return undefined;
    throw error;
  }
}
