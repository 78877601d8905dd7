/**
 * What the endpoint asks of call-tool outside any run. Only call-tool connects to downstream servers, so the catalog,
 * a trial call and a dry run are invocations of it.
 */
import type { ErrorKind, StepError } from '../blueprint/errors.ts';
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
  /** Engines that the request came through. */
  hops?: number;
  /** The run that records the call, opened before. */
  run: string;
  /** The caller's allow-list; absent: all tools. */
  allowed?: string[];
  /** Only a tool that a trusted server annotates as read-only is called. */
  readOnly?: boolean;
}

/**
 * A trial call's result: the value that a step would have of it without `parse`, and what the tool gave where that is not the
 * same. Both are samples where they are large; `bytes` is then the value's size.
 */
export interface TryAnswer {
  server: string;
  tool: string;
  isError: boolean;
  /** What `value` was read from: structured content, a text that is JSON, a text, or the content blocks as they are. */
  from?: 'structured' | 'json' | 'text' | 'blocks';
  value: Json;
  bytes?: number;
  /** The content blocks, where `value` was not read from them alone. */
  content?: Json;
  ms: number;
  error?: { kind: ErrorKind; message: string };
}

export interface DryRunRequest {
  op: 'dryRun';
  workflow: string;
  revision: number;
  hash: string;
  /** Checked, defaults filled in. */
  params: JsonObject;
  /** Engines that the request came through. */
  hops?: number;
  /** The caller's allow-list; absent: all tools. */
  allowed?: string[];
}

/**
 * What a run would do at one place. Calls and loops are listed, other containers only where they are skipped or failed.
 * Values and arguments are shown up to a few hundred bytes, larger ones as a sample.
 */
export interface DryRunStep {
  /** As in a run (`pods/00000/describe`); `pods/*` where the items are not known, `sub>step` in a sub-workflow. */
  at: string;
  /** `server/tool`. */
  tool?: string;
  workflow?: string;
  /** `walked`: a loop or a sub-workflow, whose own steps follow. */
  status: 'called' | 'not-called' | 'skipped' | 'failed' | 'walked';
  /** Why it was skipped, or not called although it is read-only. */
  reason?: string;
  /** What cannot be resolved stands as its template. */
  arguments?: Json;
  /** The expressions that read what a dry run does not have. */
  unresolved?: string[];
  /** Of a loop: how many items there are, and how many of them were walked. */
  count?: number;
  walked?: number;
  value?: Json;
  error?: { kind: ErrorKind; message: string };
}

export interface DryRunAnswer {
  steps: DryRunStep[];
  /** Steps that the list leaves out. */
  omitted?: number;
  /** Calls that were made. */
  calls: number;
  /** Absent where a failure ends the run before its output. */
  output?: Json;
  /** The output's expressions that could not be resolved. */
  unresolved?: string[];
  /** The failure that would end the run. */
  error?: StepError;
}

export type ExploreRequest = CatalogRequest | TryRequest | DryRunRequest;
