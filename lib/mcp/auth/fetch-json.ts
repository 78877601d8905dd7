/**
 * JSON from an authorization server, bounded: 3 seconds with its body, 256 KiB, no redirect, status 200 or nothing. A connection
 * that broke before an answer is tried once more, for a function that was frozen holds dead ones.
 */
import { isJsonObject, type JsonObject } from '../../blueprint/json.ts';

const TIMEOUT_MS = 3000;
const MAX_BYTES = 256 * 1024;

/** A document could not be had. The message names the URL, which comes from the configuration or from its issuer. */
export class FetchFault extends Error {
  override readonly name = 'FetchFault';
  /** Status of an answer that is not 200. */
  readonly status: number | undefined;

  constructor(url: string, what: string, status?: number) {
    super(`${url}: ${what}`);
    this.status = status;
  }
}

/** @throws FetchFault */
export async function fetchJson(fetchImpl: typeof fetch, url: string): Promise<JsonObject> {
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  const options: RequestInit = { redirect: 'manual', signal, headers: { accept: 'application/json' } };
  try {
    const response = await fetchImpl(url, options).catch((error: unknown) => {
      if (signal.aborted) throw error;
      return fetchImpl(url, options);
    });
    if (response.status !== 200) {
      await response.body?.cancel();
      throw new FetchFault(url, `answered ${response.status}; 200 is needed`, response.status);
    }
    const json: unknown = JSON.parse(await textOf(response, url));
    if (!isJsonObject(json as JsonObject)) throw new FetchFault(url, 'a JSON object is needed');
    return json as JsonObject;
  } catch (error) {
    if (error instanceof FetchFault) throw error;
    if (signal.aborted) throw new FetchFault(url, `no whole answer within ${TIMEOUT_MS} ms`);
    throw new FetchFault(url, error instanceof SyntaxError ? 'the answer is not JSON' : 'not reachable');
  }
}

async function textOf(response: Response, url: string): Promise<string> {
  if (response.body === null) return '';
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body) {
    bytes += chunk.byteLength;
    // Leaving the loop cancels the body.
    if (bytes > MAX_BYTES) throw new FetchFault(url, `larger than ${MAX_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
