/**
 * The MCP server that agents talk to. One instance serves one request (the 2026-07-28 revision is stateless, and 2025
 * clients are served statelessly by the same handler), so building it must stay cheap.
 *
 * Every tool, prompt and resource goes through its scope; a fault of the request becomes an `isError` result (of a tool) or
 * a protocol error (of the others) with our own sentence, and a fault of ours a sentence without any detail, which goes to
 * the log instead.
 */
import {
  type CallToolResult,
  McpServer,
  type ServerContext,
  type StandardSchemaWithJSON,
} from '@modelcontextprotocol/server';
import { HOPS_META_KEY } from '../downstream/hops.ts';
import { shownDiagnostics } from '../engine/bounded.ts';
import type { EngineEnvironment } from '../engine/environment.ts';
import { EngineError } from '../engine/errors.ts';
import { heldUntil, withinHold } from '../engine/hold.ts';
import type { Principal } from '../store/records.ts';
import type { RequestOutcome } from '../telemetry/telemetry.ts';
import { parseArguments } from './arguments.ts';
import { auditRefusal } from './audit-refusal.ts';
import { internalFault } from './faults.ts';
import { listOnly } from './listed-tools.ts';
import { registerPrompts } from './prompts.ts';
import { registerResources } from './resources.ts';
import { authorize, scopeChallenge } from './scopes.ts';
import type { EndpointTool, ToolContext } from './tool.ts';
import { callTool } from './tools/call-tool.ts';
import { ENDPOINT_TOOLS } from './tools.ts';

export const SERVER_INFO = { name: 'mcp-workflow-engine', version: '0.1.0' };

const INSTRUCTIONS =
  'Reason once, save a blueprint with create_workflow, then run it any number of times with run_workflow. The prompt design_workflow teaches the language.';

/** What there is to list changes with a deployment alone: a client that listens for changes is told at once that none come. */
const UNCHANGING = { listChanged: false };
const CAPABILITIES = { tools: UNCHANGING, prompts: UNCHANGING, resources: UNCHANGING };

/** Builds the server for one request of one principal. */
export function createServer(env: EngineEnvironment, principal: Principal): McpServer {
  const server = new McpServer(SERVER_INFO, { instructions: INSTRUCTIONS, capabilities: CAPABILITIES });
  for (const tool of ENDPOINT_TOOLS) registerTool(server, tool, env, principal);
  if (env.config.callTool === 'off') {
    listOnly(
      server,
      ENDPOINT_TOOLS.filter((tool) => tool.name !== callTool.name),
    );
  }
  registerPrompts(server, env, principal);
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
      inputSchema: listedOnly(tool),
      outputSchema: tool.output,
      annotations: tool.annotations,
      scopeChallenge: async (asked) => {
        const challenge = await scopeChallenge(principal, 'tool', tool.name)(asked);
        // The SDK answers it by itself, and the tool is never called.
        if (challenge !== undefined) {
          auditRefusal(env, principal, tool.name, asked.request.params?.arguments, { code: 'Forbidden' });
        }
        return challenge;
      },
    },
    (given: unknown, context: ServerContext): Promise<CallToolResult> =>
      observed(env, tool.name, () => answerCall(tool, env, principal, given, context)),
  );
}

/** A tool's answer, and how it went for metrics. */
interface Answered {
  outcome: RequestOutcome;
  result: CallToolResult;
}

async function observed(
  env: EngineEnvironment,
  tool: string,
  answer: () => Promise<Answered>,
): Promise<CallToolResult> {
  const began = env.now();
  const { outcome, result } = await env.telemetry.span(
    tool,
    { tool },
    answer,
    (answered) => answered.outcome === 'failed',
  );
  env.telemetry.request(tool, outcome, env.now() - began);
  return result;
}

async function answerCall(
  tool: EndpointTool,
  env: EngineEnvironment,
  principal: Principal,
  given: unknown,
  context: ServerContext,
): Promise<Answered> {
  let begun = false;
  try {
    authorize(principal, 'tool', tool.name);
    const args = parseArguments(tool.name, tool.input, given);
    begun = true;
    const until = heldUntil(env);
    const work = tool.run(args, { ...toolContext(env, principal, context), heldUntil: until });
    const answer = await withinHold(env, until, adviceFor(tool), work);
    return { outcome: 'succeeded', result: success(tool, answer) };
  } catch (error) {
    const fault = error instanceof EngineError ? error : internalFault(env, tool.name, error);
    // What the engine was asked to do it tells of itself.
    if (!begun) auditRefusal(env, principal, tool.name, given, fault);
    const ours = fault.code === 'Internal' || fault.code === 'Unavailable';
    return { outcome: ours ? 'failed' : 'refused', result: failure(fault) };
  }
}

function adviceFor({ annotations }: EndpointTool): string {
  return annotations.readOnlyHint === true
    ? 'ask for less, or try again'
    : 'it may still take effect; look (list_runs, get_workflow) before it is repeated';
}

const listed = new WeakMap<EndpointTool, StandardSchemaWithJSON>();

/** The schema as it is listed. What comes is checked here (arguments.ts) and not by the SDK, whose sentences help nobody. */
function listedOnly(tool: EndpointTool): StandardSchemaWithJSON {
  let schema = listed.get(tool);
  if (schema === undefined) {
    const { jsonSchema } = tool.input['~standard'];
    schema = {
      '~standard': { version: 1, vendor: 'mwe', jsonSchema, validate: (value) => ({ value }) },
    };
    listed.set(tool, schema);
  }
  return schema;
}

function toolContext(env: EngineEnvironment, principal: Principal, context: ServerContext): ToolContext {
  const { signal, _meta: meta, notify } = context.mcpReq;
  const base = { env, principal, signal, hops: hopsOf(meta?.[HOPS_META_KEY]) };
  const token = meta?.progressToken;
  if (token === undefined) return base;
  return {
    ...base,
    progress: (done, total, message) =>
      notify({
        method: 'notifications/progress',
        params: { progressToken: token, progress: done, total, message },
        // Whoever does not listen any more is not told.
      }).catch(() => undefined),
  };
}

/** How many engines the request came through; what is no count counts as none. */
function hopsOf(value: unknown): number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : 0;
}

function success(tool: EndpointTool, answer: unknown): CallToolResult {
  const content: CallToolResult['content'] = [{ type: 'text', text: JSON.stringify(answer) }];
  for (const link of tool.links?.(answer) ?? []) content.push({ type: 'resource_link', ...link });
  return { content, structuredContent: answer as Record<string, unknown> };
}

function failure({ code, message, diagnostics, retryAfterSeconds }: EngineError): CallToolResult {
  const shown =
    diagnostics.length === 0
      ? {}
      : { ...shownDiagnostics(diagnostics, 'error'), ...shownDiagnostics(diagnostics, 'warning') };
  const retry = retryAfterSeconds === undefined ? {} : { retryAfterSeconds };
  const body = { code, message, ...retry, ...shown };
  return { isError: true, content: [{ type: 'text', text: JSON.stringify(body) }] };
}
