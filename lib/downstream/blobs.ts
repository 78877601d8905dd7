/**
 * Binary parts of a tool's result. Images, audio and embedded binary resources are handed to the store and stay in the
 * result as a reference:
 *
 *     { "type": "image", "data": "iVBORw0K…", "mimeType": "image/png" }
 *     { "type": "image", "mimeType": "image/png", "bytes": 4711, "blob": <what putBlob answered> }
 *
 * The result that comes in is not changed. A result without binary parts (nearly all) is handed back as it is.
 */
import type { Json, JsonObject } from '../blueprint/json.ts';
import type { ToolResult } from './call.ts';
import type { ContentBlock } from './value.ts';

/** Stores bytes and answers how they are found again. */
export type PutBlob = (bytes: Uint8Array, mimeType: string) => Promise<Json>;

const UNKNOWN_TYPE = 'application/octet-stream';

/** Rejects with what `putBlob` rejects with. */
export async function storeBlobs(result: ToolResult, putBlob: PutBlob): Promise<ToolResult> {
  if (!result.content.some(hasBinary)) return result;
  const content = await Promise.all(
    result.content.map((block) => (hasBinary(block) ? store(block, putBlob) : block)),
  );
  return { ...result, content };
}

function hasBinary(block: ContentBlock): boolean {
  return (
    typeof block.data === 'string' || typeof (block.resource as JsonObject | undefined)?.blob === 'string'
  );
}

async function store(block: ContentBlock, putBlob: PutBlob): Promise<ContentBlock> {
  if (typeof block.data === 'string') {
    const { data, ...rest } = block;
    return { ...rest, type: block.type, ...(await reference(data, rest.mimeType, putBlob)) };
  }
  const { blob, ...resource } = block.resource as JsonObject;
  return {
    ...block,
    resource: { ...resource, ...(await reference(String(blob), resource.mimeType, putBlob)) },
  };
}

async function reference(base64: string, mimeType: Json | undefined, putBlob: PutBlob): Promise<JsonObject> {
  const bytes = Buffer.from(base64, 'base64');
  const type = typeof mimeType === 'string' ? mimeType : UNKNOWN_TYPE;
  return { mimeType: type, bytes: bytes.length, blob: await putBlob(bytes, type) };
}
