/** A downstream tool as the engine knows it, and whether a call of it may be repeated. */
import type { Tool } from '@modelcontextprotocol/client';
import type { JsonObject } from '../blueprint/json.ts';
import type { ServerConfig } from './config.ts';

export interface ToolAnnotations {
  readOnlyHint?: boolean;
  idempotentHint?: boolean;
  destructiveHint?: boolean;
  openWorldHint?: boolean;
}

export interface ToolInfo {
  server: string;
  name: string;
  title?: string;
  description?: string;
  inputSchema: JsonObject;
  outputSchema?: JsonObject;
  annotations: ToolAnnotations;
  /** Some argument is to be repeated as an HTTP header (`x-mcp-header` in the schema, revision 2026-07-28). */
  hasHeaders: boolean;
}

/** From a `tools/list` entry. Text of the server is handed on as it came: it is data of the tool, not ours. */
export function toolInfo(server: string, tool: Tool): ToolInfo {
  const hints = tool.annotations;
  const title = tool.title ?? hints?.title;
  return {
    server,
    name: tool.name,
    ...(title === undefined ? {} : { title }),
    ...(tool.description === undefined ? {} : { description: tool.description }),
    inputSchema: tool.inputSchema as JsonObject,
    ...(tool.outputSchema === undefined ? {} : { outputSchema: tool.outputSchema as JsonObject }),
    annotations: {
      ...(hints?.readOnlyHint === undefined ? {} : { readOnlyHint: hints.readOnlyHint }),
      ...(hints?.idempotentHint === undefined ? {} : { idempotentHint: hints.idempotentHint }),
      ...(hints?.destructiveHint === undefined ? {} : { destructiveHint: hints.destructiveHint }),
      ...(hints?.openWorldHint === undefined ? {} : { openWorldHint: hints.openWorldHint }),
    },
    hasHeaders: JSON.stringify(tool.inputSchema).includes('"x-mcp-header"'),
  };
}

/**
 * Whether a call whose outcome is unknown may be made again: its server's annotations are trusted and say so. A tool that
 * is not known may not.
 */
export function mayRepeat(config: ServerConfig, tool: ToolInfo | undefined): boolean {
  if (!config.trustAnnotations || tool === undefined) return false;
  return tool.annotations.readOnlyHint === true || tool.annotations.idempotentHint === true;
}

/** Whether the server's allow-list has the tool; without a list every tool is allowed. */
export function isAllowed(config: ServerConfig, tool: string): boolean {
  return config.tools === undefined || config.tools.includes(tool);
}
