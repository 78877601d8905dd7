/** (d) What an agent pays in tokens, by the tokenizer of a current model family. */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { encode } from 'gpt-tokenizer';
import { DESIGN_WORKFLOW } from '../lib/mcp/prompts.ts';
import { PUBLISHED, startRunningEngine } from '../test/running-engine.ts';
import type { Figure } from './measure.ts';

export async function benchTokens(): Promise<Figure[]> {
  const engine = await startRunningEngine({ everything: PUBLISHED.everything });
  const client = new Client({ name: 'bench', version: '1' }, { versionNegotiation: { mode: 'auto' } });
  try {
    await client.connect(new StreamableHTTPClientTransport(new URL(engine.mcp)));
    const { tools } = await client.listTools();
    const steps = [
      { id: 'say', type: 'call', tool: 'echo', params: { message: '{{ params.m }}' }, parse: 'text' },
    ];
    const blueprint = { id: 'one', params: { m: { type: 'string' } }, steps };
    await engine.agent.call('create_workflow', { blueprint });
    const args = { id: 'one', params: { m: 'hello' } };
    const { answer } = await engine.agent.call('run_workflow', args);
    const exchange = JSON.stringify({ name: 'run_workflow', arguments: args }) + JSON.stringify(answer);
    return [
      { name: 'tools/list', value: encode(JSON.stringify(tools)).length, unit: 'tokens', aim: '2,500' },
      { name: 'one run_workflow exchange', value: encode(exchange).length, unit: 'tokens', aim: '150' },
      { name: 'prompt design_workflow', value: encode(DESIGN_WORKFLOW).length, unit: 'tokens' },
    ];
  } finally {
    await client.close();
    await engine.end();
  }
}
