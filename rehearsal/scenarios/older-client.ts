/** The MCP SDK of before: a client of the 2025 revisions talks to the same endpoint. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { check, type Scenario } from '../stage.ts';

export const olderClient: Scenario = {
  name: 'a client of the 2025 protocol looks around',
  async run(stage) {
    const client = new Client({ name: 'older', version: '1.0.0' });
    const transport = new StreamableHTTPClientTransport(new URL(stage.mcp), {
      requestInit: { headers: stage.admin },
    });
    await client.connect(transport);
    try {
      const { tools } = await client.listTools();
      check(
        tools.length === 12,
        'the endpoint should have its twelve tools',
        tools.map((tool) => tool.name),
      );
      const listed = await client.callTool({ name: 'list_workflows', arguments: {} });
      check(listed.isError !== true, 'list_workflows should answer', listed);
      const prompt = await client.getPrompt({ name: 'design_workflow', arguments: {} });
      check(prompt.messages.length > 0, 'the prompt should have messages');
      const { resources } = await client.listResources();
      check(resources.length > 0, 'the endpoint should have resources');
    } finally {
      await client.close();
    }
  },
};
