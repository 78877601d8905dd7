/**
 * `tools/list` where a tool is switched off: it is not listed, and still answers a call with a sentence that says who can switch
 * it on. The SDK can only do both or neither, so the list is made here, as the SDK makes it.
 */
import type { McpServer, Tool } from '@modelcontextprotocol/server';
import type { EndpointTool } from './tool.ts';

const TARGET = 'draft-2020-12';

/** Lists these tools alone, whatever others are registered. */
export function listOnly(server: McpServer, tools: readonly EndpointTool[]): void {
  server.server.setRequestHandler('tools/list', () => ({ tools: tools.map(listed) }));
}

const made = new WeakMap<EndpointTool, Tool>();

function listed(tool: EndpointTool): Tool {
  let entry = made.get(tool);
  if (entry === undefined) {
    const { name, description, annotations, input, output } = tool;
    entry = {
      name,
      description,
      inputSchema: { type: 'object', ...input['~standard'].jsonSchema.input({ target: TARGET }) },
      outputSchema: { type: 'object', ...output['~standard'].jsonSchema.output({ target: TARGET }) },
      annotations,
    };
    made.set(tool, entry);
  }
  return entry;
}
