/**
 * What the endpoint asks of call-tool outside any run. Only call-tool connects to downstream servers, so the catalog,
 * a trial call and a dry run are invocations of it.
 */
import type { Json, JsonObject } from '../blueprint/json.ts';
import type { ToolInfo } from '../downstream/tool-info.ts';

export interface CatalogRequest {
  op: 'catalog';
  /** Ask the servers again instead of answering what is known. */
  refresh?: boolean;
}

export interface CatalogAnswer {
  tools: ToolInfo[];
  servers: string[];
  /** Servers whose annotations are believed (`trustAnnotations`). */
  trusted: string[];
  /** Servers that could not be reached, and why. */
  unavailable: { server: string; error: string }[];
}

export interface TryRequest {
  op: 'try';
  /** "name" or "server/name". */
  tool: string;
  params: JsonObject;
  timeoutMs?: number;
}

/** A trial call's result as the tool gave it, and the value a step would have of it without `parse`. */
export interface TryAnswer {
  server: string;
  tool: string;
  isError: boolean;
  content: Json;
  /** The tool gave structured content; `value` is it. */
  structured?: true;
  value: Json;
  ms: number;
  error?: { kind: string; message: string };
}

export interface DryRunRequest {
  op: 'dryRun';
  workflow: string;
  hash: string;
  params: JsonObject;
}

export interface DryRunStep {
  at: string;
  step: string;
  tool?: string;
  status: 'called' | 'not-called' | 'skipped' | 'failed';
  /** Resolved arguments, where every template could be resolved. */
  arguments?: Json;
  /** Expressions that read what a dry run does not have. */
  unresolved?: string[];
  value?: Json;
  error?: { kind: string; message: string };
}

export interface DryRunAnswer {
  steps: DryRunStep[];
  output?: Json;
}

export type ExploreRequest = CatalogRequest | TryRequest | DryRunRequest;
