/**
 * Allow-lists of downstream tools: which ones a principal, and a run that works with its authority, may use. One rule for
 * saving, starting and every call.
 *
 * An entry is `server/tool` or `server/*`. Without a list every tool is allowed; an empty list allows none. Server and tool
 * are compared as they are: there is no pattern but the one `*`, and no entry that spans servers.
 */
import { SERVER_NAME, TOOL_NAME } from './limits.ts';
import type { ToolBinding } from './types.ts';

/** Absent: every tool. */
export type ToolAllowList = readonly string[] | undefined;

/** Entries of one list: it is stored with every run and looked through at every call. */
export const MAX_ALLOW_ENTRIES = 200;

/** Whether the list allows the tool. */
export function allowsTool(list: ToolAllowList, { server, tool }: ToolBinding): boolean {
  return list === undefined || list.includes(`${server}/${tool}`) || list.includes(`${server}/*`);
}

/** Those of the tools that the list does not allow, each once, as `server/tool`. */
export function refusedTools(list: ToolAllowList, tools: Iterable<ToolBinding>): string[] {
  const refused = new Set<string>();
  for (const each of tools) if (!allowsTool(list, each)) refused.add(`${each.server}/${each.tool}`);
  return [...refused];
}

/** Whether the list has an entry for the server, so that it is worth telling of. */
export function allowsServer(list: ToolAllowList, server: string): boolean {
  return list === undefined || list.some((entry) => entry.startsWith(`${server}/`));
}

/** What is wrong with an entry, in a sentence that names it; undefined where it is one. */
export function allowEntryFault(entry: string): string | undefined {
  const slash = entry.indexOf('/');
  const shown = JSON.stringify(entry.slice(0, 80));
  if (slash < 1) return `${shown}: an entry is "server/tool" or "server/*"`;
  if (!SERVER_NAME.test(entry.slice(0, slash)))
    return `${shown}: what stands before the slash is no server's name`;
  const tool = entry.slice(slash + 1);
  if (!TOOL_NAME.test(tool)) return `${shown}: what stands after the slash is no tool's name`;
  if (tool !== '*' && tool.includes('*'))
    return `${shown}: "*" stands for all tools of a server, not for a part of a name`;
  return undefined;
}
