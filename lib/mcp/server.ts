/**
 * The MCP server that agents talk to. One instance serves one request (the 2026-07-28 revision is stateless, and 2025
 * clients are served statelessly by the same handler), so building it must stay cheap.
 *
 * Every tool, prompt and resource goes through its scope here; a fault of the request becomes an `isError` result with
 * our own sentence, and a fault of ours a sentence without any detail, which goes to the log instead.
 */
import { type CallToolResult, McpServer, type ServerContext } from '@modelcontextprotocol/server';
import type { EngineEnvironment } from '../engine/environment.ts';
import { EngineError } from '../engine/errors.ts';
import { requireScope } from '../engine/principals.ts';
import type { Principal } from '../store/records.ts';
import { registerPrompts } from './prompts.ts';
import { registerResources } from './resources.ts';
import type { EndpointTool, ToolContext } from './tool.ts';
import { ENDPOINT_TOOLS } from './tools.ts';

export const SERVER_INFO = { name: 'mcp-workflow-engine', version: '0.1.0' };

const INSTRUCTIONS =
  'Reason once, save a blueprint with create_workflow, then run it any number of times with run_workflow. The prompt design_workflow teaches the language.';

/** Builds the server for one request of one principal. */
export function createServer(env: EngineEnvironment, principal: Principal): McpServer {
  const server = new McpServer(SERVER_INFO, { instructions: INSTRUCTIONS });
  for (const tool of ENDPOINT_TOOLS) registerTool(server, tool, env, principal);
  registerPrompts(server, principal);
  registerResources(server, env, principal);
  return server;
}

function registerTool(
  server: McpServer,
  tool: EndpointTool,
  env: EngineEnvironment,
  principal: Principal,
): void {
  server.registerTool(
    tool.name,
    {
      description: tool.description,
      inputSchema: tool.input,
      outputSchema: tool.output,
      annotations: tool.annotations,
    },
    async (args: unknown, context: ServerContext): Promise<CallToolResult> => {
      try {
        requireScope(principal, tool.scope);
        const answer = await tool.run(args, toolContext(env, principal, context));
        return success(tool, answer);
      } catch (error) {
        return failure(env, tool.name, error);
      }
    },
  );
}

function toolContext(env: EngineEnvironment, principal: Principal, context: ServerContext): ToolContext {
  const { signal, _meta: meta, notify } = context.mcpReq;
  const token = meta?.progressToken;
  if (token === undefined) return { env, principal, signal };
  return {
    env,
    principal,
    signal,
    progress: (done, total, message) =>
      notify({
        method: 'notifications/progress',
        params: { progressToken: token, progress: done, total, message },
      }),
  };
}

function success(tool: EndpointTool, answer: unknown): CallToolResult {
  const link = tool.link?.(answer);
  const content: CallToolResult['content'] = [{ type: 'text', text: JSON.stringify(answer) }];
  if (link !== undefined) content.push({ type: 'resource_link', ...link });
  return { content, structuredContent: answer as Record<string, unknown> };
}

function failure(env: EngineEnvironment, tool: string, error: unknown): CallToolResult {
  if (error instanceof EngineError) {
    const { code, message, diagnostics } = error;
    const errors = diagnostics.filter((d) => d.severity === 'error');
    const warnings = diagnostics.filter((d) => d.severity === 'warning');
    const body = diagnostics.length === 0 ? { code, message } : { code, message, errors, warnings };
    return { isError: true, content: [{ type: 'text', text: JSON.stringify(body) }] };
  }
  const name = error instanceof Error ? error.name : typeof error;
  env.log({ level: 'error', event: 'tool-failed', tool, error: name, message: describe(error) });
  const body = {
    code: 'Internal',
    message: `${tool} failed inside the engine (${name}); its log has the details`,
  };
  return { isError: true, content: [{ type: 'text', text: JSON.stringify(body) }] };
}

function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
