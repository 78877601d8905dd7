/**
 * A downstream server whose tools take a known time: `look` (read-only) and `write` (neither read-only nor idempotent)
 * wait `ms` milliseconds and answer. Streamable HTTP on a free port; prints its URL.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';

const input = z.object({ n: z.number(), ms: z.number() });
const output = z.object({ n: z.number() });

function build(): McpServer {
  const server = new McpServer({ name: 'waiting', version: '1.0.0' });
  for (const [name, readOnlyHint] of [
    ['look', true],
    ['write', false],
  ] as const) {
    server.registerTool(
      name,
      { inputSchema: input, outputSchema: output, annotations: { readOnlyHint, idempotentHint: false } },
      async ({ n, ms }) => {
        await sleep(ms);
        return { content: [{ type: 'text', text: String(n) }], structuredContent: { n } };
      },
    );
  }
  return server;
}

const serve = toNodeHandler(createMcpHandler(build));
const http = createServer((request, response) => void serve(request, response));
http.listen(0, '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`);
});
process.on('SIGTERM', () => process.exit(0));
