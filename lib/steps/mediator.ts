/**
 * The downstream connections as the steps see them: a tool that is looked up once a task, a call whose `isError` is an
 * answer, binary content moved to S3.
 *
 * The pool is asked for the raw outcome (`ToolTimeout`, `TransportError`) whatever the tool's hints are, because whether an
 * unknown outcome may be repeated is the step's decision and not the connection's.
 */
import type { Json } from '../blueprint/json.ts';
import { storeBlobs } from '../downstream/blobs.ts';
import { callTool, ToolFailure, type ToolResult } from '../downstream/call.ts';
import { resolveTool } from '../downstream/catalog.ts';
import type { Pool } from '../downstream/pool.ts';
import { mayRepeat } from '../downstream/tool-info.ts';
import { type ContentBlock, resultValue } from '../downstream/value.ts';
import type { Store } from '../store/store.ts';
import { putBlob } from '../store/values.ts';
import type { Downstream, ResolvedTool, ToolAnswer, ToolRequest } from './environment.ts';

export function createDownstream(pool: Pool, store: Store): Downstream {
  return {
    async resolveTool({ server, tool }): Promise<ResolvedTool> {
      const info = await resolveTool(pool, server === undefined ? tool : `${server}/${tool}`);
      const config = pool.servers.get(info.server)?.config;
      if (config === undefined) throw new Error(`a resolved tool has an unknown server ${info.server}`);
      const { required } = info.inputSchema;
      return {
        server: info.server,
        tool: info.name,
        required: Array.isArray(required) ? required.filter((name) => typeof name === 'string') : [],
        repeatable: mayRepeat(config, info),
        timeoutMs: config.timeoutMs,
      };
    },
    async callTool(tool: ResolvedTool, request: ToolRequest): Promise<ToolAnswer> {
      const result = await answerOf(pool, tool, request);
      return storeBlobs(result, async (bytes, mimeType): Promise<Json> => {
        const key = await putBlob(store, request.run, bytes, mimeType);
        return { key, mimeType, bytes: bytes.byteLength };
      });
    },
    endRun: (run) => pool.releaseRun(run),
    valueOf(answer, parse) {
      const { content, structured } = answer;
      const blocks = content as ContentBlock[];
      return resultValue(
        structured === undefined ? { content: blocks } : { content: blocks, structured },
        parse,
      );
    },
  };
}

async function answerOf(pool: Pool, tool: ResolvedTool, request: ToolRequest): Promise<ToolResult> {
  try {
    return await callTool(pool, {
      server: tool.server,
      tool: tool.tool,
      arguments: request.args,
      timeoutMs: request.timeoutMs,
      signal: request.signal,
      run: request.run,
      hops: request.hops ?? 0,
      retryUnknown: true,
    });
  } catch (error) {
    if (error instanceof ToolFailure && error.kind === 'ToolError') return error.result;
    throw error;
  }
}
