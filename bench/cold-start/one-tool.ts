/** A handler of the MCP SDK behind a function URL, with one tool and nothing of ours. */
import type { Writable } from 'node:stream';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import type { LambdaFunctionURLEvent } from 'aws-lambda';
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

export async function answer(event: LambdaFunctionURLEvent, stream: Writable): Promise<void> {
  const { rawPath, headers, body, requestContext } = event;
  const request = new Request(`https://${requestContext.domainName}${rawPath}`, {
    method: 'POST',
    headers: headers as Record<string, string>,
    body: body ?? '',
  });
  const response = await endpoint.fetch(request);
  const out = awslambda.HttpResponseStream.from(stream, {
    statusCode: response.status,
    headers: Object.fromEntries(response.headers),
  });
  out.write(await response.text());
  out.end();
}
