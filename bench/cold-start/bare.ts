/** What a function of the MCP SDK costs by itself: a handler behind a function URL with one tool, and nothing of ours. */
import type { Writable } from 'node:stream';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import type {} from 'aws-lambda';
import { z } from 'zod';

const endpoint = createMcpHandler(() => {
  const server = new McpServer({ name: 'bare', version: '1.0.0' });
  server.registerTool(
    'say',
    { description: 'Says it.', inputSchema: z.object({ text: z.string() }) },
    ({ text }) => ({ content: [{ type: 'text', text }] }),
  );
  return server;
});

export const handler = awslambda.streamifyResponse(async (event, stream: Writable) => {
  const { rawPath, headers, body, requestContext } = event;
  const request = new Request(`https://${requestContext.domainName}${rawPath}`, {
    method: 'POST',
    headers,
    body,
  });
  const response = await endpoint.fetch(request);
  const out = awslambda.HttpResponseStream.from(stream, {
    statusCode: response.status,
    headers: Object.fromEntries(response.headers),
  });
  out.write(await response.text());
  out.end();
});
