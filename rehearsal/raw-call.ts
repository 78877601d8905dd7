/** One tools/call by plain HTTP, without a client that would act on a refusal by itself. */
import { isJsonObject, type JsonObject } from '../lib/blueprint/json.ts';

export interface RawAnswer {
  status: number;
  headers: Headers;
  /** The scope that the refusal asks for; undefined: it was not refused for a scope. */
  refusedFor: string | undefined;
  body: string;
}

export async function callTool(
  mcp: string,
  headers: Readonly<Record<string, string>>,
  name: string,
  args: JsonObject,
): Promise<RawAnswer> {
  const response = await fetch(mcp, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2025-06-18',
      ...headers,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } }),
  });
  const body = await response.text();
  return { status: response.status, headers: response.headers, refusedFor: scopeIn(response, body), body };
}

/** From an HTTP challenge (OAuth), or from the answer of the tool. */
function scopeIn(response: Response, body: string): string | undefined {
  const challenge = response.headers.get('x-amzn-remapped-www-authenticate') ?? '';
  if (response.status === 403 && challenge.includes('insufficient_scope')) {
    return /scope="([^"]+)"/.exec(challenge)?.[1];
  }
  return /this needs the scope \\*"([a-z:]+)\\*"/.exec(messageOf(body))?.[1];
}

/** The JSON-RPC message, as JSON or as the one event of a stream. */
function messageOf(body: string): string {
  const text = body.startsWith('{') ? body : (/^data: (.+)$/m.exec(body)?.[1] ?? '');
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? JSON.stringify(value) : '';
  } catch {
    return '';
  }
}
