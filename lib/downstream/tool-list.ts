/**
 * Bounds of a server's list of tools. The SDK walks its pages and keeps them all, as many and as large as the server
 * likes; here every page is looked at when it comes, and a list that is too much fails as a whole.
 */
import type { Client } from '@modelcontextprotocol/client';
import { isDeeperThan, MAX_VALUE_DEPTH } from './depth.ts';

export const MAX_PAGES = 1000;
/** All pages together. */
export const MAX_TOOLS = 10_000;
const MAX_LIST_BYTES = 16 * 1024 * 1024;

interface Message {
  method: string;
  params?: { cursor?: unknown };
}

/** Makes `listTools` of a client reject where its server's list is too long, too large or too deep. */
export function boundLists(client: Client): void {
  const request = client.request.bind(client) as (message: Message, ...rest: unknown[]) => Promise<unknown>;
  let tools = 0;
  let bytes = 0;
  const bounded = async (message: Message, ...rest: unknown[]): Promise<unknown> => {
    const answer = await request(message, ...rest);
    if (message.method !== 'tools/list') return answer;
    if (message.params?.cursor === undefined) {
      tools = 0;
      bytes = 0;
    }
    const page = (answer as { tools: readonly unknown[] }).tools;
    if (isDeeperThan(page, MAX_VALUE_DEPTH))
      throw new Error(`its list of tools is nested deeper than ${MAX_VALUE_DEPTH} levels`);
    tools += page.length;
    bytes += JSON.stringify(page).length;
    if (tools > MAX_TOOLS || bytes > MAX_LIST_BYTES)
      throw new Error(`its list of tools is too long: over ${MAX_TOOLS} tools or 16 MiB`);
    return answer;
  };
  Object.assign(client, { request: bounded });
}
