/**
 * A request's body, read and bounded before anything looks at it: 4 MiB, and 64 levels below the arguments of a call.
 * Everything behind walks JSON by recursion and relies on that.
 */
import { MAX_JSON_DEPTH } from '../blueprint/limits.ts';

const MAX_REQUEST_BYTES = 4 * 1024 * 1024;
/** `{ params: { arguments: { … } } }` around what the caller nests. */
const ENVELOPE_DEPTH = 3;

export type RequestBody = { json: unknown } | { refused: Response };

/** Reads the body of a JSON-RPC request. */
export async function readBody(request: Request): Promise<RequestBody> {
  const text = await readText(request);
  if (text === undefined) {
    return refuse(413, -32600, `the request is larger than ${MAX_REQUEST_BYTES} bytes (4 MiB)`);
  }
  const depth = depthOf(text);
  if (depth > MAX_JSON_DEPTH + ENVELOPE_DEPTH) {
    return refuse(
      400,
      -32600,
      `the request's JSON is nested ${depth} levels deep; arguments may nest ${MAX_JSON_DEPTH} levels`,
    );
  }
  try {
    return { json: JSON.parse(text) };
  } catch {
    return refuse(400, -32700, 'the request body is not JSON');
  }
}

/** undefined: larger than allowed. What is declared larger is not read at all. */
async function readText(request: Request): Promise<string | undefined> {
  if (Number(request.headers.get('content-length')) > MAX_REQUEST_BYTES) return undefined;
  if (request.body === null) return '';
  const decoder = new TextDecoder();
  let bytes = 0;
  let text = '';
  for await (const chunk of request.body) {
    bytes += chunk.byteLength;
    if (bytes > MAX_REQUEST_BYTES) return undefined;
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

/** Levels of arrays and objects in a JSON text; brackets in strings do not count. One pass, no recursion. */
export function depthOf(text: string): number {
  let depth = 0;
  let deepest = 0;
  let quoted = false;
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (quoted) {
      if (c === 0x5c) i++;
      else if (c === 0x22) quoted = false;
    } else if (c === 0x22) quoted = true;
    else if (c === 0x7b || c === 0x5b) {
      depth++;
      if (depth > deepest) deepest = depth;
    } else if (c === 0x7d || c === 0x5d) depth--;
  }
  return deepest;
}

function refuse(status: number, code: number, message: string): RequestBody {
  return { refused: Response.json({ jsonrpc: '2.0', id: null, error: { code, message } }, { status }) };
}
