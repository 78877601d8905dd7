/** The shape of one tool of the endpoint: a file a tool, all of them in one table (tools.ts), its scope in another (scopes.ts). */
import type { ToolAnnotations } from '@modelcontextprotocol/server';
import type { z } from 'zod';
import type { EngineEnvironment } from '../engine/environment.ts';
import type { Principal } from '../store/records.ts';

export interface ToolContext {
  env: EngineEnvironment;
  principal: Principal;
  /** Aborted when the caller goes away. */
  signal: AbortSignal;
  /** Engines that the request came through (`_meta`); 0 from an agent. */
  hops: number;
  /** Epoch ms by which the request is to be answered; absent: as long as it takes. */
  heldUntil?: number | undefined;
  /** Present when the caller asked for progress notifications. */
  progress?: (done: number, total: number, message: string) => Promise<void>;
}

export interface EndpointTool<Input extends z.ZodObject = z.ZodObject, Output extends z.ZodType = z.ZodType> {
  name: string;
  /** Short: the whole tools/list stays under 2,500 tokens. */
  description: string;
  /** What differs from the protocol's defaults, and always readOnlyHint: agents pay for each. */
  annotations: ToolAnnotations;
  input: Input;
  output: Output;
  /** Resources that hold what the answer leaves out. */
  links?(answer: z.output<Output>): { uri: string; name: string }[];
  run(args: z.output<Input>, context: ToolContext): Promise<z.output<Output>>;
}

/** Keeps a tool's own types while it is defined. */
export function defineTool<Input extends z.ZodObject, Output extends z.ZodType>(
  tool: EndpointTool<Input, Output>,
): EndpointTool<Input, Output> {
  return tool;
}
