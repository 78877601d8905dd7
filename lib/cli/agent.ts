/** An agent without a model: an MCP client of the endpoint that calls its tools and follows a run. */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { Json, JsonObject } from '../blueprint/json.ts';

export interface AgentAnswer {
  isError: boolean;
  /** The tool's structured answer, or the error's. */
  answer: JsonObject;
}

export interface Agent {
  call(
    tool: string,
    args: JsonObject,
    onProgress?: (done: number, total: number, message: string) => void,
  ): Promise<AgentAnswer>;
  /** Polls a run to its end. Resolves with get_run's answer, and the output where the run succeeded. */
  follow(
    runId: string,
    onProgress: (done: number, total: number, message: string) => void,
  ): Promise<JsonObject>;
  close(): Promise<void>;
}

const REQUEST_TIMEOUT_MS = 120_000;
const POLL_MS = 250;

/** Connects to an endpoint, in the newest protocol revision that it speaks. `headers` go with every request. */
export async function connectAgent(url: string, headers?: Record<string, string>): Promise<Agent> {
  const client = new Client({ name: 'mwe', version: '0.1.0' }, { versionNegotiation: { mode: 'auto' } });
  await client.connect(
    new StreamableHTTPClientTransport(
      new URL(url),
      headers === undefined ? {} : { requestInit: { headers } },
    ),
  );

  const call: Agent['call'] = async (tool, args, onProgress) => {
    const result = await client.callTool(
      { name: tool, arguments: args },
      {
        timeout: REQUEST_TIMEOUT_MS,
        ...(onProgress === undefined
          ? {}
          : { onprogress: (p) => onProgress(p.progress, p.total ?? 0, p.message ?? '') }),
      },
    );
    const [block] = result.content;
    const text = block?.type === 'text' ? block.text : '{}';
    const answer = (result.structuredContent ?? JSON.parse(text)) as JsonObject;
    return { isError: result.isError === true, answer };
  };

  return {
    call,
    async follow(runId, onProgress) {
      for (;;) {
        const { answer } = await call('get_run', { runId });
        const progress = answer.progress as { done: number; total: number; message: string } | undefined;
        if (progress !== undefined) onProgress(progress.done, progress.total, progress.message);
        if (answer.status === 'SUCCEEDED') return { ...answer, output: await outputOf(client, runId) };
        if (answer.status !== 'RUNNING') return answer;
        await new Promise((resolve) => setTimeout(resolve, POLL_MS));
      }
    },
    close: () => client.close(),
  };
}

/** The whole of it, however large. */
async function outputOf(client: Client, runId: string): Promise<Json> {
  const { contents } = await client.readResource({ uri: `run://${runId}/output` });
  const [content] = contents;
  if (content === undefined || !('text' in content)) throw new Error(`run ${runId} has no readable output`);
  return JSON.parse(content.text) as Json;
}
