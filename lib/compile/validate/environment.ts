/** What a blueprint may be validated against beside the language: everything is optional, and fetched before. */
import type { JsonObject } from '../../blueprint/json.ts';
import type { Blueprint, ToolBinding } from '../../blueprint/types.ts';

/** A tool as its server lists it. */
export interface ToolInfo {
  server: string;
  name: string;
  inputSchema: JsonObject;
  outputSchema?: JsonObject;
  /** As a server whose annotations are trusted says. */
  readOnly?: boolean;
}

interface SavedWorkflow {
  blueprint: Blueprint;
  /** What its steps, and those of all that it pins, are bound to; looked at where there is an allow-list. */
  tools?: readonly ToolBinding[];
}

export interface ValidationEnvironment {
  /** Every tool of every connected server. Absent: nothing is said about tools. */
  tools?: readonly ToolInfo[];
  /** The configured servers; default: those of `tools`. */
  serverNames?: readonly string[];
  /** Configured servers that could not be reached, so that nothing is known of their tools. */
  unavailable?: readonly { server: string }[];
  /** The current revision of a saved workflow. Absent: nothing is said about sub-workflows but of the blueprint itself. */
  workflows?(id: string): SavedWorkflow | undefined;
  /** The author's allow-list of tools, `server/tool` or `server/*`. Absent: all. */
  allowed?: readonly string[];
  /** Whether the deployment owns it: then it may have schedules. Default: no. */
  stackOwned?: boolean;
}
